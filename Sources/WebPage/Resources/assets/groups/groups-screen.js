// Groups: a few people who send each other one photo a day. All of them, and one with its photos (`#/groups/ID`).

import { ask, newest, way } from '../core/daemon.js';
import { Component, element, icon, textButton } from '../core/dom.js';
import { Refusal, describe, explained, showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address, current, go, onChange } from '../core/router.js';
import { session } from '../core/session.js';
import { moment, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { emptyNotice } from '../library/job-card.js';
import './group-hubs.js';
import './group-view.js';
import { listGroups, memberNames, ownMember } from './groups.js';
import { joinGroup } from './join-group.js';

/** Milliseconds between two looks at the clock. Only what reads differently then is written. */
const tick = 5000;

class GroupsScreen extends Component {
  /** Undefined until the daemon has told. */
  #groups;
  #photos = [];
  #list = element('ul', { class: 'groups' });
  #hubs = element('group-hubs');
  #notice = element('div', {}, element('p', { class: 'quiet', role: 'status' }, t('state.loading')));
  #overview = element(
    'div', { class: 'parts' },
    element(
      'header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.groups')),
      textButton(t('groups.add'), () => this.#create(), { icon: 'plus', class: 'button primary' }),
      session.offers('group.join') && textButton(t('groups.join'), () => attempt(() => this.#join()))),
    element('p', { class: 'quiet' }, t('groups.help')), this.#notice, this.#list, this.#hubs);
  #gone = element(
    'div', { class: 'empty' }, icon('groups'), element('h1', { tabindex: '-1' }, t('groups.gone')), element('p', { class: 'quiet' }, t('groups.goneHelp')),
    element('a', { class: 'button', href: address('groups') }, t('groups.all')));
  #view;
  #day = new Date().toDateString();
  #read = newest(() => this.#ask(), ([groups, shown, photos]) => this.#take(groups, shown, photos), (error) => this.#fail(error));

  connectedCallback() {
    this.classList.add('screen');
    this.#show();
    this.during(onChange(({ screen }) => screen === 'groups' && this.#move()));
    // It tells of changes. Whether one has sent today is a question of this browser's calendar, and asked.
    this.during(observe('group.observe', {}, () => this.#read(), (error) => this.#fail(error)));
    const timer = setInterval(() => this.#tick(), tick);
    this.during(() => clearInterval(timer));
    this.listen(document, 'visibilitychange', () => this.#tick());
  }

  async #ask() {
    const { id } = current();
    const groups = await listGroups();
    if (!groups.some((group) => group.id === id)) return [groups];
    try {
      return [groups, id, (await ask('group.photos', { groupId: id })).photos];
    } catch (error) {
      // Deleted between the two questions, which is told.
      if (error.status === 'not_found') return [groups];
      throw error;
    }
  }

  #take(groups, shown, photos) {
    this.#groups = groups;
    this.#photos = photos;
    this.#show();
    if (this.#view && this.#view.group.id === shown) this.#view.photos = photos;
  }

  #fail(error) {
    // What was shown stays; it is asked again as soon as somebody answers.
    if (error.retryable) way.addEventListener('reached', () => this.isConnected && this.#read(), { once: true });
    else if (!this.#groups) this.#notice.replaceChildren(element('p', { class: 'fault' }, describe(error)));
  }

  #tick() {
    const day = new Date().toDateString();
    // Midnight here, which may be none where the daemon is.
    if (day !== this.#day) this.#read();
    this.#day = day;
    this.#view?.tick();
  }

  /** The address names another group, or none. */
  #move() {
    this.#show();
    this.querySelector('h1').focus();
    this.parentElement.scrollTop = 0;
    this.#read();
  }

  #show() {
    const { id } = current();
    const group = this.#groups?.find((one) => one.id === id);
    if (!group) this.#view = undefined;
    if (!id || !this.#groups) {
      this.#put(this.#overview);
      if (this.#groups) this.#drawList();
    } else if (!group) {
      this.#put(this.#gone);
    } else {
      if (this.#view?.group.id !== id) this.#view = element('group-view');
      this.#view.groups = this.#groups;
      this.#view.group = group;
      this.#put(this.#view);
    }
  }

  #put(part) {
    if (part.parentElement === this) return;
    const hadFocus = this.contains(document.activeElement);
    this.replaceChildren(part);
    if (hadFocus) this.querySelector('h1').focus();
  }

  #drawList() {
    this.#notice.hidden = this.#groups.length > 0;
    this.#notice.replaceChildren(emptyNotice('groups', t('groups.none'), t('groups.noneHelp')));
    const focused = document.activeElement?.closest?.('.groups a')?.hash;
    this.#list.replaceChildren(...this.#groups.map((group) => this.#card(group)));
    this.#hubs.show(this.#groups);
    if (focused) [...this.#list.querySelectorAll('a')].find(({ hash }) => hash === focused)?.focus();
  }

  #card(group) {
    const { id, name, hasSentToday, lastPhotoDate, photoCount } = group;
    return element(
      'li', { class: 'card' },
      element('h2', {}, element('a', { href: address('groups', { id }) }, name)),
      element('p', { class: 'members' }, memberNames(group)),
      element(
        'p', { class: 'facts' },
        element('span', { class: hasSentToday ? 'badge sent' : 'badge' }, hasSentToday && icon('check'), t(hasSentToday ? 'groups.sentToday' : 'groups.notToday')),
        element('span', { class: 'quiet small' }, [
          photoCount > 0 && t('groups.photos', { count: photoCount }),
          lastPhotoDate ? t('groups.lastPhoto', { time: moment(lastPhotoDate) }) : t('groups.noPhotoYet')].filter(Boolean).join(' · '))));
  }

  async #create() {
    const name = element('input', { name: 'name', required: true, autocomplete: 'off' });
    // As the others call one already.
    const known = this.#groups?.map(ownMember).find(Boolean)?.firstName ?? '';
    const firstName = element('input', { name: 'firstName', required: true, autocomplete: 'given-name', value: known });
    const made = await showDialog({
      title: t('groups.add'), action: t('groups.make'),
      body: [
        element('label', {}, t('groups.name'), name),
        element('label', {}, t('groups.firstName'), firstName),
        element('p', { class: 'quiet small' }, t('groups.firstNameHelp'))],
      act: async () => {
        if (!name.value.trim()) throw new Refusal(t('groups.nameMissing'));
        if (!firstName.value.trim()) throw new Refusal(t('groups.firstNameMissing'));
        return explained(
          () => ask('group.create', { name: name.value, firstName: firstName.value }), { resource_exhausted: 'groups.tooMany' });
      },
    });
    if (!made) return;
    toast(t('groups.made', { name: made.name }));
    this.#open(made);
  }

  async #join() {
    const { groups, joined } = await joinGroup() ?? {};
    if (!groups) return;
    this.#groups = groups;
    if (joined.length === 1) this.#open(joined[0]);
    else this.#show();
  }

  /** After the dialog, which gives the focus back to where it was. */
  #open(group) {
    // So that it is there, and not gone, when the address names it.
    if (!this.#groups?.some(({ id }) => id === group.id)) this.#groups = [...this.#groups ?? [], group];
    go(address('groups', { id: group.id }));
  }
}

customElements.define('groups-screen', GroupsScreen);
