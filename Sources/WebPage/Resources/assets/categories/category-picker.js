// The category that photos are shown of: a chip with its colour and count, and a dialog of such chips to choose another.

import { Component, element } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { number, t } from '../core/text.js';

/** What a category looks like wherever it is named: a dot of its colour, its name, and how many photos it has. */
export const categoryLooks = ({ displayName, colorHex, photoCount }) => [
  element('span', { class: 'swatch', css: { '--colour': colorHex } }), element('span', { class: 'name' }, displayName),
  photoCount > 0 && element('span', { class: 'quiet number' }, number(photoCount))];

const all = () => [element('span', { class: 'name' }, t('filter.allCategories'))];

/** `chosen` with a category's id as `detail`, or with nothing for all of them. */
class CategoryPicker extends Component {
  #categories = [];
  #chosen = '';
  // A chip for each in the header of a phone would leave no room for photos; a row that scrolls sideways hides most of them.
  #chip = element('button', { type: 'button', class: 'button chip category', 'aria-haspopup': 'dialog', onclick: () => this.#choose() });

  connectedCallback() {
    this.append(this.#chip);
    this.#draw();
  }

  set categories(categories) {
    this.#categories = categories;
    this.#draw();
  }

  /** The id of one, or nothing. */
  set chosen(chosen) {
    this.#chosen = chosen;
    this.#draw();
  }

  #draw() {
    const category = this.#categories.find(({ id }) => String(id) === this.#chosen);
    this.#chip.replaceChildren(
      element('span', { class: 'unseen' }, `${t('filter.category')}: `), ...(category ? categoryLooks(category) : all()));
    this.#chip.setAttribute('aria-pressed', String(Boolean(category)));
  }

  async #choose() {
    const chip = (id, ...looks) => element(
      'button', { type: 'submit', class: 'button chip category', value: id, 'aria-pressed': String(id === this.#chosen) }, ...looks);
    let chosen;
    await showDialog({
      title: t('filter.category'),
      body: [element(
        'div', { class: 'chips' }, chip('', ...all()),
        ...this.#categories.map((category) => chip(String(category.id), ...categoryLooks(category))))],
      opened: (dialog) => {
        dialog.querySelector('[aria-pressed="true"]').focus();
        dialog.addEventListener('submit', ({ submitter }) => (chosen = submitter.value), { capture: true });
      },
    });
    if (chosen !== undefined) this.dispatchEvent(new CustomEvent('chosen', { detail: chosen }));
  }
}

customElements.define('category-picker', CategoryPicker);
