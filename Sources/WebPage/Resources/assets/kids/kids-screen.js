// What a kid sees: the categories as big tiles, the photos of one, and one photo after the other. There is nothing to
// break and nothing else to press; what the daemon lets this browser do is as little as what is shown. The lock asks
// for the PIN.

import { ask, pictureAddress } from '../core/daemon.js';
import { Component, element, icon, iconButton, styles } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { pictureKind, picturesFor } from '../core/pictures.js';
import { address, back, current, go, onChange } from '../core/router.js';
import { session } from '../core/session.js';
import { duration, photoTime, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { PhotoList } from '../timeline/photo-list.js';
import { Selection } from '../timeline/selection.js';
import '../photo/film-player.js';
import '../photo/zoom-surface.js';

class KidsScreen extends Component {
  #title = element('h1', { tabindex: '-1' });
  #back = iconButton('back', t('kids.back'), () => this.#goBack());
  #body = element('div', { class: 'kids-body' });
  #categories = [];
  #list;
  /** Where the photo is that is shown, or was before it went from the category. */
  #position = 0;
  #isInList = false;
  #surface;
  #film;
  #steps = 0;
  #unfollow;

  async connectedCallback() {
    this.append(
      // On a child's device the PIN gives nothing.
      element('header', {}, this.#back, this.#title, session.ceiling !== 'kid' && iconButton('locked', t('kids.parents'), () => this.#unlock(), { class: 'icon-button lock' })),
      this.#body);
    this.during(onChange(() => this.#show()));
    this.during(() => this.#unfollow?.());
    this.during(observe('category.observe', {}, ({ categories }) => {
      this.#categories = categories;
      const { category } = this.#place;
      if (!category) this.#show();
      // A parent has chosen others for this device, or there is none any more.
      else if (!categories.some(({ id }) => id === category)) go(address('kids'), { replace: true });
    }));
    this.listen(document, 'keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step && this.#place.photo && !document.querySelector('dialog[open]')) this.#step(step);
      if (event.key === 'Escape') this.#goBack();
    });
    await Promise.all([styles('/assets/kids/kids.css'), styles('/assets/photo/photo.css')]);
    this.#show();
  }

  /** `#/kids?category=3`, and with a photo in it `#/kids/UUID?category=3`. */
  get #place() {
    const { screen, id, parameters } = current();
    const category = screen === 'kids' ? Number(parameters.get('category')) || undefined : undefined;
    return { category, photo: category && id };
  }

  #goBack() {
    const { category, photo } = this.#place;
    if (photo) back(address('kids', { parameters: { category } }));
    else if (category) back(address('kids'));
  }

  async #show() {
    const step = ++this.#steps;
    const { category, photo } = this.#place;
    this.#back.hidden = !category;
    this.#title.textContent = this.#categories.find(({ id }) => id === category)?.displayName ?? t('kids.title');
    this.classList.toggle('looking', Boolean(photo));
    if (!category) {
      this.#showCategories();
      return;
    }
    await attempt(async () => {
      if (this.#list?.filter.categoryId !== category) {
        const list = await new PhotoList({ categoryId: category }).open();
        if (step !== this.#steps) return;
        this.#follow(list, category);
      }
      if (photo) await this.#showPhoto(photo, step);
      else this.#showPhotos(category);
    });
  }

  #follow(list, category) {
    this.#list = list;
    // A commit that touches what a kid may see; events of the whole library are for parents.
    this.#unfollow?.();
    this.#unfollow = observe('photo.observe', { categoryId: category, limit: 200 }, () => list.refresh());
    // The one that is looked at is elsewhere in it now, or has gone.
    list.addEventListener('changed', () => list === this.#list && this.#place.photo && this.#show());
  }

  #showCategories() {
    const filled = this.#categories.filter(({ photoCount }) => photoCount > 0);
    this.#surface = undefined;
    this.#list = undefined;
    this.#unfollow?.();
    if (filled.length === 0) {
      this.#body.replaceChildren(element('div', { class: 'empty' }, icon('smile'), element('p', {}, t('kids.none'))));
      return;
    }
    this.#body.replaceChildren(element('ul', { class: 'kids-categories' }, filled.map(({ id, displayName, colorHex }) => {
      const link = element('a', { href: address('kids', { parameters: { category: id } }), css: { '--colour': colorHex } }, element('span', {}, displayName));
      ask('photo.search', { categoryId: id, limit: 1 }).then(({ photos: [newest] }) => (
        newest && link.prepend(element('img', { src: pictureAddress(newest, pictureKind(newest, link.getBoundingClientRect())), alt: '' }))), () => {});
      return element('li', {}, link);
    })));
  }

  #showPhotos(category) {
    this.#surface = undefined;
    const timeline = element('photo-timeline', { class: 'kids-photos' });
    timeline.isForKids = true;
    timeline.linkTo = (photo) => address('kids', { id: photo.uuid, parameters: { category } });
    this.#body.replaceChildren(timeline);
    timeline.start(this.#list, new Selection());
  }

  async #showPhoto(uuid, step) {
    // The one of this category: whoever goes back meanwhile has none any more.
    const list = this.#list;
    let photo;
    try {
      photo = await ask('photo.get', { uuid });
    } catch (error) {
      if (error.status !== 'not_found' && error.status !== 'permission_denied') throw error;
      // It has gone, or is none of a kid's any more.
      if (step === this.#steps) this.#goBack();
      return;
    }
    const position = await list.locate(photo);
    if (step !== this.#steps) return;
    this.#isInList = position >= 0;
    if (this.#isInList) this.#position = position;
    if (!this.#surface?.isConnected) {
      this.#surface = element('zoom-surface');
      this.#film = element('film-player');
      for (const stage of [this.#surface, this.#film]) stage.addEventListener('step', ({ detail }) => this.#step(detail));
      this.#body.replaceChildren(element(
        'div', { class: 'stage' }, this.#surface, this.#film,
        iconButton('previous', t('photo.newer'), () => this.#step(-1), { class: 'icon-button step previous' }),
        iconButton('next', t('photo.older'), () => this.#step(1), { class: 'icon-button step next' })));
    }
    this.#body.querySelector('.previous').disabled = this.#position === 0;
    this.#body.querySelector('.next').disabled = this.#neighbour(1) >= list.total;
    const isFilm = photo.kind === 'film';
    this.#film.hidden = !isFilm;
    this.#surface.hidden = isFilm;
    if (isFilm) this.#film.show(photo);
    else this.#film.stop();
    if (!isFilm) this.#surface.show({
      key: `${photo.uuid} ${photo.rotation ?? 0}`, pictures: (box) => picturesFor(photo, box),
      width: photo.width, height: photo.height, description: [photo.caption || photo.name, photo.takenAt && photoTime(photo)].filter(Boolean).join(', '),
    });
    const near = await list.photosIn(Math.max(0, this.#position - 1), Math.min(this.#position + 3, list.total));
    for (const one of near) this.#surface?.fetchAhead(one.width, one.height, (box) => picturesFor(one, box));
  }

  #neighbour(step) {
    return this.#position + (step > 0 && !this.#isInList ? 0 : step);
  }

  async #step(step) {
    const target = this.#neighbour(step);
    if (target < 0 || target >= this.#list.total) return;
    const [photo] = await attempt(() => this.#list.photosIn(target, target + 1)) ?? [];
    if (photo) go(address('kids', { id: photo.uuid, parameters: { category: this.#place.category } }), { replace: true });
  }

  async #unlock() {
    const field = element('input', { type: 'password', name: 'pin', autocomplete: 'off', inputmode: 'text', required: true });
    const status = await attempt(() => ask('pin.status'));
    let guesses = [];
    await showDialog({
      title: t('kids.parents'), action: t('kids.unlock'),
      body: [
        element('label', {}, t('pin.pin'), field),
        status?.retryAfterMs > 0 && element('p', { class: 'quiet' }, t('pin.wait', { time: duration(status.retryAfterMs / 1000) }))].filter(Boolean),
      opened: () => field.focus(),
      act: async () => {
        try {
          guesses = await session.unlock(field.value);
        } catch (error) {
          field.value = '';
          field.focus();
          throw error;
        }
      },
    });
    if (session.state === 'kid') return;
    go(address('photos'));
    for (const { name, count } of guesses) {
      toast(name ? t('pin.guessedOn', { count, name }) : t('pin.guessedHere', { count }));
    }
  }
}

customElements.define('kids-screen', KidsScreen);
