// The other machines that keep groups for us: all of them, or the one of a group.

import { ask, newest } from '../core/daemon.js';
import { Component, element } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { session } from '../core/session.js';
import { list, t } from '../core/text.js';
import './group-hub.js';

/**
 * Milliseconds until they are asked for again. The daemon syncs by itself, and tells of what came with that, but neither of when
 * it was nor of what went wrong.
 */
const pause = 10_000;

class GroupHubs extends Component {
  #hubs = [];
  #groups = [];
  #jobs = [];
  #only;
  #title = element('h2');
  #fault = element('p', { class: 'fault', hidden: true });
  #list = element('ul', { class: 'stack' });
  #read = newest(() => ask('group.hubs'), ({ hubs }) => this.#take(hubs), (error) => this.#fail(error));

  connectedCallback() {
    this.classList.add('stack');
    this.hidden = this.#hubs.length === 0;
    this.replaceChildren(this.#title, this.#fault, this.#list);
    if (!session.offers('group.hubs')) return;
    this.during(observe('job.observe', {}, ({ jobs }) => this.#follow(jobs)));
    const timer = setInterval(() => document.visibilityState === 'visible' && this.#read(), pause);
    this.during(() => clearInterval(timer));
    this.listen(document, 'visibilitychange', () => document.visibilityState === 'visible' && this.#read());
  }

  /** @param {object[]} groups all that there are @param {string} [only] the address of the one that is shown */
  show(groups, only) {
    this.#groups = groups;
    this.#only = only;
    this.#title.textContent = t(only ? 'groups.hub' : 'groups.hubs');
    if (session.offers('group.hubs')) this.#read();
  }

  #take(hubs) {
    this.#fault.hidden = true;
    this.#hubs = hubs.filter(({ address }) => !this.#only || address === this.#only);
    this.hidden = this.#hubs.length === 0;
    const cards = new Map([...this.#list.children].map((card) => [card.dataset.id, card]));
    // Those that stay are the same elements, so that the focus stays too.
    const shown = this.#hubs.map(({ id }) => cards.get(id) ?? element('li', { class: 'card', data: { id } }, element('group-hub')));
    for (const card of cards.values()) if (!shown.includes(card)) card.remove();
    shown.forEach((card, index) => {
      if (this.#list.children[index] !== card) this.#list.insertBefore(card, this.#list.children[index] ?? null);
      const hub = this.#hubs[index];
      const names = this.#groups.filter((group) => group.hub === hub.address).map(({ name }) => t('groups.nameOf', { name }));
      card.firstElementChild.show(hub, list(names), !this.#only);
      card.firstElementChild.jobs = this.#jobs;
      card.firstElementChild.forgotten = () => this.#forgotten();
    });
  }

  #fail(error) {
    // What is shown stays; the list of groups says it where nobody answers.
    if (error.retryable) return;
    this.hidden = false;
    this.#fault.hidden = false;
    this.#fault.textContent = describe(error);
  }

  #follow(jobs) {
    const ended = (all) => all.filter(({ method, endedAt }) => method === 'group.sync' && endedAt).length;
    const isNews = ended(jobs) !== ended(this.#jobs);
    this.#jobs = jobs;
    for (const { firstElementChild: hub } of this.#list.children) hub.jobs = jobs;
    if (isNews) this.#read();
  }

  #forgotten() {
    // The button that had the focus goes with its card.
    this.closest('groups-screen')?.querySelector('h1')?.focus();
    this.#read();
  }
}

customElements.define('group-hubs', GroupHubs);
