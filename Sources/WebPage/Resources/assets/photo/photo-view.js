// One photo in the whole window. Its neighbours are those of the list that it was opened from, and are loaded before
// one goes to them.

import { ask, pictureAddress, pictureVersion } from '../core/daemon.js';
import { Component, element, icon, iconButton, styles } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { picturesFor } from '../core/pictures.js';
import { address, back, filterParameters, go, photoFilter } from '../core/router.js';
import { session } from '../core/session.js';
import { photoTime, shortClockTime, t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import { moveToTrash, setFavourite, turn } from '../timeline/photo-actions.js';
import { PhotoList, shownAt } from '../timeline/photo-list.js';
import './film-player.js';
import './photo-facts.js';
import { canShare, share } from './share.js';
import './zoom-surface.js';

class PhotoView extends Component {
  /** The photo that is shown, as the daemon knows it. */
  photo;
  /** The timeline that it was opened from, whose list has been read. */
  timeline;
  /** Which photo one has gone to; what comes of another one is late. */
  #uuid;
  #list;
  /** Where in the list it is, or was before it went from it; -1 where it has never been there. */
  #position = -1;
  /** The photo whose movement plays. */
  #moving;
  #isInList = false;
  /** Turns that are under way, one after the other: each begins where the last one ended. */
  #turned = Promise.resolve();
  /** What is being found out about the position. */
  #located = Promise.resolve();
  #parameters = new URLSearchParams();
  #stop;
  #unfollow;
  #opening = 0;
  /** Photos going by by themselves, above this one. */
  #slides;
  #surface = element('zoom-surface');
  #film = element('film-player', { hidden: true });
  #title = element('h1', { tabindex: '-1' });
  #facts = element('photo-facts', { hidden: true });
  #notice = element('div', { class: 'photo-notice', hidden: true });
  // Until it is known which photos these are.
  #previous = iconButton('previous', t('photo.newer'), () => this.#step(-1), { class: 'icon-button step previous', disabled: true });
  #next = iconButton('next', t('photo.older'), () => this.#step(1), { class: 'icon-button step next', disabled: true });
  #favourite = iconButton('heart', t('photo.favourite'), () => this.#toggleFavourite(), { 'aria-pressed': 'false' });
  #send = iconButton('send', t('groups.send'), () => attempt(() => this.#sendToGroup()));
  #move = iconButton('film', t('film.move'), () => this.#toggleMovement(), { 'aria-pressed': 'false', hidden: true });
  #turn = iconButton('turn', t('photo.turnRight'), () => this.#rotate(90), { class: 'icon-button turn' });
  #information = iconButton('info', t('photo.facts'), () => this.#toggleFacts(), { 'aria-expanded': 'false' });

  connectedCallback() {
    this.setAttribute('role', 'dialog');
    this.setAttribute('aria-modal', 'true');
    this.setAttribute('aria-label', t('photo.photo'));
    const shares = canShare();
    this.classList.toggle('shares', shares);
    this.append(
      element(
        'header', {},
        iconButton('back', t('photo.back'), () => this.#close()),
        this.#title,
        this.#move,
        session.may('photo.favorite') && this.#favourite,
        session.may('group.send') && this.#send,
        session.may('photo.rotate') && this.#turn,
        iconButton('slides', t('slides.begin'), () => this.#beginSlides(), { class: 'icon-button slides' }),
        // On a phone the share sheet is how a photo leaves it, and saves it too.
        shares
          ? iconButton('share', t('share.share'), () => this.photo && attempt(() => share(this.photo)))
          : iconButton('download', t('photo.download'), () => this.photo && attempt(() => this.#download()), { class: 'icon-button download' }),
        session.may('photo.delete') && iconButton('trash', t('photo.trash'), () => this.#trash()),
        this.#information),
      element('div', { class: 'photo-body' }, element('div', { class: 'stage' }, this.#surface, this.#film, this.#previous, this.#next, this.#notice), this.#facts));
    this.listen(document, 'keydown', (event) => this.#key(event));
    for (const stage of [this.#surface, this.#film]) stage.addEventListener('step', ({ detail }) => this.#step(detail));
    this.#film.addEventListener('over', () => this.#endMovement());
    this.#surface.addEventListener('sharper', () => this.#sharpen());
    this.#surface.addEventListener('leave', () => this.#close());
    this.#facts.addEventListener('slides', () => this.#beginSlides());
    this.#facts.addEventListener('turn', ({ detail }) => this.#rotate(detail));
    this.during(() => this.#stop?.());
    this.during(() => this.#unfollow?.());
    this.#title.focus();
  }

  /** Shows a photo of the list with these filters. */
  async show(uuid, parameters) {
    const wantsSlides = parameters.get('slides') === '1';
    if (this.#slides && !wantsSlides) {
      // Back has ended them. One is where they came to, and not where they began.
      const { photo } = this;
      this.#endSlides();
      if (photo && photo.uuid !== uuid) {
        this.#go(photo, this.#position);
        return;
      }
    }
    const opening = ++this.#opening;
    const filters = filterParameters(parameters);
    if (!this.#list || filters.toString() !== this.#parameters.toString()) this.#follow(this.timeline?.list);
    this.#parameters = filters;
    const known = this.photo?.uuid === uuid ? this.photo : this.#photoInList(uuid);
    // One has stepped to it, or its place is not known yet.
    if (uuid !== this.#uuid) this.#position = -1;
    this.#uuid = uuid;
    this.#stop?.();
    // What is observed may be newer than the reply to a question that was asked before it, and come first.
    let isObserved = false;
    this.#stop = observe('photo.observeOne', { uuid }, ({ photo }) => {
      isObserved = true;
      if (uuid === this.#uuid) this.#become(photo);
    }, (error) => this.#say(describe(error)));
    if (known) this.#draw(known);
    await attempt(async () => {
      const photo = await ask('photo.get', { uuid });
      const isLeft = () => opening !== this.#opening || uuid !== this.#uuid;
      if (isLeft()) return;
      if (!isObserved) this.#become(photo);
      if (!this.#list) {
        // Opened by a link, or before the timeline was there: a list of its own.
        const list = await new PhotoList(photoFilter(filters)).open();
        if (isLeft()) return;
        this.#follow(list);
        this.during(observe('event.subscribe', {}, () => list.refresh()));
      }
      this.#locate(photo);
      await this.#located;
      if (wantsSlides && !isLeft()) await this.#showSlides();
    });
  }

  /** Takes a list, whose photos move when the library changes. */
  #follow(list) {
    this.#unfollow?.();
    const moved = () => this.photo?.uuid === this.#uuid && this.#locate(this.photo);
    list?.addEventListener('changed', moved);
    this.#unfollow = () => list?.removeEventListener('changed', moved);
    this.#list = list;
  }

  #locate(photo) {
    const list = this.#list;
    const located = (async () => {
      const position = await list.locate(photo);
      if (located !== this.#located || photo.uuid !== this.#uuid || list !== this.#list) return;
      this.#isInList = position >= 0;
      // What has gone from the list keeps its place in it: the next one has moved up to there.
      if (this.#isInList) this.#position = position;
      // Nobody waits for what is only fetched ahead.
      this.#showNeighbours().catch(() => {});
    })();
    this.#located = located;
    // Whoever steps waits for it, and is told, and the next step tries again.
    located.catch(() => located === this.#located && (this.#located = Promise.resolve()));
  }

  #photoInList(uuid) {
    for (const position of [this.#position + 1, this.#position - 1]) {
      const photo = this.#list?.photoAt(position);
      if (photo?.uuid === uuid) return photo;
    }
    return undefined;
  }

  /** What is known of the photo has changed, or it is gone. */
  #become(photo) {
    if (!photo) {
      this.#say(t('photo.gone'));
      return;
    }
    this.#draw(photo);
    this.#facts.photo = photo;
    this.#facts.inert = false;
  }

  #draw(photo) {
    // With the picture, and not when the daemon has told more of it: a key that is pressed now means what is seen now.
    // The facts are of the whole photo, and wait for it.
    this.photo = photo;
    this.#facts.inert = true;
    this.#notice.hidden = true;
    this.#title.textContent = photo.caption || photoTime(photo, shortClockTime);
    this.#title.title = photo.name;
    document.title = `${photo.caption || photo.name} – SmilePile`;
    this.#favourite.setAttribute('aria-pressed', String(photo.isFavorite));
    const isFilm = photo.kind === 'film';
    this.#move.hidden = photo.kind !== 'moving';
    // What plays goes on where only the photo's facts have changed.
    const isMoving = photo.kind === 'moving' && this.#moving === photo.uuid;
    if (!isMoving) this.#endMovement();
    this.#film.hidden = !isFilm && !isMoving;
    this.#surface.hidden = isFilm;
    if (isFilm) this.#film.show(photo);
    if (!isFilm) this.#surface.show({
      key: `${photo.uuid} ${pictureVersion(photo)}`,
      pictures: (box) => picturesFor(photo, box),
      width: photo.width, height: photo.height,
      description: [photo.caption || photo.name, photoTime(photo)].join(', '),
    });
    this.#film.dataset.turned = photo.rotation ?? 0;
    this.#turn.hidden = isFilm || Boolean(photo.unseenBy);
    // A placeholder is nothing to send.
    this.#send.hidden = Boolean(photo.unseenBy);
    if (photo.unseenBy && !isFilm) this.#say(t('photo.unseen'));
  }

  #say(text) {
    this.#notice.replaceChildren(icon('photos'), element('p', {}, text));
    this.#notice.hidden = false;
  }

  async #showNeighbours() {
    const [before, after] = [this.#neighbour(-1), this.#neighbour(1)];
    this.#previous.disabled = before === undefined;
    this.#next.disabled = after === undefined;
    if (this.#position < 0) return;
    const photos = await this.#list.photosIn(before ?? this.#position, Math.min((after ?? this.#position) + 2, this.#list.total));
    // The browser keeps them, so that going there shows them at once.
    for (const photo of photos) {
      if (photo.uuid !== this.photo?.uuid) this.#surface.fetchAhead(photo.width, photo.height, (box) => picturesFor(photo, box));
    }
  }

  /** Where in the list the one before (`step` is -1) or after (1) is; newer ones are before. */
  #neighbour(step) {
    const target = this.#position + (step > 0 && !this.#isInList ? 0 : step);
    return this.#position >= 0 && target >= 0 && target < this.#list.total ? target : undefined;
  }

  async #photoAfter(step) {
    await this.#located;
    const target = this.#neighbour(step);
    if (target === undefined) return {};
    const [photo] = await this.#list.photosIn(target, target + 1);
    return { target, photo };
  }

  /** To the photo before or after this one. */
  async #step(step) {
    const { target, photo } = await attempt(() => this.#photoAfter(step)) ?? {};
    if (!photo) return;
    this.#go(photo, target);
  }

  #go(photo, position) {
    this.#position = position;
    this.#isInList = true;
    this.#uuid = photo.uuid;
    this.#draw(photo);
    // One step back leaves the photos, however many one has gone through.
    go(this.#addressOf(photo, Boolean(this.#slides)), { replace: true });
  }

  #addressOf(photo, withSlides) {
    return address('photo', { id: photo.uuid, parameters: new URLSearchParams([...this.#parameters, ...(withSlides ? [['slides', '1']] : [])]) });
  }

  /** A place of its own: Back ends them, and a tablet that is started again goes on. */
  #beginSlides() {
    if (this.photo && !this.#slides) go(this.#addressOf(this.photo, true));
  }

  async #showSlides() {
    if (this.#slides) return;
    const [slides] = await Promise.all([import('./slide-show.js').then(() => element('slide-show')), styles('/assets/photo/slide-show.css')]);
    if (this.#slides || !this.isConnected) return;
    this.#slides = slides;
    this.#endMovement();
    slides.list = this.#list;
    slides.addEventListener('shown', ({ detail: { photo, position } }) => photo.uuid !== this.#uuid && this.#go(photo, position));
    slides.addEventListener('over', () => back(this.#addressOf(this.photo, false)));
    for (const part of this.children) part.inert = true;
    this.append(slides);
    slides.begin(this.#position);
  }

  #endSlides() {
    this.#slides.remove();
    this.#slides = undefined;
    for (const part of this.children) part.inert = false;
    this.#title.focus();
  }

  async #toggleFavourite() {
    const { photo } = this;
    if (photo) await attempt(() => setFavourite([photo], !photo.isFavorite));
  }

  /** Turns the photo by degrees clockwise. */
  #rotate(degrees) {
    const { photo } = this;
    if (!photo || !session.may('photo.rotate')) return;
    this.#turned = this.#turned.then(() => attempt(async () => {
      // What is pressed twice means the photo that was seen.
      if (this.photo?.uuid !== photo.uuid) return;
      const [turned] = await turn([this.photo], degrees);
      if (turned && turned.uuid === this.#uuid) this.#become(turned);
    }));
  }

  /** Plays what a photo that moves has of movement, once, or ends that. */
  #toggleMovement() {
    const { photo } = this;
    if (this.#moving || photo?.kind !== 'moving') {
      this.#endMovement();
      return;
    }
    this.#moving = photo.uuid;
    this.#move.setAttribute('aria-pressed', 'true');
    this.#film.hidden = false;
    this.#film.show(photo);
    this.#film.toggle();
  }

  #endMovement() {
    this.#moving = undefined;
    this.#move.setAttribute('aria-pressed', 'false');
    this.#film.hidden = true;
    this.#film.stop();
  }

  async #trash() {
    const { photo } = this;
    if (!photo || !session.may('photo.delete')) return;
    const { target, photo: neighbour } = await attempt(() => this.#photoAfter(1)) ?? {};
    const done = await attempt(async () => (await moveToTrash([photo]), true));
    if (!done) return;
    if (neighbour) this.#go(neighbour, target);
    else this.#close();
  }

  /** The original, or where the photo is two files, both in a ZIP. */
  async #download() {
    const { photo } = this;
    const { downloadTogether } = await import('../timeline/zip-download.js');
    // Lists say by which date they have sorted it.
    await downloadTogether([{ ...photo, shownAt: shownAt(photo) }]);
  }

  async #sendToGroup() {
    const { photo } = this;
    if (!photo) return;
    const [{ sendToGroup }] = await Promise.all([import('../groups/send-photo.js'), styles('/assets/groups/groups.css')]);
    await sendToGroup(photo);
  }

  /** Zoomed in further than the photo has pixels: the original, where it has more and a browser can show it. */
  #sharpen() {
    const { photo } = this;
    const shown = ['jpg', 'jpeg', 'png', 'webp', 'avif', 'gif'];
    const extension = photo?.originalPath?.split('.').at(-1).toLowerCase();
    // An original is as the camera held it.
    if (photo?.kind !== 'film' && !photo?.rotation && photo?.originalPath && photo.originalPath !== photo.path && shown.includes(extension)) {
      this.#surface.sharpen(pictureAddress(photo, 'original'));
    }
  }

  #toggleFacts() {
    this.#facts.hidden = !this.#facts.hidden;
    this.#information.setAttribute('aria-expanded', String(!this.#facts.hidden));
    if (!this.#facts.hidden) this.#facts.photo = this.photo;
  }

  #close() {
    document.title = 'SmilePile';
    back(address('photos', { parameters: this.#parameters }));
  }

  #key(event) {
    if (this.#slides || document.querySelector('dialog[open]') || event.target.closest?.('input, textarea, select')) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Of a button that has the focus, a space presses that.
    if (event.key === ' ' && (!['film', 'moving'].includes(this.photo?.kind) || event.target.closest?.('button, video'))) return;
    const keys = {
      ' ': () => (this.photo.kind === 'film' ? this.#film.toggle() : this.#toggleMovement()),
      Escape: () => this.#close(), f: () => this.#toggleFavourite(), s: () => this.#beginSlides(), i: () => this.#toggleFacts(),
      r: () => this.#rotate(90), R: () => this.#rotate(-90), Delete: () => this.#trash(),
      '+': () => this.#surface.zoom(1.4), '=': () => this.#surface.zoom(1.4), '-': () => this.#surface.zoom(1 / 1.4), 0: () => this.#surface.fit(),
      ArrowLeft: () => this.#surface.pan(80, 0) || this.#step(-1), ArrowRight: () => this.#surface.pan(-80, 0) || this.#step(1),
      ArrowUp: () => this.#surface.pan(0, 80), ArrowDown: () => this.#surface.pan(0, -80),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    document.title = 'SmilePile';
  }
}

customElements.define('photo-view', PhotoView);
