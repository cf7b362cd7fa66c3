// Categories: what there are, with how many photos; added, changed, put into another order, and deleted with the choice
// what becomes of the photos.

import { ask, pictureAddress } from '../core/daemon.js';
import { Component, element, iconButton, textButton } from '../core/dom.js';
import { Refusal, describe, showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { pictureKind } from '../core/pictures.js';
import { address } from '../core/router.js';
import { session } from '../core/session.js';
import { t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { chip, palette, paletteField } from './palette.js';

class CategoriesScreen extends Component {
  #categories;
  #list = element('ol', { class: 'categories' });
  #loading = element('p', { class: 'quiet', role: 'status' }, t('state.loading'));
  #said = element('p', { class: 'unseen', role: 'status' });
  #dragging;

  async connectedCallback() {
    this.classList.add('screen');
    this.append(
      element(
        'header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.categories')),
        session.may('category.add') && textButton(t('category.add'), () => this.#edit(), { icon: 'plus', class: 'button primary' })),
      ...(session.may('category.reorder') ? [element('p', { class: 'quiet' }, t('category.help'))] : []),
      this.#loading, this.#list, this.#said);
    this.during(observe('category.observe', {}, ({ categories }) => this.#show(categories), (error) => {
      this.#loading.textContent = describe(error);
    }));
  }

  #show(categories) {
    this.#categories = categories;
    this.#loading.hidden = true;
    // Whoever drags one keeps hold of it; the order that comes of it is shown when it is dropped.
    if (this.#dragging) return;
    const focused = document.activeElement?.closest?.('.categories li')?.dataset.id;
    const control = document.activeElement?.dataset?.control;
    this.#list.replaceChildren(...categories.map((category) => this.#card(category)));
    if (focused && control) this.#list.querySelector(`li[data-id="${CSS.escape(focused)}"] [data-control="${control}"]`)?.focus();
  }

  #card(category) {
    const { id, displayName, photoCount, colorHex } = category;
    const grip = iconButton('grip', t('category.reorder', { name: displayName }), undefined, { 'data-control': 'grip', class: 'icon-button grip' });
    const preview = element('a', { class: 'preview', href: address('photos', { parameters: { category: id } }), tabindex: '-1', 'aria-hidden': 'true' });
    const card = element(
      'li', { class: 'card', data: { id }, css: { '--colour': colorHex } },
      session.may('category.reorder') && grip, preview,
      element(
        'div', { class: 'name' },
        element('a', { href: address('photos', { parameters: { category: id } }) }, displayName),
        element('span', { class: 'quiet number' }, t('category.photos', { count: photoCount }))),
      session.may('category.edit') && iconButton('caption', t('category.editOne', { name: displayName }), () => this.#edit(category), { 'data-control': 'edit' }),
      session.may('category.delete') && iconButton('trash', t('category.deleteOne', { name: displayName }), () => this.#delete(category), { 'data-control': 'delete' }));
    grip.addEventListener('pointerdown', (event) => this.#drag(event, card));
    grip.addEventListener('keydown', (event) => this.#move(event, category));
    if (photoCount > 0) this.#preview(preview, id);
    return card;
  }

  /** The newest photo of a category. */
  async #preview(place, categoryId) {
    try {
      const { photos: [photo] } = await ask('photo.search', { categoryId, limit: 1 });
      if (photo) place.append(element('img', { src: pictureAddress(photo, pictureKind(photo, { width: 56, height: 56 })), alt: '', loading: 'lazy' }));
    } catch {
      // The colour behind it says enough.
    }
  }

  // The order

  async #reorder(ids) {
    const before = this.#categories.map(({ id }) => id);
    if (ids.join() === before.join()) return;
    await attempt(async () => {
      await ask('category.reorder', { ids });
      toast(t('category.reordered'), () => ask('category.reorder', { ids: before }));
    });
  }

  #move(event, category) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const ids = this.#categories.map(({ id }) => id);
    const from = ids.indexOf(category.id);
    const to = from + step;
    if (to < 0 || to >= ids.length) return;
    ids.splice(to, 0, ...ids.splice(from, 1));
    this.#said.textContent = t('category.nowAt', { name: category.displayName, position: to + 1, count: ids.length });
    attempt(() => ask('category.reorder', { ids }));
  }

  #drag(event, card) {
    if (event.button !== 0) return;
    event.preventDefault();
    const grip = event.currentTarget;
    grip.focus();
    grip.setPointerCapture(event.pointerId);
    this.#dragging = card;
    card.classList.add('dragging');
    const move = ({ clientY }) => {
      const others = [...this.#list.children].filter((one) => one !== card);
      const next = others.find((one) => {
        const { top, height } = one.getBoundingClientRect();
        return clientY < top + height / 2;
      });
      if (card.nextElementSibling !== (next ?? null)) {
        this.#list.insertBefore(card, next ?? null);
        // Moving the card in the document takes its capture away.
        grip.setPointerCapture(event.pointerId);
      }
    };
    const stop = (drop) => {
      for (const [type, listener] of listeners) grip.removeEventListener(type, listener);
      card.classList.remove('dragging');
      this.#dragging = undefined;
      if (drop) this.#reorder([...this.#list.children].map(({ dataset }) => Number(dataset.id)));
      else this.#show(this.#categories);
    };
    const listeners = [['pointermove', move], ['pointerup', () => stop(true)], ['pointercancel', () => stop(false)]];
    for (const [type, listener] of listeners) grip.addEventListener(type, listener);
  }

  // Adding and changing

  #edit(category) {
    const used = new Set(this.#categories?.map(({ colorHex }) => colorHex.toUpperCase()));
    const shown = {
      displayName: category?.displayName ?? '', colorHex: category?.colorHex ?? palette.find((colour) => !used.has(colour)) ?? palette[0],
    };
    const preview = element('div', { class: 'chip-preview', 'aria-hidden': 'true' });
    const draw = () => preview.replaceChildren(chip({ ...shown, displayName: shown.displayName || t('category.name') }));
    const fault = element('p', { id: 'name-fault', class: 'fault small', 'aria-live': 'polite' });
    const name = element('input', {
      name: 'name', value: shown.displayName, required: true, autocomplete: 'off', 'aria-describedby': 'name-fault',
    });
    let checks = 0;
    const check = async () => {
      const turn = ++checks;
      shown.displayName = name.value.trim();
      draw();
      const { isTaken } = shown.displayName
        ? await ask('category.checkName', { displayName: shown.displayName, ...(category && { exceptId: category.id }) }) : { isTaken: false };
      if (turn !== checks) return;
      fault.textContent = isTaken ? t('category.taken') : '';
      name.setAttribute('aria-invalid', String(isTaken));
    };
    name.addEventListener('input', () => check().catch(() => {}));
    draw();
    return showDialog({
      title: t(category ? 'category.edit' : 'category.add'),
      action: t('action.save'),
      body: [
        preview, element('label', {}, t('category.name'), name), fault,
        paletteField(shown.colorHex, (colour) => {
          shown.colorHex = colour;
          draw();
        }),
        category && session.may('link.create') && element('div', { class: 'buttons' }, textButton(t('link.make'), ({ target }) => {
          target.closest('dialog').close();
          attempt(async () => {
            const { makeLink } = await import('../library/make-link.js');
            await makeLink({ category });
          });
        }, { icon: 'link' }))].filter(Boolean),
      opened: () => name.focus(),
      act: async () => {
        const { displayName, colorHex } = { displayName: name.value.trim(), colorHex: shown.colorHex };
        if (!displayName) throw new Refusal(t('category.nameMissing'));
        if (!category) {
          await ask('category.add', { displayName, colorHex });
          toast(t('category.added', { name: displayName }));
          return;
        }
        const { id, displayName: oldName, colorHex: oldColour } = category;
        await ask('category.edit', { id, displayName, colorHex });
        toast(t('category.changed', { name: displayName }), () => ask('category.edit', { id, displayName: oldName, colorHex: oldColour }));
      },
    });
  }

  // Deleting

  #delete(category) {
    const { id, displayName, photoCount } = category;
    const others = this.#categories.filter((other) => other.id !== id);
    if (others.length === 0) {
      return showDialog({ title: t('category.lastTitle'), body: [element('p', {}, t('category.last'))] });
    }
    const done = () => toast(t('category.deleted', { name: displayName }));
    if (photoCount === 0) {
      return showDialog({
        title: t('category.deleteTitle', { name: displayName }), action: t('category.delete'), danger: true,
        body: [element('p', {}, t('category.deleteEmpty'))],
        act: async () => {
          await ask('category.delete', { id });
          done();
        },
      });
    }
    const target = element('select', { 'aria-label': t('category.moveTarget') }, others.map((other) => (
      element('option', { value: String(other.id) }, other.displayName))));
    const choice = (value, text, checked) => element(
      'label', { class: 'choice' }, element('input', { type: 'radio', name: 'photos', value, checked }), element('span', {}, text));
    return showDialog({
      title: t('category.deleteTitle', { name: displayName }), action: t('category.delete'), danger: true,
      body: [
        element('p', {}, t('category.deletePhotos', { count: photoCount })),
        element(
          'fieldset', {}, element('legend', { class: 'unseen' }, t('category.whatBecomes')),
          choice('move', t('category.movePhotos'), true), target, choice('trash', t('category.trashPhotos'), false))],
      act: async (form) => {
        const moves = new FormData(form).get('photos') === 'move';
        await ask('category.delete', moves ? { id, moveTo: Number(target.value) } : { id, deletePhotos: true });
        done();
      },
    });
  }
}

customElements.define('categories-screen', CategoriesScreen);
