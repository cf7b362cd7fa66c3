// What the timeline is filtered by. Each control writes the address, and shows what the address says.

import { Component, element, icon, iconButton } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address, current, filterParameters, go } from '../core/router.js';
import { shortDay, t } from '../core/text.js';
import '../categories/category-picker.js';

/** Milliseconds after the last letter until a search begins. */
const typing = 250;

class FilterBar extends Component {
  #text = element('input', {
    type: 'search', 'aria-label': t('filter.search'), placeholder: t('filter.searchHere'), enterkeyhint: 'search', autocomplete: 'off',
  });
  #category = element('category-picker', { onchosen: ({ detail }) => this.#set({ category: detail }) });
  #favorites = element(
    'button', { type: 'button', class: 'button chip compact', title: t('filter.favourites'), onclick: () => this.#set({ favorites: this.#parameters.get('favorites') ? '' : '1' }) },
    icon('heart'), element('span', {}, t('filter.favourites')));
  #films = element(
    'button', { type: 'button', class: 'button chip compact', title: t('filter.films'), onclick: () => this.#set({ kind: this.#parameters.get('kind') === 'film' ? '' : 'film' }) },
    icon('film'), element('span', {}, t('filter.films')));
  #dates = element('button', { type: 'button', class: 'button chip', onclick: () => this.#chooseDates() });
  #clear = iconButton('cross', t('filter.clear'), () => go(address('photos')));
  #parameters = new URLSearchParams();

  connectedCallback() {
    this.setAttribute('role', 'search');
    this.append(this.#text, this.#category, this.#favorites, this.#films, this.#dates, this.#clear);
    let waiting;
    this.#text.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#set({ text: this.#text.value.trim() }, true), typing);
    });
    this.during(observe('category.observe', {}, ({ categories }) => (this.#category.categories = categories)));
  }

  /** Puts the focus into the field of the search. */
  focusText() {
    this.#text.focus();
    this.#text.select();
  }

  show(parameters) {
    this.#parameters = parameters;
    if (document.activeElement !== this.#text) this.#text.value = parameters.get('text') ?? '';
    this.#category.chosen = parameters.get('category') ?? '';
    this.#favorites.setAttribute('aria-pressed', String(Boolean(parameters.get('favorites'))));
    this.#films.setAttribute('aria-pressed', String(parameters.get('kind') === 'film'));
    const [from, to] = [parameters.get('from'), parameters.get('to')];
    const range = from && to ? `${shortDay(from)} – ${shortDay(to)}`
      : from ? t('filter.since', { day: shortDay(from) })
      : to ? t('filter.until', { day: shortDay(to) }) : t('filter.dates');
    this.#dates.replaceChildren(icon('calendar'), element('span', {}, range));
    const dated = Boolean(from || to || parameters.get('reviewed'));
    this.#dates.setAttribute('aria-pressed', String(dated));
    this.#dates.title = t('filter.dates');
    this.#dates.classList.toggle('compact', !dated);
    this.#clear.hidden = filterParameters(parameters).toString() === '';
  }

  #set(changes, replace = false) {
    const parameters = filterParameters(current().parameters);
    for (const [name, value] of Object.entries(changes)) {
      if (value) parameters.set(name, value);
      else parameters.delete(name);
    }
    go(address('photos', { parameters }), { replace });
  }

  #chooseDates() {
    const value = (name) => this.#parameters.get(name)?.slice(0, 10) ?? '';
    const reviewed = this.#parameters.get('reviewed') ?? '';
    const option = (name) => element('option', { value: name, selected: reviewed === name }, t(`filter.reviewed.${name || 'any'}`));
    showDialog({
      title: t('filter.dates'),
      action: t('filter.apply'),
      body: [
        element('label', {}, t('filter.from'), element('input', { type: 'date', name: 'from', value: value('from') })),
        element('label', {}, t('filter.to'), element('input', { type: 'date', name: 'to', value: value('to') })),
        element('label', {}, t('filter.reviewed'), element('select', { name: 'reviewed' }, ['', 'no', 'yes'].map(option))),
      ],
      act: (form) => {
        const { from, to, reviewed: wanted } = Object.fromEntries(new FormData(form));
        // Whoever gave them the wrong way round meant the days between.
        const [first, last] = from && to && from > to ? [to, from] : [from, to];
        this.#set({ from: first, to: last, reviewed: wanted });
      },
    });
  }
}

customElements.define('filter-bar', FilterBar);
