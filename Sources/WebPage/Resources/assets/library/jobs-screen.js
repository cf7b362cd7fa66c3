// What runs, what stands still, and what ended within the last hour; older ones on request.

import { ask } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import { emptyNotice, showJobs } from './job-card.js';

/** By when they began; of two in one millisecond, the later has the higher number. */
const newestFirst = (one, other) => (other.startedAt < one.startedAt ? -1 : other.startedAt > one.startedAt ? 1 : Number(other.id) - Number(one.id));

class JobsScreen extends Component {
  #list = element('div', { class: 'stack' });
  #empty = element('div', {}, element('p', { class: 'quiet', role: 'status' }, t('state.loading')));
  #older = element('div', { class: 'stack' });
  #more = textButton(t('jobs.older'), () => attempt(() => this.#readOlder()));
  #next;
  #shown = new Set();

  connectedCallback() {
    this.classList.add('screen');
    this.append(
      element('header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.jobs'))),
      this.#empty, this.#list, this.#older, element('div', {}, this.#more));
    this.during(observe('job.observe', {}, ({ jobs }) => {
      this.#shown = new Set(jobs.map(({ id }) => id));
      showJobs(this.#list, [...jobs].sort(newestFirst));
      this.#empty.hidden = jobs.length > 0;
      this.#empty.replaceChildren(emptyNotice('jobs', t('jobs.none'), t('jobs.noneHelp')));
    }, (error) => this.#empty.replaceChildren(element('p', { class: 'fault' }, describe(error)))));
  }

  async #readOlder() {
    const { jobs, next } = await ask('job.list', { all: true, limit: 20, ...(this.#next !== undefined && { after: this.#next }) });
    this.#next = next;
    this.#more.hidden = next === undefined;
    for (const job of jobs.filter(({ id }) => !this.#shown.has(id))) {
      const card = element('job-card', { data: { job: job.id } });
      card.job = job;
      this.#older.append(card);
    }
  }
}

customElements.define('jobs-screen', JobsScreen);
