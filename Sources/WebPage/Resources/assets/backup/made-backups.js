// The backups that the library has made: when each was proven, how large it is, where it lies and whether it is there; and
// the way to remove the oldest.

import { ask } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { Refusal, showDialog } from '../core/dialog.js';
import { bytes, moment, relative, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';

/** What is shown before somebody asks for all. */
const shownFirst = 8;

const fileName = (path) => path.slice(path.lastIndexOf('/') + 1);
/** Of a snapshot the backup folder that it is in. */
const folderOf = (path) => path.replace(/(\/snapshots\/SmilePileSnapshot_[^/]*|\/[^/]*)$/, '') || '/';

/** What has become of one, and whether that needs somebody. */
function state({ presence, verifiedAt, isWhole }) {
  if (presence !== 'there') return { name: `backup.is.${presence}`, isFine: presence === 'outOfReach' };
  if (!verifiedAt) return { name: 'backup.is.damaged', isFine: false };
  return { name: isWhole ? 'backup.is.verified' : 'backup.is.part', isFine: true };
}

class MadeBackups extends Component {
  #backups = [];
  #schedule;
  #showsAll = false;
  #list = element('ul', { class: 'made-backups' });
  #none = element('p', { class: 'quiet' }, t('backup.noneMade'));
  #prune = textButton(t('backup.prune'), () => this.#chooseWhatStays(), { icon: 'trash' });
  #all = textButton('', () => this.#showAll());

  connectedCallback() {
    this.classList.add('card', 'stack');
    this.append(element('h2', {}, t('backup.madeTitle')), this.#none, this.#list, element('div', { class: 'buttons' }, this.#all, this.#prune));
    this.#draw();
  }

  /** The reply of `backup.list`. */
  set known({ backups, schedule }) {
    this.#backups = backups;
    this.#schedule = schedule;
    if (this.isConnected) this.#draw();
  }

  #showAll() {
    this.#showsAll = true;
    this.#draw();
    this.#list.children[shownFirst]?.querySelector('button')?.focus();
  }

  #draw() {
    const shown = this.#showsAll ? this.#backups : this.#backups.slice(0, shownFirst);
    // By what is shown of each: a button that has the focus stays, while others come and go around it.
    const lines = new Map([...this.#list.children].map((line) => [line.dataset.shows, line]));
    this.#list.replaceChildren(...shown.map((backup) => lines.get(JSON.stringify(backup)) ?? this.#line(backup)));
    this.#none.hidden = this.#backups.length > 0;
    this.#all.hidden = shown.length === this.#backups.length;
    this.#all.textContent = t('backup.showAll', { count: this.#backups.length });
    this.#prune.hidden = this.#folders.length === 0;
  }

  #line(backup) {
    const { path, madeAt, verifiedAt, photos, bytes: size, damaged, presence } = backup;
    const { name, isFine } = state(backup);
    const what = [t('timeline.count', { count: photos }), bytes(size), presence === 'there' && verifiedAt && t('backup.verifiedAt', { time: relative(verifiedAt) })];
    return element(
      'li', { data: { shows: JSON.stringify(backup) } },
      element(
        'div', {},
        element('h3', {}, moment(madeAt), ' ', element('span', { class: isFine ? 'badge' : 'badge attention' }, t(name))),
        element('p', { class: 'small quiet' }, what.filter(Boolean).join(' · ')),
        damaged > 0 && element('p', { class: 'small fault' }, t('job.backupDamaged', { count: damaged })),
        element('p', { class: 'small quiet path' }, path)),
      presence === 'there' && element(
        'div', { class: 'buttons' },
        textButton(t('backup.verifyAgain'), () => attempt(() => ask('backup.verify', { path })), { 'aria-label': t('backup.verifyOne', { name: fileName(path) }) }),
        textButton(t('backup.use'), () => this.dispatchEvent(new CustomEvent('use', { detail: path })), { 'aria-label': t('backup.useOne', { name: fileName(path) }) })));
  }

  /** Where backups are that could go, that of the schedule first. */
  get #folders() {
    const there = this.#backups.filter(({ presence, isWhole }) => presence === 'there' && isWhole).map(({ path }) => folderOf(path));
    const folders = new Set(there);
    return this.#schedule && folders.has(this.#schedule.folder) ? [...new Set([this.#schedule.folder, ...there])] : [...folders];
  }

  /** First how many stay; then, before anything goes, the names of what would go. */
  async #chooseWhatStays() {
    const folders = this.#folders;
    const found = await showDialog({
      title: t('backup.prune'), action: t('backup.look'),
      body: [
        element('p', { class: 'quiet' }, t('backup.pruneHelp')),
        element('label', {}, t('backup.scheduleFolder'), element('select', { name: 'folder' }, folders.map((folder) => element('option', { value: folder }, folder)))),
        element('label', {}, t('backup.keepHowMany'), element('input', {
          name: 'keep', type: 'number', min: '1', max: '1000', required: true, value: String(this.#schedule?.keep ?? 4) }))],
      act: async (form) => {
        const { folder, keep } = Object.fromEntries(new FormData(form));
        if (!/^\d+$/.test(keep)) throw new Refusal(t('backup.keepWrong'));
        const wanted = { folder, keep: Number(keep) };
        return { wanted, plan: await ask('backup.prune', { ...wanted, dryRun: true }) };
      },
    });
    if (found) await this.#confirm(found);
  }

  #confirm({ wanted, plan: { removed, kept } }) {
    if (removed.length === 0) {
      return showDialog({ title: t('backup.prune'), body: [element('p', {}, t('backup.nothingGoes', { count: kept }))] });
    }
    const total = removed.reduce((sum, { bytes: size }) => sum + size, 0);
    return showDialog({
      title: t('backup.pruneTitle', { count: removed.length }), action: t('backup.pruneNow'), danger: true,
      body: [
        element('p', {}, t('backup.pruneWhat', { size: bytes(total), count: kept })),
        element('ul', { class: 'going' }, removed.map(({ path, madeAt, bytes: size }) => element(
          'li', {}, element('span', { class: 'path' }, fileName(path)), element('span', { class: 'small quiet' }, `${moment(madeAt)} · ${bytes(size)}`))))],
      act: async () => {
        const { removed: gone } = await ask('backup.prune', wanted);
        toast(t('backup.pruned', { count: gone.length }));
      },
    });
  }
}

customElements.define('made-backups', MadeBackups);
