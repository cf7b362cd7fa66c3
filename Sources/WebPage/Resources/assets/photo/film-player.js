// A film in the place of its poster. The browser's own player, whose controls are those that people know; a swipe and the arrow
// keys are the photo view's, which goes on to the neighbours. The film of a photo that moves has no controls: it plays once, and the photo is
// there again.

import { pictureAddress } from '../core/daemon.js';
import { Component, element, icon, iconButton } from '../core/dom.js';
import { t } from '../core/text.js';

/** CSS pixels that a finger moves sideways to go on, and not to press. */
const swipe = 60;

/** `step` with -1 or 1 as `detail`, as zoom-surface; `over` when the film of a photo that moves has ended. */
class FilmPlayer extends Component {
  #video = element('video', { controls: true, playsinline: true, preload: 'metadata' });
  #play = iconButton('play', t('film.play'), () => this.toggle(), { class: 'icon-button play' });
  #notice = element('div', { class: 'photo-notice', hidden: true }, icon('film'), element('p', {}, t('film.unplayable')));
  #shown;
  #isMovement = false;

  connectedCallback() {
    this.append(this.#video, this.#play, this.#notice);
    for (const type of ['play', 'pause', 'ended']) {
      this.listen(this.#video, type, () => (this.#play.hidden = this.#isMovement || !this.#video.paused));
    }
    this.listen(this.#video, 'error', () => this.#fail());
    this.listen(this.#video, 'ended', () => this.#isMovement && this.dispatchEvent(new CustomEvent('over')));
    let begin;
    this.listen(this, 'pointerdown', (event) => (begin = event.isPrimary && event.pointerType !== 'mouse' ? event.clientX : undefined));
    this.listen(this, 'pointerup', (event) => {
      const way = begin === undefined ? 0 : event.clientX - begin;
      begin = undefined;
      if (Math.abs(way) > swipe) this.dispatchEvent(new CustomEvent('step', { detail: way < 0 ? 1 : -1 }));
    });
    this.during(() => this.stop());
  }

  /** Shows a film, from its beginning unless it is the one that is shown. */
  show(photo) {
    const address = pictureAddress(photo, 'film');
    if (this.#shown === address) return;
    this.stop();
    this.#shown = address;
    this.#isMovement = photo.kind === 'moving';
    this.#notice.hidden = true;
    this.#video.controls = !this.#isMovement;
    this.#play.hidden = this.#isMovement;
    // Of a photo that is turned it would be turned twice, with its film.
    if (!photo.unseenBy && !photo.rotation) this.#video.poster = pictureAddress(photo, 'photo');
    this.#video.setAttribute('aria-label', photo.caption || photo.name);
    this.#video.src = address;
  }

  /** Ends it, and what the browser still loads of it. */
  stop() {
    if (!this.#shown) return;
    this.#shown = undefined;
    this.#video.pause();
    this.#video.removeAttribute('src');
    this.#video.removeAttribute('poster');
    this.#video.load();
  }

  toggle() {
    if (!this.#video.paused) this.#video.pause();
    // What cannot be played is told by its own event.
    else this.#video.play().catch(() => {});
  }

  #fail() {
    if (!this.#shown) return;
    this.#play.hidden = true;
    this.#notice.hidden = false;
  }
}

customElements.define('film-player', FilmPlayer);
