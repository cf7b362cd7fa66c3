// Import: files and folders of this device, dropped or chosen, into a category; what is missing of an upload that was broken off;
// and what became of them.

import { ask } from '../core/daemon.js';
import { Component, element, icon, textButton } from '../core/dom.js';
import { observe } from '../core/observations.js';
import { remember as rememberText, remembered } from '../core/preferences.js';
import { session } from '../core/session.js';
import { bytes, percent, t } from '../core/text.js';
import { toast } from '../core/toasts.js';
import { dropped } from './drop-target.js';
import { missingCard } from './missing-card.js';
import { uploads } from './uploads.js';
import { showJobs } from '../library/job-card.js';

/** Where a disk is full, there are as many as files, and they are drawn with each step of the progress. */
const shownFaults = 100;

class ImportScreen extends Component {
  #category = element('select', { onchange: ({ target }) => rememberText('import.category', target.value) });
  #progress = element('progress', { max: '1', 'aria-label': t('import.sending') });
  #figures = element('p', { class: 'number', role: 'status' });
  #waitsFor = element('p', { class: 'attention', role: 'status', hidden: true });
  #run = element('section', { class: 'card stack', hidden: true });
  #unfinished = element('div', { class: 'stack' });
  #faults = element('ul', { class: 'receipt' });
  #jobs = element('div', { class: 'stack' });
  #choose = element('section', { class: 'card stack drop-area' });
  /** Lets a person choose files. */
  #pick;
  /** Of this browser's imports, by their numbers. */
  #known = new Map();
  /** Of all, the last that was observed. */
  #observed = [];

  connectedCallback() {
    this.classList.add('screen');
    const files = this.#picker({ multiple: true, accept: 'image/*,video/*,.heic,.heif,.avif,.jpg,.jpeg,.png,.webp,.tif,.tiff,.bmp,.gif,.xmp,.json' });
    const folder = this.#picker({ multiple: true, webkitdirectory: true });
    const hasFolders = 'webkitdirectory' in HTMLInputElement.prototype && !matchMedia('(pointer: coarse)').matches;
    this.#choose.append(
      icon('import'),
      element('p', {}, t('import.help')),
      element(
        'div', { class: 'buttons' },
        textButton(t('import.files'), () => files.click(), { class: 'button primary' }),
        hasFolders && textButton(t('import.folder'), () => folder.click())),
      element('label', {}, t('import.into'), this.#category),
      files, folder);
    this.#pick = () => files.click();
    this.#run.append(
      element('h2', {}, t('import.sending')), this.#progress, this.#figures, this.#waitsFor,
      element('div', { class: 'buttons' }, textButton(t('import.cancel'), () => uploads.cancel(), { icon: 'cross' })));
    this.append(
      element('header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.import'))),
      session.offers('upload.announce') ? this.#choose : element('p', { class: 'fault' }, t('import.daemonTooOld')),
      this.#unfinished, this.#run, this.#faults, this.#jobs);
    this.during(observe('category.observe', {}, ({ categories }) => {
      const chosen = this.#category.value || remembered('import.category');
      this.#category.replaceChildren(...categories.map(({ id, displayName }) => element('option', { value: String(id) }, displayName)));
      if (categories.some(({ id }) => String(id) === chosen)) this.#category.value = chosen;
    }));
    this.during(observe('job.observe', {}, ({ jobs }) => {
      this.#observed = jobs;
      this.#know(jobs);
    }));
    this.listen(uploads, 'changed', () => this.#draw());
    this.listen(window, 'files-dropped', () => this.#takeDropped());
    this.#draw();
    this.#takeDropped();
    if (!uploads.isBusy) uploads.look();
  }

  #picker(properties) {
    return element('input', {
      type: 'file', hidden: true, tabindex: '-1', 'aria-hidden': 'true', ...properties,
      onchange: ({ target }) => {
        this.#start([...target.files]);
        target.value = '';
      },
    });
  }

  #takeDropped() {
    this.#start(dropped.files.splice(0));
  }

  #start(files) {
    // A folder brings what systems leave behind; the daemon would pass it over too. Of an empty file it says that it is one.
    const wanted = files.filter(({ name }) => !name.startsWith('.') && name !== 'Thumbs.db');
    if (wanted.length > 0) uploads.add(wanted, Number(this.#category.value) || undefined);
    else if (files.length > 0) toast(t('import.nothingThere'));
  }

  #draw() {
    const { state, files, filesSent, bytes: all, bytesSent, faults, jobs, unfinished, waitsFor } = uploads;
    this.#run.hidden = state === 'idle';
    this.#choose.inert = state !== 'idle';
    this.#progress.value = all > 0 ? bytesSent / all : 0;
    this.#figures.textContent = [
      t('import.figures', { done: filesSent, count: files }), `${bytes(bytesSent)} / ${bytes(all)}`, percent(all > 0 ? bytesSent / all : 0)].join(' · ');
    this.#waitsFor.hidden = !waitsFor;
    this.#waitsFor.textContent = waitsFor;
    // What is being sent may be what is missing.
    this.#unfinished.hidden = state !== 'idle';
    const shown = unfinished.map(({ session: id, missing }) => `${id} ${missing}`).join();
    if (this.#unfinished.dataset.shown !== shown) {
      this.#unfinished.dataset.shown = shown;
      this.#unfinished.replaceChildren(...unfinished.map((one) => missingCard(one, this.#pick)));
    }
    this.#faults.replaceChildren(
      ...faults.slice(0, shownFaults).map(({ name, reason }) => element(
        'li', { class: 'attention' }, element('span', { class: 'item' }, name || t('screen.import')), element('span', { class: 'small quiet detail' }, reason))),
      ...(faults.length > shownFaults ? [element('li', { class: 'quiet' }, t('list.andMore', { count: faults.length - shownFaults }))] : []));
    // A short import may have ended before the reply says which one it is.
    this.#know(this.#observed);
    for (const id of jobs.filter((job) => !this.#known.has(job))) {
      this.#known.set(id, undefined);
      // What has ended more than an hour ago is not among the jobs that are observed.
      // One that is observed meanwhile is further on than this reply.
      ask('job.get', { job: id }).then(
        (job) => this.#known.get(id) ?? this.#know([job]), (error) => error.status === 'not_found' && uploads.saw(id));
    }
  }

  #know(jobs) {
    for (const job of jobs) {
      if (!uploads.jobs.includes(job.id)) continue;
      this.#known.set(job.id, job);
      if (['finished', 'failed', 'cancelled'].includes(job.state)) uploads.saw(job.id);
    }
    showJobs(this.#jobs, uploads.jobs.map((id) => this.#known.get(id)).filter(Boolean));
  }
}

customElements.define('import-screen', ImportScreen);
