// The review: one photo at a time, left to the trash, right to the favourites, up to keep; and a summary before
// anything is done.

import { pictureAddress } from '../core/daemon.js';
import { Component, element, icon, iconButton, textButton } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address, current, go, onChange } from '../core/router.js';
import { photoTime, t } from '../core/text.js';
import { attempt, toast, toastError } from '../core/toasts.js';
import { ReviewSession } from './review-session.js';
import './swipe-card.js';
import { categoryLooks } from '../categories/category-picker.js';

/** Of each group in the summary, so many pictures; the rest is a number. */
const shownInSummary = 60;

class ReviewScreen extends Component {
  #session;
  #card = element('swipe-card');
  #title = element('p', { class: 'quiet small card-title' });
  #progress = element('progress', { max: '1', value: '0', 'aria-label': t('review.progress') });
  #numbers = element('p', { class: 'number quiet small', role: 'status' });
  #deck = element('div', { class: 'deck' });
  #category = element('category-picker', { onchosen: ({ detail }) => go(address('review', { parameters: { category: detail } })) });
  #categories = [];
  #buttons;
  #undo = iconButton('undo', t('review.undo'), () => this.#session?.undo());
  #finish = textButton(t('review.finish'), () => this.#summarise());
  #opening = 0;
  /** What the summary that is shown, or is being made, says. */
  #summarised;

