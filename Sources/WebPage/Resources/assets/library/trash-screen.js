// The trash: what is in it, until when, back out of it, and out of the library for good.

import { ask, trashedPictureAddress } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { confirmed, describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { pictureKind } from '../core/pictures.js';
import { photoTime, relative, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { emptyNotice } from './job-card.js';

const pageSize = 100;
/** How large a photo is here at most, in CSS pixels. */
const cell = { width: 200, height: 200 };

class TrashScreen extends Component {
  #photos = [];
  #next;
  #total = 0;
  #chosen = new Set();
  #grid = element('ul', { class: 'trash-grid' });
  #empty = element('div', {}, element('p', { class: 'quiet', role: 'status' }, t('state.loading')));
  #count = element('p', { class: 'quiet', role: 'status' });
  #restore = textButton(t('trash.restore'), () => attempt(() => this.#restoreChosen()), { icon: 'undo', class: 'button primary' });
  #purge = textButton(t('trash.purge'), () => this.#purgeChosen(), { icon: 'trash' });
  #purgeAll = textButton(t('trash.purgeAll'), () => this.#purgeEverything());
  #more = textButton(t('trash.more'), () => attempt(() => this.#readMore()));

  connectedCallback() {
    this.classList.add('screen');
    this.append(
      element(
        'header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.trash')), this.#restore, this.#purge, this.#purgeAll),
      this.#count, this.#empty, this.#grid, element('div', {}, this.#more));
    this.during(observe('trash.observe', { limit: pageSize }, ({ photos, total, next }) => {
      this.#total = total;
      this.#photos = photos;
      this.#next = next ?? (total > photos.length ? '' : undefined);
      this.#draw();
    }, (error) => this.#empty.replaceChildren(element('p', { class: 'fault' }, describe(error)))));
  }

  async #readMore() {
    // An observation brings the first page; where it names no cursor, the list does.
    const after = this.#next || (await ask('trash.list', { limit: this.#photos.length })).next;
    const { photos, next } = await ask('trash.list', { limit: pageSize, ...(after && { after }) });
    this.#photos = [...this.#photos, ...photos];
    this.#next = next;
    this.#draw();
  }

  #draw() {
    const present = new Set(this.#photos.map(({ photo }) => photo.id));
    for (const id of this.#chosen) if (!present.has(id)) this.#chosen.delete(id);
    this.#empty.hidden = this.#total > 0;
    this.#empty.replaceChildren(emptyNotice('trash', t('trash.none'), t('trash.noneHelp')));
    const cards = new Map([...this.#grid.children].map((card) => [card.dataset.id, card]));
    this.#grid.replaceChildren(...this.#photos.map((entry) => cards.get(String(entry.photo.id)) ?? this.#card(entry)));
    this.#more.hidden = this.#next === undefined;
    this.#drawButtons();
  }

  #card({ photo, categoryName, purgeAfter }) {
    const { id } = photo;
    const box = element('input', {
      type: 'checkbox', checked: this.#chosen.has(id),
      onchange: () => {
        if (box.checked) this.#chosen.add(id);
        else this.#chosen.delete(id);
        this.#drawButtons();
      },
    });
    return element(
      'li', { data: { id } },
      element(
        'label', {},
        element('img', {
          src: trashedPictureAddress(photo, pictureKind(photo, cell)), alt: '', loading: 'lazy',
          onerror: ({ target }) => {
            target.closest('label').classList.add('unseen-picture');
            target.remove();
          },
        }),
        box,
        element('span', { class: 'facts' }, element('span', {}, photo.caption || photo.name), element(
          'span', { class: 'small quiet' }, [categoryName, photo.takenAt && photoTime(photo)].filter(Boolean).join(' · ')),
        element('span', { class: 'small quiet' }, t('trash.until', { time: relative(purgeAfter) })))));
  }

  #drawButtons() {
    const count = this.#chosen.size;
    this.#restore.hidden = this.#purge.hidden = count === 0;
    this.#purgeAll.hidden = this.#total === 0 || count > 0;
    this.#count.hidden = this.#total === 0;
    this.#count.textContent = count > 0 ? t('selection.count', { count }) : t('trash.count', { count: this.#total });
  }

  async #restoreChosen() {
    const ids = [...this.#chosen];
    const { count, staying = [] } = await ask('trash.restore', { ids });
    this.#chosen.clear();
    this.#drawButtons();
    if (staying.length > 0) toast(t('trash.staying', { count: staying.length, restored: count }));
    else toast(t('trash.restored', { count }), () => ask('photo.delete', { ids }));
  }

  #purgeChosen() {
    const ids = [...this.#chosen];
    confirmed({
      title: t('trash.purgeTitle', { count: ids.length }), text: t('trash.purgeHelp'), action: t('trash.purge'), danger: true,
      act: async () => {
        const { count } = await ask('trash.purge', { ids });
        toast(t('trash.purged', { count }));
      },
    });
  }

  #purgeEverything() {
    confirmed({
      title: t('trash.purgeTitle', { count: this.#total }), text: t('trash.purgeHelp'), action: t('trash.purgeAll'), danger: true,
      act: async () => {
        const { count } = await ask('trash.purge', { all: true });
        toast(t('trash.purged', { count }));
      },
    });
  }
}

customElements.define('trash-screen', TrashScreen);
