// One group: who is in it, the photos that have not expired, and what can be done about it.

import { ask } from '../core/daemon.js';
import { Component, element, icon, iconButton, textButton } from '../core/dom.js';
import { Refusal, confirmed, explained, showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address, current, go } from '../core/router.js';
import { t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { emptyNotice, showJobs } from '../library/job-card.js';
import './group-hubs.js';
import './group-members.js';
import './group-photo.js';
import { keptFor, ownMember, waitingText } from './groups.js';

class GroupView extends Component {
  #group;
  #photos;
  /** All that there are. */
  groups = [];
  #title = element('h1', { tabindex: '-1' });
  #today = element('p', { class: 'today', role: 'status' });
  #choose = element('a', { class: 'button', href: address('photos') }, icon('photos'), t('groups.choosePhoto'));
  #members = element('group-members');
  #hubs = element('group-hubs');
  // Read out as it changes: a photo has come, or one has gone. What each says about its end is read by whoever comes to it.
  #count = element('p', { class: 'quiet', role: 'status' }, t('state.loading'));
  #grid = element('ul', { class: 'group-photos', onkeep: ({ detail }) => this.#keep(detail) });
  #empty = element('div', { hidden: true }, emptyNotice('photos', t('groups.noPhotos'), t('groups.noPhotosHelp')));
  #jobs = element('div', { class: 'stack' });
  #rename = iconButton('caption', t('groups.rename'), () => this.#giveName());
  #remove = textButton(t('groups.delete'), () => this.#delete(), { icon: 'trash' });
  #leave = textButton(t('groups.leave'), () => this.#goOut());
  /** Of this page's imports of photos that were kept. */
  #kept = [];
  #observed = [];

  connectedCallback() {
    this.classList.add('parts');
    this.append(
      element(
        'header', { class: 'screen-header' },
        element('a', { class: 'icon-button', href: address('groups'), 'aria-label': t('groups.all'), title: t('groups.all') }, icon('back')),
        this.#title, this.#rename),
      element('section', { class: 'card stack' }, this.#today, this.#choose),
      element('section', { class: 'stack' }, element('h2', {}, t('groups.photosTitle')), this.#count, this.#empty, this.#grid, this.#jobs),
      this.#members, this.#hubs,
      element('div', { class: 'buttons' }, this.#leave, this.#remove));
    this.during(observe('job.observe', {}, ({ jobs }) => {
      this.#observed = jobs;
      this.#drawJobs();
    }));
  }

  get group() { return this.#group; }

  set group(group) {
    this.#group = group;
    const { name, hasSentToday, hub } = group;
    const isIn = Boolean(ownMember(group));
    this.#title.textContent = name;
    const today = t(!isIn ? 'groups.notIn' : hasSentToday ? 'groups.todayDone' : 'groups.todayOpen');
    // A status that is written again is read out again.
    if (this.#today.textContent !== today) this.#today.replaceChildren(...[isIn && hasSentToday && icon('check'), element('span', {}, today)].filter(Boolean));
    this.#choose.hidden = !isIn || hasSentToday;
    this.#leave.hidden = !isIn;
    // Whoever keeps it for all decides about it.
    this.#rename.hidden = this.#remove.hidden = Boolean(hub);
    this.#members.group = group;
    this.#hubs.show(this.groups, group);
  }

  /** Newest first. */
  set photos(photos) {
    this.#photos = photos;
    const cards = new Map([...this.#grid.children].map((card) => [card.dataset.id, card]));
    const shown = photos.map((photo) => {
      const card = cards.get(photo.id) ?? element('li', { class: 'card', data: { id: photo.id } }, element('group-photo'));
      const [content] = card.children;
      content.isOwn = photo.senderId === ownMember(this.#group)?.userId;
      content.photo = photo;
      return card;
    });
    // Those that stay are the same elements, so that their pictures and the focus stay too.
    for (const card of cards.values()) if (!shown.includes(card)) card.remove();
    shown.forEach((card, index) => this.#grid.children[index] !== card && this.#grid.insertBefore(card, this.#grid.children[index] ?? null));
    this.#empty.hidden = photos.length > 0;
    const count = photos.length > 0 ? t('groups.photos', { count: photos.length }) : '';
    if (this.#count.textContent !== count) this.#count.textContent = count;
  }

  /** Time has passed. */
  tick() {
    for (const { firstElementChild: content } of this.#grid.children) content.tick();
  }

  async #keep(photo) {
    const { categories } = await attempt(() => ask('category.list')) ?? {};
    if (!categories) return;
    const category = element('select', {}, categories.map(({ id, displayName }) => element('option', { value: String(id) }, displayName)));
    const started = await showDialog({
      title: t('groups.keepTitle'), action: t('groups.keep'),
      body: [element('p', {}, t('groups.keepHelp')), element('label', {}, t('import.into'), category)],
      act: () => explained(() => ask('group.keep', { photoId: photo.id, categoryId: Number(category.value) }), { not_found: 'groups.photoGone' }),
    });
    if (!started) return;
    this.#kept.push(started.job);
    this.#drawJobs();
    toast(t('groups.keeping', { category: category.selectedOptions[0].text }));
  }

  /** A short import may have been told of before the reply says which one it is. */
  #drawJobs() {
    showJobs(this.#jobs, this.#observed.filter(({ id }) => this.#kept.includes(id)));
  }

  #giveName() {
    const { id, name: before } = this.#group;
    const field = element('input', { name: 'name', value: before, required: true, autocomplete: 'off' });
    const rename = (name) => explained(() => ask('group.rename', { id, name }), { not_found: 'groups.goneHelp' });
    return showDialog({
      title: t('groups.rename'), action: t('action.save'), body: [element('label', {}, t('groups.name'), field)],
      act: async () => {
        if (!field.value.trim()) throw new Refusal(t('groups.nameMissing'));
        const { name } = await rename(field.value);
        toast(t('groups.renamed', { name }), () => rename(before));
      },
    });
  }

  #goOut() {
    const { id, name } = this.#group;
    if (keptFor(this.#group) > 0) return showDialog({ title: t('groups.leaveTitle', { name }), body: [element('p', {}, t('groups.leaveKept'))] });
    return this.#part('leave', id, name, waitingText(this.#photos ?? []));
  }

  #delete() {
    const { id, name } = this.#group;
    const count = keptFor(this.#group);
    return this.#part('delete', id, name, count > 0 && t('groups.deleteEnds', { count }));
  }

  /** Either way the group is not here any more. */
  async #part(way, id, name, more) {
    const done = await confirmed({
      title: t(`groups.${way}Title`, { name }), text: [more, t(`groups.${way}Help`)].filter(Boolean).join(' '),
      action: t(`groups.${way}Now`), danger: true,
      act: () => explained(() => ask(`group.${way}`, { id }), { not_found: 'groups.goneHelp', failed_precondition: 'groups.leaveKept' }),
    });
    if (!done) return;
    if (current().id === id) go(address('groups'), { replace: true });
    toast(t(`groups.${way}Done`, { name }));
  }
}

customElements.define('group-view', GroupView);