  connectedCallback() {
    this.#buttons = element(
      'div', { class: 'decisions' },
      this.#decision('trash', 'trash', '←'), this.#decision('keep', 'check', '↑'), this.#decision('favorite', 'heart', '→'));
    this.append(
      element(
        'header', { class: 'screen-header' },
        element('h1', { tabindex: '-1' }, t('screen.review')), this.#category, this.#undo, this.#finish),
      this.#progress, this.#numbers, this.#deck);
    this.#card.addEventListener('decided', ({ detail }) => this.#session.decide(detail));
    this.listen(document, 'keydown', (event) => this.#key(event));
    this.during(onChange((place) => place.screen === 'review' && this.#open()));
    this.during(observe('category.observe', {}, ({ categories }) => this.#showCategories(categories)));
    this.during(observe('settings.observe', {}, ({ swipeThreshold, enableHapticFeedback }) => {
      this.#card.threshold = swipeThreshold;
      this.#card.buzzes = enableHapticFeedback;
    }));
    // Another device reviews too, photos come in or go.
    this.during(observe('event.subscribe', {}, ({ changed }) => {
      // An empty one: anything may have changed while nobody looked.
      const isOurs = changed.length === 0 || changed.includes('swipe') || changed.includes('photos');
      if (this.#session && isOurs) this.#refill();
    }));
    this.#open();
  }

  #decision(action, picture, key) {
    return element(
      'button', { type: 'button', class: `button decision ${action}`, onclick: () => this.#session?.top && this.#card.decide(action) },
      icon(picture), element('span', {}, t(`review.${action}`)), element('kbd', { 'aria-hidden': 'true' }, key));
  }

  #showCategories(categories) {
    this.#category.categories = this.#categories = categories;
    if (this.#session?.top) this.#say(this.#session.top);
  }

  async #open() {
    const opening = ++this.#opening;
    const category = Number(current().parameters.get('category'));
    this.#category.chosen = category ? String(category) : '';
    const session = new ReviewSession(category ? { categoryId: category } : {});
    session.addEventListener('changed', () => session === this.#session && this.#draw());
    session.addEventListener('failed', ({ detail }) => toastError(detail));
    this.#session = undefined;
    this.#finish.hidden = this.#undo.disabled = true;
    this.#deck.replaceChildren(element('p', { class: 'quiet', role: 'status' }, t('state.loading')));
    try {
      await session.open();
    } catch (error) {
      if (opening === this.#opening) this.#deck.replaceChildren(element('div', { class: 'empty', role: 'alert' }, icon('away'), element('p', {}, describe(error)),
        textButton(t('error.again'), () => this.#open())));
      return;
    }
    if (opening !== this.#opening) return;
    this.#session = session;
    this.#draw();
  }

  #refill() {
    // Several changes in a row are read once.
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      if (this.isConnected) this.#session?.refill().catch(() => {});
    }, 400);
  }

  #draw() {
    const { top, next, done, remaining } = this.#session;
    this.#progress.max = Math.max(1, done + remaining);
    this.#progress.value = done;
    this.#numbers.textContent = t('review.numbers', { done, remaining });
    this.#undo.disabled = done === 0;
    if (this.#inSummary) {
      if (this.#summarised !== this.#state) this.#summarise();
      return;
    }
    this.#finish.hidden = false;
    if (!top) {
      if (done > 0) this.#summarise();
      else this.#nothingLeft();
      return;
    }
    if (this.shown !== top.uuid || !this.#card.isConnected) {
      this.shown = top.uuid;
      this.#deck.replaceChildren(this.#card, this.#title, this.#buttons);
      this.#card.photo = top;
      this.#say(top);
    }
    for (const photo of next) new Image().src = pictureAddress(photo, 'photo');
  }

  /** What the photo on top is called, when it was taken, and in which category it is. */
  #say(photo) {
    const category = this.#categories.find(({ id }) => id === photo.categoryId);
    this.#title.replaceChildren(
      element('span', { class: 'name' }, [photo.caption || photo.name, photoTime(photo)].join(' · ')),
      ...(category ? [element('span', { class: 'category-chip' }, categoryLooks(category))] : []));
  }

  get #inSummary() {
    return this.#deck.firstElementChild?.classList.contains('summary') ?? false;
  }

  /** What the summary depends on. */
  get #state() {
    return `${this.#session.done} ${Boolean(this.#session.top)}`;
  }

  async #nothingLeft() {
    const pending = await attempt(() => this.#session.pending());
    const waiting = pending ? pending.favorite.length + pending.trash.length + pending.keep.length : 0;
    this.#finish.hidden = waiting === 0;
    this.#deck.replaceChildren(element(
      'div', { class: 'empty' }, icon('check'), element('h2', {}, t('review.nothing')), element('p', { class: 'quiet' }, t('review.nothingHelp')),
      waiting > 0 && element('p', {}, t('review.waiting', { count: waiting }))));
  }

  async #summarise() {
    const state = this.#state;
    const wasShown = this.#inSummary;
    this.#summarised = state;
    const groups = await attempt(() => this.#session.pending());
    if (!groups) this.#summarised = undefined;
    if (!groups || this.#summarised !== state) return;
    this.shown = undefined;
    const all = groups.favorite.length + groups.trash.length + groups.keep.length;
    if (all === 0) {
      // The last one was taken back.
      if (wasShown) this.#resume();
      else toast(t('review.noDecisions'));
      return;
    }
    const group = (name) => groups[name].length > 0 && element(
      'section', { class: `card group ${name}` },
      element('h3', {}, t(`review.summary.${name}`, { count: groups[name].length })),
      element('ul', {}, groups[name].slice(0, shownInSummary).map(({ photoIdentifier, contentDigest }) => element(
        'li', {}, element('img', { src: pictureAddress({ uuid: photoIdentifier, contentDigest }, 'thumbnail'), alt: '', loading: 'lazy' })))),
      groups[name].length > shownInSummary && element('p', { class: 'quiet' }, t('list.andMore', { count: groups[name].length - shownInSummary })));
    this.#finish.hidden = true;
    this.#deck.replaceChildren(element(
      'div', { class: 'summary' },
      element('h2', { tabindex: '-1' }, t('review.summaryTitle', { count: all })),
      element('p', { class: 'quiet' }, t('review.summaryHelp')),
      group('trash'), group('favorite'), group('keep'),
      element(
        'div', { class: 'buttons' },
        textButton(t('review.apply'), () => this.#apply(), { class: 'button primary' }),
        this.#session.top && textButton(t('review.resume'), () => this.#resume()))));
    if (!wasShown) this.#deck.querySelector('h2').focus();
  }

  #resume() {
    this.#summarised = undefined;
    this.#deck.replaceChildren();
    this.#draw();
  }

  async #apply() {
    const result = await attempt(() => this.#session.apply());
    if (!result) return;
    toast(t('review.applied', { favorites: result.favorited, trash: result.trashed }) + (result.outdated > 0 ? ` ${t('review.outdated', { count: result.outdated })}` : ''));
    await this.#open();
  }

  #key(event) {
    if (event.target.closest?.('input, textarea, select, dialog, time-scrubber') || document.querySelector('dialog[open]')) return;
    if ((event.ctrlKey || event.metaKey) && event.key === 'z' && this.#session?.done > 0) {
      event.preventDefault();
      event.stopImmediatePropagation();
      this.#session.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || this.#inSummary || !this.#session?.top) return;
    const action = { ArrowLeft: 'trash', ArrowRight: 'favorite', ArrowUp: 'keep' }[event.key];
    if (action) this.#card.decide(action);
    else if (event.key === 'u' || event.key === 'Backspace' || event.key === 'ArrowDown') this.#session.undo();
    else return;
    event.preventDefault();
  }
}

customElements.define('review-screen', ReviewScreen);
