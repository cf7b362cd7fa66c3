// Backups by themselves: where they go and how often, when the next one is due and why it is late, on and off.

import { ask } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { Refusal, confirmed, showDialog } from '../core/dialog.js';
import { days, moment, relative, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { folderChoice } from './backup-places.js';

/** Hours between two backups that are offered; what was set elsewhere is offered too. */
const offered = [12, 24, 48, 168, 336, 720];
const standard = { everyHours: 168, keep: 4 };

/** How often, as people say it: `7 days`, `12 hours`. */
const span = (hours) => (hours % 24 === 0 ? days(hours / 24) : t('backup.hours', { count: hours }));

class BackupSchedule extends Component {
  #schedule;
  #facts = element('dl', { class: 'legend' });
  #late = element('p', { class: 'attention', role: 'status' });
  #help = element('p', { class: 'quiet' }, t('backup.scheduleNone'));
  #change = textButton('', () => attempt(() => this.#edit()));
  #off = textButton(t('backup.scheduleOff'), () => this.#end());

  connectedCallback() {
    this.classList.add('card', 'stack');
    this.append(
      element('h2', {}, t('backup.scheduleTitle')), this.#help, this.#facts,
      // What comes and goes stands below what is pressed.
      element('div', { class: 'buttons' }, this.#change, this.#off), this.#late);
    this.#draw();
  }

  /** What `backup.list` says of it; nothing where none are made. */
  set schedule(schedule) {
    this.#schedule = schedule;
    if (this.isConnected) this.#draw();
  }

  #draw() {
    const schedule = this.#schedule;
    this.#help.hidden = Boolean(schedule);
    this.#facts.hidden = this.#off.hidden = !schedule;
    this.#change.textContent = t(schedule ? 'backup.scheduleChange' : 'backup.scheduleBegin');
    this.#late.hidden = !schedule?.problem;
    if (!schedule) return;
    const { folder, everyHours, keep, hasPassphrase, nextAt, problem } = schedule;
    const isLate = new Date(nextAt) <= Date.now();
    const rows = [
      [t('backup.scheduleFolder'), element('span', { class: 'path' }, folder)],
      [t('backup.every'), span(everyHours)],
      [t('backup.keep'), t('backup.kept', { count: keep })],
      hasPassphrase && [t('sealed.title'), t('backup.underPassphrase')],
      [t('backup.next'), !isLate ? `${moment(nextAt)} (${relative(nextAt)})` : problem ? t('backup.due', { time: moment(nextAt) }) : t('backup.dueNow')]];
    this.#facts.replaceChildren(...rows.filter(Boolean).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
    this.#late.textContent = problem ? t('backup.late', { why: problem }) : '';
  }

  async #edit() {
    // Asked now: a stick may just have been plugged in.
    const places = await ask('backup.places');
    const { folder = '', everyHours, keep, hasPassphrase } = { ...standard, ...this.#schedule };
    const choices = [...new Set([...offered, everyHours])].sort((one, other) => one - other);
    const passphrase = (name, label) => element('label', {}, label, element('input', { type: 'password', name, autocomplete: 'new-password', maxlength: '1000' }));
    return showDialog({
      title: t('backup.scheduleTitle'), action: t('action.save'),
      body: [
        element('label', {}, t('backup.scheduleWhere'), folderChoice(places, 'folder', folder)),
        element('p', { class: 'small quiet' }, t('backup.placesHelp')),
        element('label', {}, t('backup.every'), element('select', { name: 'everyHours' }, choices.map((hours) => (
          element('option', { value: String(hours), selected: hours === everyHours }, span(hours)))))),
        element('label', {}, t('backup.keepHowMany'), element('input', { name: 'keep', type: 'number', min: '1', max: '1000', required: true, value: String(keep) })),
        element(
          'details', { open: hasPassphrase }, element('summary', {}, t('backup.passphrase')),
          element(
            'div', { class: 'stack' }, element('p', { class: 'quiet' }, t(hasPassphrase ? 'backup.passphraseAgain' : 'backup.passphraseHelp')),
            passphrase('passphrase', t('backup.passphraseNew')), passphrase('again', t('backup.passphraseTwice'))))],
      act: (form) => this.#begin(Object.fromEntries(new FormData(form))),
    });
  }

  async #begin({ folder, everyHours, keep, passphrase, again }) {
    if (!folder) throw new Refusal(t('backup.folderMissing'));
    if (!/^\d+$/.test(keep)) throw new Refusal(t('backup.keepWrong'));
    if (passphrase !== again) throw new Refusal(t('backup.passphrasesDiffer'));
    const key = passphrase ? await ask('backup.makeKey', { passphrase }) : undefined;
    const { schedule } = await ask('backup.schedule', {
      folder, everyHours: Number(everyHours), keep: Number(keep), ...(key && { key }),
    });
    toast(t('backup.scheduled', { folder: schedule.folder }));
  }

  #end() {
    return confirmed({
      title: t('backup.scheduleOff'), text: t('backup.scheduleOffHelp'), action: t('backup.scheduleOff'),
      act: async () => {
        await ask('backup.schedule', { off: true });
        toast(t('backup.scheduleEnded'));
      },
    });
  }
}

customElements.define('backup-schedule', BackupSchedule);
