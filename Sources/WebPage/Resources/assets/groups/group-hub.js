// One other machine that keeps groups for us: when it was last asked, what is wrong with it, and asking it now.

import { ask } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { confirmed, explained } from '../core/dialog.js';
import { relative, moment, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { showJobs } from '../library/job-card.js';
import { listGroups, waitingText } from './groups.js';

class GroupHub extends Component {
  #hub;
  /** Called when it was forgotten. No event: this element may have left the page by then. */
  forgotten = () => {};
  /** The last one that was begun here. */
  #job;
  #isAsked = false;
  #observed = [];
  #title = element('h3');
  #groups = element('p');
  #synced = element('p', { class: 'quiet small' });
  #problem = element('p', { class: 'attention', role: 'status', hidden: true });
  #jobs = element('div', { class: 'stack' });
  #sync = textButton(t('groups.syncNow'), () => attempt(() => this.#begin()));
  #forget = textButton(t('groups.forget'), () => attempt(() => this.#askToForget()), { icon: 'trash' });

  connectedCallback() {
    this.classList.add('stack');
    this.replaceChildren(this.#title, this.#groups, this.#synced, this.#problem, element('div', { class: 'buttons' }, this.#sync, this.#forget), this.#jobs);
  }

  /** @param {object} hub @param {string} names of its groups, in one sentence @param {boolean} isOneOfAll and not the one of a group, which is left instead */
  show(hub, names, isOneOfAll) {
    this.#hub = hub;
    const { address, syncedAt, addedAt, problem } = hub;
    this.#title.textContent = address;
    this.#groups.textContent = names ? t('groups.hubKeeps', { names }) : t('groups.hubEmpty');
    this.#synced.textContent = [
      syncedAt ? t('groups.synced', { time: relative(syncedAt) }) : t('groups.notSynced'), t('groups.hubJoined', { time: moment(addedAt) })].join(' · ');
    this.#problem.hidden = !problem;
    // A status that is written again is read out again.
    if (this.#problem.textContent !== (problem ?? '')) this.#problem.textContent = problem ?? '';
    this.#sync.setAttribute('aria-label', t('groups.syncOne', { address }));
    this.#forget.hidden = !isOneOfAll;
    this.#forget.setAttribute('aria-label', t('groups.forgetOne', { address }));
  }

  set jobs(jobs) {
    this.#observed = jobs;
    this.#draw();
  }

  async #begin() {
    // A button that is disabled loses the focus.
    if (this.#isAsked) return;
    this.#isAsked = true;
    try {
      ({ job: this.#job } = await ask('group.sync', { hubId: this.#hub.id }));
      // A short one may have been told of before the reply says which one it is.
      this.#draw();
    } finally {
      this.#isAsked = false;
    }
  }

  #draw() {
    showJobs(this.#jobs, this.#observed.filter(({ id }) => id === this.#job));
  }

  async #askToForget() {
    const { id, address } = this.#hub;
    const [groups, { photos }] = await Promise.all([listGroups(), ask('group.photos')]);
    const theirs = groups.filter(({ hub }) => hub === address).map((group) => group.id);
    const done = await confirmed({
      title: t('groups.forgetTitle', { address }),
      text: [waitingText(photos.filter(({ groupId }) => theirs.includes(groupId))), t('groups.forgetHelp')].filter(Boolean).join(' '), action: t('groups.forgetNow'), danger: true,
      act: () => explained(() => ask('group.forget', { id }), { not_found: 'groups.forgetGone' }),
    });
    if (!done) return;
    toast(t('groups.forgotten', { address }));
    this.forgotten();
  }
}

customElements.define('group-hub', GroupHub);
