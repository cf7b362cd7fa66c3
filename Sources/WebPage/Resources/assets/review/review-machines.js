// A person's own other machines that have reviews in common with this one: those that were let in, and those that this one
// has joined and asks.

import { ask } from '../core/daemon.js';
import { Component, element, iconButton, textButton } from '../core/dom.js';
import { Refusal, confirmed, describe, explained, showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { session } from '../core/session.js';
import { moment, relative, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { askForInvitation, showInvitation } from '../library/invitations.js';
import { showJobs } from '../library/job-card.js';

/** Milliseconds until "synced a minute ago" is written again. */
const tick = 10_000;

class ReviewMachines extends Component {
  #machines = [];
  #observed = [];
  /** Of this page's syncs, by machine. */
  #jobs = new Map();
  #title = element('h2', { tabindex: '-1' }, t('machines.title'));
  #fault = element('p', { class: 'fault', hidden: true });
  #list = element('ul', { class: 'stack' });

  connectedCallback() {
    this.classList.add('stack');
    this.hidden = !session.offers('swipe.observeMachines');
    if (this.hidden) return;
    this.replaceChildren(
      this.#title, element('p', { class: 'quiet' }, t('machines.help')),
      element(
        'div', { class: 'buttons' },
        textButton(t('machines.share'), () => attempt(() => this.#share()), { icon: 'plus' }),
        textButton(t('machines.join'), () => attempt(() => this.#join()))),
      this.#fault, this.#list);
    this.during(observe('swipe.observeMachines', {}, ({ machines }) => this.#take(machines), (error) => this.#fail(error)));
    this.during(observe('job.observe', {}, ({ jobs }) => {
      this.#observed = jobs;
      this.#draw();
    }));
    const timer = setInterval(() => this.#draw(), tick);
    this.during(() => clearInterval(timer));
  }

  #take(machines) {
    this.#fault.hidden = true;
    this.#machines = machines;
    this.#draw();
  }

  #fail(error) {
    if (error.retryable) return;
    this.#fault.hidden = false;
    this.#fault.textContent = describe(error);
  }

  #draw() {
    const cards = new Map([...this.#list.children].map((card) => [card.dataset.id, card]));
    // Those that stay are the same elements, so that the focus stays too.
    const shown = this.#machines.map((machine) => cards.get(machine.id) ?? this.#card(machine));
    for (const card of cards.values()) if (!shown.includes(card)) card.remove();
    shown.forEach((card, index) => {
      if (this.#list.children[index] !== card) this.#list.insertBefore(card, this.#list.children[index] ?? null);
      this.#drawCard(card, this.#machines[index]);
    });
  }

  #card(machine) {
    const { id, name, isJoined } = machine;
    return element(
      'li', { class: 'card stack', data: { id } },
      element(
        'div', { class: 'device' },
        element('div', {}, element('h3', {}, name), element('p', { class: 'quiet small' })),
        !isJoined && iconButton('trash', t('machines.endOne', { name }), () => this.#end('swipe.unshare', machine, 'machines.unshareHelp'))),
      element('p', { class: 'attention', role: 'status', hidden: true }),
      isJoined && element(
        'div', { class: 'buttons' },
        textButton(t('machines.sync'), () => attempt(() => this.#sync(id)), { 'aria-label': t('machines.syncOne', { name }) }),
        textButton(t('machines.end'), () => this.#end('swipe.leave', machine, 'machines.leaveHelp'), { 'aria-label': t('machines.endOne', { name }) })),
      isJoined && element('div', { class: 'stack jobs' }));
  }

  #drawCard(card, { id, isJoined, addedAt, seenAt, problem }) {
    const seen = seenAt ? t(isJoined ? 'machines.synced' : 'machines.asked', { time: relative(seenAt) }) : t(isJoined ? 'machines.notSynced' : 'machines.notAsked');
    card.querySelector('.quiet').textContent = [seen, t(isJoined ? 'machines.joined' : 'machines.shared', { time: moment(addedAt) })].join(' · ');
    const said = card.querySelector('.attention');
    said.hidden = !problem;
    // A status that is written again is read out again.
    if (said.textContent !== (problem ?? '')) said.textContent = problem ?? '';
    if (isJoined) showJobs(card.querySelector('.jobs'), this.#observed.filter((job) => job.id === this.#jobs.get(id)));
  }

  async #sync(id) {
    const { job } = await ask('swipe.sync', { machineId: id });
    this.#jobs.set(id, job);
    // A short one may have been told of before the reply says which one it is.
    this.#draw();
  }

  async #share() {
    const field = element('input', { name: 'name', required: true, autocomplete: 'off' });
    const shared = await showDialog({
      title: t('machines.share'), action: t('machines.shareNow'),
      body: [element('label', {}, t('machines.name'), field), element('p', { class: 'quiet small' }, t('machines.shareHelp'))],
      act: () => {
        if (!field.value.trim()) throw new Refusal(t('machines.nameMissing'));
        return explained(() => ask('swipe.share', { name: field.value }), {
          already_exists: 'machines.nameTaken', invalid_argument: 'machines.nameWrong', resource_exhausted: 'machines.tooMany',
        });
      },
    });
    if (!shared) return;
    const { machine: { name }, token } = shared;
    await showInvitation({
      purpose: 'reviews', token, title: t('machines.invitationFor', { name }), help: t('machines.invitationHelp', { name }),
      there: t('machines.invitationThere', { name }), end: t('machines.invitationEnd', { name }),
    });
  }

  async #join() {
    const joined = await askForInvitation({
      purpose: 'reviews', title: t('machines.join'), help: t('machines.joinHelp'), other: t('machines.joinGroup'),
      join: (request) => ask('swipe.join', request),
    });
    if (joined) toast(t('machines.joinDone', { name: joined.name }));
  }

  async #end(method, { id, name }, help) {
    const done = await confirmed({
      title: t('machines.endTitle', { name }), text: t(help), action: t('machines.endNow'), danger: true,
      act: () => explained(() => ask(method, { id }), { not_found: 'machines.gone' }),
    });
    if (!done) return;
    // The button that had the focus goes with its card.
    this.#title.focus();
    toast(t('machines.endDone', { name }));
  }
}

customElements.define('review-machines', ReviewMachines);
