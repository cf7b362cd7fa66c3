// Photos by themselves, one after the other, in the whole screen: for an evening on the sofa, or a tablet on the wall. The screen
// stays on. It goes through the list that the photo was opened from, over its end to its beginning, or in any order.

import { pictureAddress } from '../core/daemon.js';
import { Component, element, icon, iconButton } from '../core/dom.js';
import { picturesFor } from '../core/pictures.js';
import { remember, remembered } from '../core/preferences.js';
import { duration, photoTime, shortClockTime, t } from '../core/text.js';
import { keepAwake } from '../core/wake-lock.js';

/** Seconds that a photo can be shown. */
const intervals = [5, 10, 30, 60, 300];
/** Milliseconds without a hand after which the buttons go. */
const patience = 3000;
/** Milliseconds after which the next is tried where one could not be shown: it is gone, or nobody answers. */
const betweenTries = 2000;
/** Photos that one can go back through where they come in any order. */
const longestTrail = 100;
/** CSS pixels that a finger moves sideways to go on. */
const swipe = 60;

/** Any of so many positions but this one. */
function other(total, position) {
  const any = Math.floor(Math.random() * (total - 1));
  return any < position ? any : any + 1;
}

/** Events: `shown` with `{photo, position}` as `detail` when another one is seen; `over` when somebody ends it. */
class SlideShow extends Component {
  /** A `PhotoList`. */
  list;
  /** Where the photo is, or was, that was asked for last: it may not have been shown. */
  #position = 0;
  #photo;
  /** Photos that were there before, the latest last. */
  #trail = [];
  #pictures = [0, 1].map(() => element('img', { alt: '', decoding: 'async', draggable: 'false' }));
  #front = 0;
  #film = element('video', { playsinline: true, hidden: true });
  #caption = element('p', { class: 'caption' });
  #pause = iconButton('pause', t('slides.pause'), () => this.#toggle());
  #isPaused = false;
  /** Which of several that were asked for is still wanted. */
  #turn = 0;
  #next;
  #rest;

