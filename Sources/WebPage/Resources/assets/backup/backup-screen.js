// Backup: write one and see it proven, have them written by themselves, see those that there are, look into one, check one,
// and bring one back after a look at what that would do.

import { ask, newest } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { Refusal, describe, showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { session } from '../core/session.js';
import { bytes, moment, number, relative, t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import { showJobs } from '../library/job-card.js';
import { folderChoice } from './backup-places.js';
import './backup-schedule.js';
import './made-backups.js';

const methods = new Set(['backup.create', 'backup.verify', 'backup.restore', 'backup.undo']);

class BackupScreen extends Component {
  #last = element('p', { role: 'status' });
  #schedule = element('backup-schedule', { hidden: true });
  #made = element('made-backups', { hidden: true, onuse: ({ detail }) => this.#use(detail) });
  /** What runs and what was asked for here, where one sees it; below all, what was before. */
  #jobs = element('div', { class: 'stack' });
  #earlier = element('div', { class: 'stack' });
  #asked = new Set();
  /** Restores that were undone here. */
  #undone = new Set();
  #path = element('select', { name: 'path' });
  #categories = [];
  #known = [];
  /** What is chosen without anybody's doing. */
  #suggested = '';
  #read = newest(
    async () => [await ask('backup.list'), await ask('backup.places'), await ask('settings.get')],
    ([known, places, { lastBackupDate }]) => this.#tell(known, places, lastBackupDate),
    // What was shown stays; what is away comes back with an event.
    (error) => !error.retryable && this.#say(describe(error), true));
  /** What the trial runs of this page were of, by job. */
  #dryRuns = new Map();

  connectedCallback() {
    this.classList.add('screen');
    this.append(
      element('header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.backup'))), this.#jobs,
      element(
        'section', { class: 'card stack' }, element('h2', {}, t('backup.createTitle')), this.#last,
        element('p', { class: 'quiet' }, t('backup.createHelp')),
        element('div', { class: 'buttons' },
          textButton(t('backup.create'), () => attempt(() => this.#begin('backup.create')), { icon: 'backup', class: 'button primary' }),
          textButton(t('backup.createOther'), () => attempt(() => this.#create())))),
      this.#schedule, this.#made,
      element(
        'section', { class: 'card stack' }, element('h2', {}, t('backup.useTitle')),
        element('p', { class: 'quiet' }, t('backup.useHelp')),
        element('label', {}, t('backup.path'), this.#path),
        element(
          'div', { class: 'buttons' },
          textButton(t('backup.inspect'), () => attempt(() => this.#inspect())),
          textButton(t('backup.verify'), () => attempt(() => this.#verify())),
          textButton(t('backup.restore'), () => attempt(() => this.#restore())))),
      this.#earlier);
    this.#last.textContent = t('state.loading');
    // After each change, and when a page that nobody saw is looked at again: a stick does not tell that it has come.
    this.during(observe('event.subscribe', {}, ({ changed }) => {
      if (changed.length === 0 || changed.includes('backups') || changed.includes('settings')) this.#read();
    }, (error) => this.#say(describe(error), true)));
    this.during(observe('category.observe', {}, ({ categories }) => (this.#categories = categories)));
    this.during(observe('job.observe', {}, ({ jobs }) => this.#show(jobs.filter(({ method }) => methods.has(method)))));
  }

  #say(text, isFault = false) {
    this.#last.textContent = text;
    this.#last.classList.toggle('fault', isFault);
  }

  #tell(known, places, last) {
    const newest = known.backups.find(({ isWhole, verifiedAt, presence }) => (
      isWhole && verifiedAt && (presence === 'there' || presence === 'outOfReach')));
    if (newest) this.#say(t('backup.newest', { time: moment(newest.madeAt), ago: relative(newest.madeAt) }));
    else if (known.backups.length > 0) this.#say(t('backup.noneWhole'), true);
    else this.#say(last ? t('backup.last', { time: moment(last), ago: relative(last) }) : t('settings.noBackup'));
    // The newest is the one that one wants to look into.
    const path = known.backups.find(({ presence }) => presence === 'there')?.path ?? places.files[0]?.path ?? '';
    const chosen = this.#path.value === this.#suggested ? path : this.#path.value;
    this.#offer(places.files);
    if (places.files.some((file) => file.path === chosen)) this.#path.value = chosen;
    this.#suggested = path;
    this.#schedule.schedule = known.schedule;
    this.#made.known = known;
    this.#schedule.hidden = this.#made.hidden = false;
  }

  /** The backups that are to choose from. */
  #offer(files) {
    const name = (path) => path.slice(path.lastIndexOf('/') + 1);
    const folder = (path) => path.slice(0, path.lastIndexOf('/'));
    // A list that somebody has open stays as it is.
    const shows = JSON.stringify(files);
    if (this.#path.dataset.shows === shows) return;
    this.#path.dataset.shows = shows;
    const folders = [...new Set(files.map(({ path }) => folder(path)))];
    this.#path.disabled = files.length === 0;
    this.#path.replaceChildren(...files.length === 0 ? [element('option', { value: '' }, t('backup.nothingToUse'))] : folders.map((where) => (
      element('optgroup', { label: where }, files.filter(({ path }) => folder(path) === where).map(({ path, bytes: size }) => (
        element('option', { value: path }, `${name(path)} · ${bytes(size)}`)))))));
  }

  #use(path) {
    this.#path.value = path;
    this.#path.scrollIntoView({ block: 'center' });
    this.#path.focus();
  }

  /** Asks for a job, and shows it where one is. */
  async #begin(method, params) {
    const { job } = await ask(method, params);
    this.#asked.add(job);
    this.#show(this.#known);
    this.#jobs.scrollIntoView({ block: 'nearest' });
    return job;
  }

  #show(jobs) {
    this.#known = jobs;
    const isHere = ({ id, state }) => this.#asked.has(id) || !['finished', 'failed', 'cancelled'].includes(state);
    // The newest first: it is the one that was just asked for.
    showJobs(this.#jobs, jobs.filter(isHere).reverse());
    showJobs(this.#earlier, jobs.filter((job) => !isHere(job)));
    for (const job of jobs) {
      this.#preview(job);
      this.#offerUndo(job);
    }
  }

  /** The way back from what a restore has overwritten. */
  #offerUndo({ id, method, receipt, state, outcomes }) {
    if (method !== 'backup.restore' || state !== 'finished' || receipt?.isDryRun || !outcomes.updated || this.#undone.has(id) || !session.offers('backup.undo')) return;
    const card = [...this.#jobs.children].find(({ dataset }) => dataset.job === id);
    if (!card || card.querySelector('.undo-restore')) return;
    card.append(element(
      'div', { class: 'undo-restore buttons' },
      textButton(t('backup.undo', { count: outcomes.updated }), () => attempt(async () => {
        await this.#begin('backup.undo', { job: id });
        this.#undone.add(id);
        card.querySelector('.undo-restore')?.remove();
      }), { icon: 'undo' })));
  }

  /** What a dry run of a restore found, and the way to do it. */
  #preview(job) {
    const { method, receipt, state } = job;
    if (method !== 'backup.restore' || !receipt?.isDryRun || state !== 'finished') return;
    const card = [...this.#jobs.children].find(({ dataset }) => dataset.job === job.id);
    const wanted = this.#dryRuns.get(job.id);
    const shown = card?.querySelector('.preview-restore');
    // The result may be here before the reply that says which job it is of: without what it is of, and so without the button.
    if (!card || shown && (!wanted || shown.querySelector('button'))) return;
    shown?.remove();
    const { backup } = receipt;
    const differences = job.outcomes.conflict ?? 0;
    const rows = ['photosAdded', 'photosKept', 'photosRemoved', 'categoriesAdded', 'swipeSessionsAdded', 'groupsAdded'];
    card.append(element(
      'div', { class: 'preview-restore stack' },
      element('p', {}, t('backup.wouldDo')),
      element('p', { class: 'quiet' }, t('backup.ofWhat', { time: moment(backup.timestamp), by: backup.appVersion, photos: number(backup.photoCount), categories: number(backup.categoryCount) })),
      element('dl', { class: 'legend' }, rows.filter((name) => receipt[name] !== undefined).flatMap((name) => [
        element('dt', {}, t(`backup.${name}`)), element('dd', { class: 'number' }, number(receipt[name]))])),
      differences > 0 && element('p', {}, t('backup.differences', { count: differences })),
      (job.outcomes.updated ?? 0) > 0 && element('p', {}, t('backup.wouldOverwrite', { count: job.outcomes.updated })),
      wanted && element('div', { class: 'buttons' }, textButton(t('backup.restoreNow'), () => this.#confirm(wanted, job.id), { class: 'button primary' }))));
  }

  #confirm(wanted, trial) {
    const help = wanted.mode === 'replace' ? 'backup.replaceHelp' : wanted.prefersBackup ? 'backup.preferHelp' : 'backup.mergeHelp';
    showDialog({
      title: t('backup.restoreNow'), action: t('backup.restore'), danger: wanted.mode === 'replace',
      body: [element('p', {}, t(help))],
      act: async () => {
        await this.#begin('backup.restore', wanted);
        // It has done its duty.
        this.#asked.delete(trial);
        this.#show(this.#known);
      },
    });
  }

  /** A backup of some categories, of what is new since a day, or to another place. */
  async #create() {
    // Asked now: a stick may just have been plugged in.
    const places = await ask('backup.places');
    return showDialog({
      title: t('backup.createOther'), action: t('backup.create'),
      body: [
        element('label', {}, t('backup.folder'), folderChoice(places, 'path')),
        element('p', { class: 'small quiet' }, t('backup.placesHelp')),
        element('label', {}, t('backup.since'), element('input', { name: 'since', type: 'date' })),
        element('fieldset', {}, element('legend', {}, t('backup.only')), this.#categories.map(({ id, displayName }) => element(
          'label', { class: 'choice' }, element('input', { type: 'checkbox', name: 'category', value: String(id) }), displayName)))],
      act: (form) => {
        const data = new FormData(form);
        const chosen = data.getAll('category').map(Number);
        const [path, since] = [data.get('path'), data.get('since')];
        return this.#begin('backup.create', {
          ...(path && { path }), ...(since && { since: `${since}T00:00:00Z` }), ...(chosen.length > 0 && { categoryIds: chosen }),
        });
      },
    });
  }

  get #given() {
    const path = this.#path.value;
    if (path) return path;
    this.#path.focus();
    throw new Refusal(t('backup.pathMissing'));
  }

  async #inspect() {
    const path = this.#given;
    const summary = await ask('backup.inspect', { path });
    const rows = [
      [t('backup.made'), moment(summary.timestamp)], [t('backup.photos'), number(summary.photoCount)],
      [t('screen.categories'), number(summary.categoryCount)], [t('backup.dialect'), `${summary.dialect} ${summary.backupVersion}`],
      [t('backup.complete'), t(summary.isPartial ? 'backup.partial' : 'backup.whole')],
      summary.sealedWith && [t('backup.sealedWith'), summary.sealedWith]];
    await showDialog({
      title: t('backup.inspect'),
      body: [element('p', { class: 'quiet path' }, path), element('dl', { class: 'legend' }, rows.filter(Boolean).flatMap(([name, value]) => [
        element('dt', {}, name), element('dd', {}, value)]))],
    });
  }

  #verify() {
    return this.#begin('backup.verify', { path: this.#given });
  }

  /** A restore begins with a dry run, whose result is shown before anything is written. */
  #restore() {
    const path = this.#given;
    const mode = (value) => element(
      'label', { class: 'choice' }, element('input', { type: 'radio', name: 'mode', value, checked: value === 'merge' }),
      element('span', {}, t(`backup.${value}`)));
    return showDialog({
      title: t('backup.restore'), action: t('backup.look'),
      body: [element('p', { class: 'quiet' }, t('backup.lookHelp')), element(
        'fieldset', {}, element('legend', { class: 'unseen' }, t('backup.restore')), mode('merge'), mode('prefer'), mode('replace')),
      element('label', {}, t('backup.passphraseOpen'), element('input', { type: 'password', name: 'passphrase', autocomplete: 'off' }),
        element('span', { class: 'small quiet' }, t('backup.passphraseOpenHelp')))],
      act: async (form) => {
        const { mode: chosen, passphrase } = Object.fromEntries(new FormData(form));
        const key = passphrase ? await ask('backup.openKey', { path, passphrase }) : undefined;
        const wanted = { path, mode: chosen === 'replace' ? 'replace' : 'merge', ...(chosen === 'prefer' && { prefersBackup: true }), ...(key && { key }) };
        const job = await this.#begin('backup.restore', { ...wanted, dryRun: true });
        this.#dryRuns.set(job, wanted);
        this.#show(this.#known);
      },
    });
  }
}

customElements.define('backup-screen', BackupScreen);
