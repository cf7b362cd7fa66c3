// The other machines that keep groups for us: all of them, or the one of a group; and what was sent there in vain.

import { Component, element } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { session } from '../core/session.js';
import { list, moment, t } from '../core/text.js';
import './group-hub.js';

/** Milliseconds until "synced a minute ago" is written again. */
const tick = 10_000;

class GroupHubs extends Component {
  #hubs = [];
  #undelivered = [];
  #groups = [];
  #jobs = [];
  #only;
  #title = element('h2');
  #fault = element('p', { class: 'fault', hidden: true });
  #list = element('ul', { class: 'stack' });
  #lostTitle = element('h2', {}, t('groups.undelivered'));
  #lostHelp = element('p', { class: 'quiet small' }, t('groups.undeliveredHelp'));
  #lost = element('ul', { class: 'stack undelivered' });

  connectedCallback() {
    this.classList.add('stack');
    this.replaceChildren(this.#lostTitle, this.#lostHelp, this.#lost, this.#title, this.#fault, this.#list);
    this.#draw();
    if (!session.offers('group.observeHubs')) return;
    this.during(observe('job.observe', {}, ({ jobs }) => this.#follow(jobs)));
    this.during(observe('group.observeHubs', {}, (told) => this.#take(told), (error) => this.#fail(error)));
    const timer = setInterval(() => this.#draw(), tick);
    this.during(() => clearInterval(timer));
  }

  /** @param {object[]} groups all that there are @param {object} [only] the one that is shown */
  show(groups, only) {
    this.#groups = groups;
    this.#only = only;
    this.#title.textContent = t(only ? 'groups.hub' : 'groups.hubs');
    this.#draw();
  }

  #take({ hubs, undelivered }) {
    this.#fault.hidden = true;
    this.#hubs = hubs;
    this.#undelivered = undelivered;
    this.#draw();
  }

  #draw() {
    const hubs = this.#hubs.filter(({ address }) => !this.#only || address === this.#only.hub);
    const lost = this.#undelivered.filter(({ groupId }) => !this.#only || groupId === this.#only.id);
    this.#title.hidden = hubs.length === 0;
    this.#lostTitle.hidden = this.#lostHelp.hidden = this.#lost.hidden = lost.length === 0;
    this.hidden = hubs.length === 0 && lost.length === 0 && this.#fault.hidden;
    this.#drawHubs(hubs);
    const ids = lost.map(({ id }) => id).join();
    if (this.#lost.dataset.ids === ids) return;
    this.#lost.dataset.ids = ids;
    this.#lost.replaceChildren(...lost.map((photo) => element(
      'li', { class: 'card stack' },
      element('p', {}, t('groups.undeliveredTo', { name: photo.groupName, time: moment(photo.sentAt) })),
      element('p', { class: 'attention' }, t(`groups.undelivered.${photo.reason}`, { address: photo.hub })))));
  }

  #drawHubs(hubs) {
    const cards = new Map([...this.#list.children].map((card) => [card.dataset.id, card]));
    // Those that stay are the same elements, so that the focus stays too.
    const shown = hubs.map(({ id }) => cards.get(id) ?? element('li', { class: 'card', data: { id } }, element('group-hub')));
    for (const card of cards.values()) if (!shown.includes(card)) card.remove();
    shown.forEach((card, index) => {
      if (this.#list.children[index] !== card) this.#list.insertBefore(card, this.#list.children[index] ?? null);
      const hub = hubs[index];
      const names = this.#groups.filter((group) => group.hub === hub.address).map(({ name }) => t('groups.nameOf', { name }));
      card.firstElementChild.show(hub, list(names), !this.#only);
      card.firstElementChild.jobs = this.#jobs;
      card.firstElementChild.forgotten = () => this.#forgotten();
    });
  }

  #fail(error) {
    // What is shown stays; the list of groups says it where nobody answers.
    if (error.retryable) return;
    this.#fault.hidden = false;
    this.#fault.textContent = describe(error);
    this.#draw();
  }

  #follow(jobs) {
    this.#jobs = jobs;
    for (const { firstElementChild: hub } of this.#list.children) hub.jobs = jobs;
  }

  #forgotten() {
    // The button that had the focus goes with its card.
    this.closest('groups-screen')?.querySelector('h1')?.focus();
  }
}

customElements.define('group-hubs', GroupHubs);