  connectedCallback() {
    this.setAttribute('role', 'dialog');
    this.setAttribute('aria-modal', 'true');
    this.setAttribute('aria-label', t('slides.title'));
    const seconds = element(
      'select', { 'aria-label': t('slides.interval'), title: t('slides.interval'), onchange: () => this.#setInterval(seconds.value) },
      intervals.map((one) => element('option', { value: String(one), selected: one === this.#interval }, duration(one))));
    const shuffled = element('input', { type: 'checkbox', checked: this.#isShuffled, onchange: () => remember('slides.shuffled', shuffled.checked ? '1' : undefined) });
    // A film of an evening does not talk into it.
    this.#film.muted = true;
    this.append(
      ...this.#pictures, this.#film, this.#caption,
      element(
        'div', { class: 'bar' },
        iconButton('previous', t('slides.previous'), () => this.#go(-1)),
        this.#pause,
        iconButton('next', t('slides.next'), () => this.#go(1)),
        seconds,
        element('label', {}, shuffled, t('slides.shuffled')),
        iconButton('cross', t('slides.end'), () => this.#end())));
    for (const type of ['ended', 'error']) this.listen(this.#film, type, () => !this.#film.hidden && this.#wait(type === 'ended' ? 0 : betweenTries));
    this.listen(document, 'keydown', (event) => this.#key(event));
    this.listen(document, 'visibilitychange', () => (document.hidden ? clearTimeout(this.#next) : this.#wait()));
    this.#listenToHands();
    this.#takeScreen();
    this.during(keepAwake());
    this.during(() => {
      this.#turn += 1;
      clearTimeout(this.#next);
      clearTimeout(this.#rest);
    });
    this.#wake();
    this.#pause.focus();
  }

  get #interval() {
    return intervals.find((one) => String(one) === remembered('slides.seconds')) ?? 10;
  }

  get #isShuffled() {
    return remembered('slides.shuffled') === '1';
  }

  /** Begins with the photo at a position of the list. */
  begin(position) {
    this.#position = Math.max(0, position);
    this.#show(this.#position);
  }

  #setInterval(seconds) {
    remember('slides.seconds', seconds);
    this.#wait();
  }

  /** To the next one, or to the one before: of the list as it is now, which changes while it is gone through. */
  async #go(step) {
    const turn = ++this.#turn;
    clearTimeout(this.#next);
    try {
      const before = step < 0 ? this.#trail.pop() : undefined;
      const place = await this.#placeOf(before ?? this.#photo);
      if (turn !== this.#turn) return;
      const { total } = this.list;
      if (total === 0) return;
      if (step > 0 && this.#photo) this.#trail = [...this.#trail.slice(1 - longestTrail), this.#photo];
      // What has gone has left its place to the one after it.
      if (before && place >= 0) this.#show(place);
      else if (step < 0) this.#show(((place < 0 ? this.#position : place) - 1 + total) % total);
      else this.#show(this.#isShuffled && total > 2 ? other(total, place) : (place < 0 ? this.#position : place + 1) % total);
    } catch {
      this.#wait(betweenTries);
    }
  }

  #placeOf(photo) {
    return photo ? this.list.locate(photo) : -1;
  }

  async #show(position) {
    const turn = ++this.#turn;
    clearTimeout(this.#next);
    this.#position = position;
    try {
      const [photo] = await this.list.photosIn(position, position + 1);
      if (turn !== this.#turn) return;
      this.#photo = photo;
      const isFilm = photo?.kind === 'film';
      // Of what only a newer version can show there is nothing to see.
      if (!photo || (photo.unseenBy && !isFilm)) throw new Error('nothing to show');
      const took = isFilm ? await this.#showFilm(photo) : await this.#showPicture(photo, turn);
      if (turn !== this.#turn || !took) return;
      this.#caption.textContent = [photo.caption, photoTime(photo, shortClockTime)].filter(Boolean).join(' · ');
      this.dispatchEvent(new CustomEvent('shown', { detail: { photo, position } }));
      if (!isFilm) this.#wait();
    } catch {
      // Gone meanwhile, or out of reach: what is shown stays until another one can be.
      if (turn === this.#turn) this.#wait(betweenTries);
    }
  }

  async #showPicture(photo, turn) {
    const scale = Math.min(this.clientWidth / Math.max(1, photo.width), this.clientHeight / Math.max(1, photo.height));
    const back = this.#pictures[1 - this.#front];
    back.classList.remove('drifting');
    back.src = picturesFor(photo, { width: photo.width * scale, height: photo.height * scale }).at(-1);
    back.alt = photo.caption || photo.name;
    await back.decode();
    if (turn !== this.#turn) return false;
    this.#endFilm();
    this.style.setProperty('--time', `${this.#interval + 2}s`);
    back.classList.add('seen', 'drifting');
    this.#pictures[this.#front].classList.remove('seen');
    this.#pictures[this.#front].alt = '';
    this.#front = 1 - this.#front;
    return true;
  }

  async #showFilm(photo) {
    this.#film.src = pictureAddress(photo, 'film');
    this.#film.setAttribute('aria-label', photo.caption || photo.name);
    this.#film.hidden = false;
    for (const picture of this.#pictures) {
      picture.classList.remove('seen');
      picture.alt = '';
    }
    // What this browser cannot play is told by its own event.
    if (!this.#isPaused) this.#film.play().catch(() => {});
    return true;
  }

  #endFilm() {
    if (this.#film.hidden) return;
    this.#film.hidden = true;
    this.#film.pause();
    this.#film.removeAttribute('src');
    this.#film.load();
  }

  /** Goes on in a while: that is what it is for, and no event would say when. */
  #wait(milliseconds = this.#film.hidden ? this.#interval * 1000 : undefined) {
    clearTimeout(this.#next);
    if (this.#isPaused || document.hidden || milliseconds === undefined || !this.isConnected) return;
    this.#next = setTimeout(() => this.#go(1), milliseconds);
  }

  #toggle() {
    this.#isPaused = !this.#isPaused;
    const name = this.#isPaused ? 'play' : 'pause';
    this.#pause.replaceChildren(icon(name));
    this.#pause.title = t(`slides.${name}`);
    this.#pause.setAttribute('aria-label', t(`slides.${name}`));
    this.classList.toggle('paused', this.#isPaused);
    if (!this.#film.hidden) this.#isPaused ? this.#film.pause() : this.#film.play().catch(() => {});
    this.#wait();
  }

  #end() {
    this.dispatchEvent(new Event('over'));
  }

  // Hands: the buttons are there while somebody moves.

  #listenToHands() {
    let begin;
    this.listen(this, 'pointermove', () => this.#wake());
    this.listen(this, 'pointerdown', (event) => {
      begin = event.isPrimary && !event.target.closest('.bar') ? event.clientX : undefined;
      this.#wake();
    });
    this.listen(this, 'pointerup', (event) => {
      const way = begin === undefined ? 0 : event.clientX - begin;
      begin = undefined;
      if (Math.abs(way) > swipe) this.#go(way < 0 ? 1 : -1);
    });
  }

  #wake() {
    this.classList.remove('resting');
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.classList.add('resting'), patience);
  }

  #key(event) {
    this.#wake();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Of a button that has the focus, a space presses that; a choice has arrows of its own.
    const isControl = event.target.closest?.('.bar button, .bar input');
    const keys = {
      Escape: () => this.#end(),
      ...(!event.target.closest?.('select') && { ArrowLeft: () => this.#go(-1), ArrowRight: () => this.#go(1) }),
      ...(!isControl && !event.target.closest?.('select') && { ' ': () => this.#toggle() }),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** The whole screen, where the browser gives it: not after a reload, when nobody has pressed anything. */
  #takeScreen() {
    const root = document.documentElement;
    let had = false;
    // Escape ends the whole screen, and tells nobody else of the key.
    this.listen(document, 'fullscreenchange', () => (document.fullscreenElement ? (had = true) : had && this.#end()));
    root.requestFullscreen?.({ navigationUI: 'hide' }).catch(() => {});
    this.during(() => document.fullscreenElement && document.exitFullscreen().catch(() => {}));
  }
}

customElements.define('slide-show', SlideShow);
