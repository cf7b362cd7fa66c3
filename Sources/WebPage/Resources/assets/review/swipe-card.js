// The photo on top of the deck, which follows the finger or the mouse and says what letting go of it would decide.

import { pictureAddress } from '../core/daemon.js';
import { Component, element, iconButton } from '../core/dom.js';
import { photoTime, t } from '../core/text.js';

/** `decided` with the action as `detail`. */
class SwipeCard extends Component {
  /** The share of the width from which letting go decides. */
  threshold = 0.3;
  /** Whether a phone buzzes when it would. */
  buzzes = false;
  #image = element('img', { draggable: 'false', alt: '' });
  // Without controls, which would take the finger; a press begins and ends it.
  #film = element('video', { playsinline: true, loop: true, hidden: true });
  #play = iconButton('play', t('film.play'), () => this.#toggle(), { class: 'icon-button play', hidden: true });
  #stamp = element('span', { class: 'stamp', 'aria-hidden': 'true' });
  #filmAddress;
  #begin;
  #action;

  connectedCallback() {
    this.append(this.#image, this.#film, this.#play, this.#stamp);
    this.listen(this, 'pointerdown', (event) => {
      if (event.button !== 0 || this.#begin || event.target.closest('button')) return;
      this.setPointerCapture(event.pointerId);
      this.#begin = { x: event.clientX, y: event.clientY, pointer: event.pointerId };
    });
    this.listen(this, 'pointermove', (event) => {
      if (event.pointerId === this.#begin?.pointer) this.#follow(event.clientX - this.#begin.x, event.clientY - this.#begin.y);
    });
    this.listen(this, 'pointerup', (event) => event.pointerId === this.#begin?.pointer && this.#release());
    this.listen(this, 'pointercancel', () => this.#rest());
  }

  set photo(photo) {
    this.#image.src = pictureAddress(photo, 'photo');
    this.#image.alt = [photo.caption || photo.name, photoTime(photo)].join(', ');
    this.#endFilm();
    this.#play.hidden = photo.kind !== 'film';
    this.#filmAddress = pictureAddress(photo, 'film');
    this.#rest();
  }

  #toggle() {
    if (!this.#film.hidden) {
      this.#endFilm();
      return;
    }
    this.#film.src = this.#filmAddress;
    this.#film.hidden = false;
    // What a browser cannot play stays its poster.
    this.#film.play().catch(() => this.#endFilm());
  }

  #endFilm() {
    this.#film.hidden = true;
    this.#film.pause();
    this.#film.removeAttribute('src');
  }

  #follow(x, y) {
    // The smaller side of the window, so that a wall-sized screen does not ask for a metre of movement.
    const far = this.threshold * Math.min(this.clientWidth, 600);
    const action = -y > far && -y > Math.abs(x) ? 'keep' : x > far ? 'favorite' : x < -far ? 'trash' : undefined;
    if (action && action !== this.#action && this.buzzes) navigator.vibrate?.(15);
    this.#action = action;
    this.#image.style.transform = `translate(${x}px, ${y}px) rotate(${x / 40}deg)`;
    this.dataset.action = action ?? '';
    this.#stamp.textContent = action ? t(`decision.${action}`) : '';
  }

  #release() {
    const action = this.#action;
    this.#begin = undefined;
    if (action) this.decide(action);
    else this.#rest();
  }

  #rest() {
    this.#begin = this.#action = undefined;
    this.#image.style.transform = '';
    this.dataset.action = '';
    this.#stamp.textContent = '';
  }

  /** Lets the card fly where its decision is. */
  decide(action) {
    const [x, y] = { trash: [-120, 0], favorite: [120, 0], keep: [0, -120] }[action];
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (!calm) {
      const ghost = this.#image.cloneNode();
      ghost.alt = '';
      ghost.className = 'ghost';
      this.append(ghost);
      ghost.animate([{ transform: this.#image.style.transform || 'none' }, { transform: `translate(${x}%, ${y}%) rotate(${x / 10}deg)`, opacity: 0 }], 220)
        .finished.finally(() => ghost.remove());
    }
    this.dispatchEvent(new CustomEvent('decided', { detail: action }));
  }
}

customElements.define('swipe-card', SwipeCard);
