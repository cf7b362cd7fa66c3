// The frame around the screens: who is looking (a browser that is not known, a parent, a kid), the navigation, the
// notice that the daemon is away, and the place where one screen is shown at a time.

import { way } from '../core/daemon.js';
import { Component, element, icon, styles, textButton } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address, current, go, onChange } from '../core/router.js';
import { session } from '../core/session.js';
import { t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import { beginKidsMode } from '../kids/kids-mode.js';
import { screens } from './screens.js';

class AppShell extends Component {
  #main = element('main', { id: 'main', tabindex: '-1' });
  #navigation = element('nav', { 'aria-label': t('shell.navigation') });
  #away = element('p', { class: 'away', role: 'status', hidden: true }, icon('away'), t('shell.away'));
  #unlocked = element(
    'p', { class: 'unlocked', hidden: true }, icon('unlocked'), element('span', {}, t('shell.unlocked')),
    textButton(t('shell.lock'), () => attempt(() => session.lock())));
  /** Uploads, on every screen of a parent. */
  #uploads;
  #screen;
  #photo;
  #retry;
  #steps = 0;
  /** Whether there is a PIN, without which kids mode has no way back; nothing until it is known. */
  #hasPIN;
  #settings;
  /** The role that the screen was made for: what it offers depends on that. */
  #role;
  /** When what was dragged over the page was dropped or taken away last. */
  #dragEnded = 0;

  connectedCallback() {
    this.append(
      element('a', { class: 'skip', href: '#main', onclick: (event) => (event.preventDefault(), this.#main.focus()) }, t('shell.skip')),
      this.#navigation,
      element('div', { class: 'content' }, element('aside', { 'aria-label': t('shell.notices') }, this.#away, this.#unlocked), this.#main),
      element('toast-list'));
    this.during(onChange(() => this.#show()));
    this.listen(session, 'changed', () => this.#show());
    this.listen(way, 'away', () => this.#setAway(true));
    this.listen(way, 'reached', () => this.#setAway(false));
    this.listen(document, 'dragenter', (event) => this.#offerImport(event));
    this.listen(document, 'drop', ({ timeStamp }) => (this.#dragEnded = timeStamp));
    this.listen(document, 'dragleave', ({ timeStamp, relatedTarget }) => relatedTarget ?? (this.#dragEnded = timeStamp));
    this.#show();
    session.refresh();
  }

  #setAway(away) {
    if (away === !this.#away.hidden) return;
    this.#away.hidden = !away;
    clearInterval(this.#retry);
    // Observations come back by themselves; a page that has none yet asks until somebody answers.
    if (away) this.#retry = setInterval(() => session.refresh(), 2000);
    else session.refresh();
  }

  /** Behind the first view: a browser that waits for pictures is idle, and would fetch this before them. */
  #bringUploads() {
    if (this.#uploads?.isConnected) return;
    this.#uploads ??= element('upload-notice', { hidden: true });
    this.#unlocked.after(this.#uploads);
    const load = () => import('../import/upload-notice.js').catch(() => {});
    setTimeout(load, 1500);
  }

  /** Shows what the address and the role say. */
  async #show() {
    const step = ++this.#steps;
    const { state } = session;
    this.dataset.state = state;
    this.#unlocked.hidden = !session.unlocked;
    if (state === 'parent') this.#bringUploads();
    else if (state !== 'starting' && state !== 'away') this.#uploads?.remove();
    if (state === 'starting' || state === 'away') {
      this.#navigation.hidden = true;
      if (state === 'away') {
        this.#screen = element('div', { class: 'empty' }, icon('away'), element('h1', {}, t('shell.awayTitle')), element('p', { class: 'quiet' }, t('error.unreachable')));
        this.#main.replaceChildren(this.#screen);
      }
      return;
    }
    if (state !== this.#role) {
      this.#role = state;
      this.#closePhoto();
      this.#screen?.remove();
      this.#settings?.();
      this.#settings = undefined;
    }
    // An invitation to a group is for another family's machine, and nothing that an address or a history should keep.
    if (state !== 'unpaired' && location.hash.startsWith('#join=')) history.replaceState(null, '', address('groups'));
    // So is one that lets another machine of theirs in, and the page has no screen for that.
    if (state !== 'unpaired' && location.hash.startsWith('#reviews=')) history.replaceState(null, '', address('photos'));
    if (state === 'unpaired' || state === 'kid') {
      this.#navigation.hidden = true;
      this.#closePhoto();
      const [tag, load] = state === 'kid'
        ? ['kids-screen', () => import('../kids/kids-screen.js')]
        : ['pairing-screen', () => import('./pairing-screen.js')];
      await load();
      if (step === this.#steps) this.#put(tag);
      return;
    }
    // Paired already: the code stays unused, and out of the history.
    if (location.hash.startsWith('#pair=')) history.replaceState(null, '', address('photos'));
    const place = current();
    this.#navigation.hidden = false;
    if (session.may('settings.observe')) this.#settings ??= observe('settings.observe', {}, ({ parentalLockEnabled }) => {
      if (parentalLockEnabled === this.#hasPIN) return;
      this.#hasPIN = parentalLockEnabled;
      if (session.state === 'parent') this.#navigate(current().screen === 'photo' ? 'photos' : current().screen);
    });
    this.#navigate(place.screen === 'photo' ? 'photos' : place.screen);
    if (place.screen === 'photo') {
      // The timeline stays where it was below the photo, so that going back is where one came from.
      if (this.#screen?.localName !== 'timeline-screen') this.#put('timeline-screen');
      await this.#openPhoto(place, step);
      return;
    }
    this.#closePhoto();
    const screen = this.#isOffered(screens[place.screen]) ? screens[place.screen] : screens.photos;
    const loading = screen.load?.();
    await attempt(async () => loading);
    if (step === this.#steps) this.#put(screen.tag);
  }

  #isOffered(screen) {
    return Boolean(screen) && (!screen.needs || session.may(screen.needs));
  }

  #put(tag) {
    if (this.#screen?.localName === tag && this.#screen.isConnected) return;
    this.#screen = element(tag);
    this.#main.replaceChildren(this.#screen);
    this.#main.scrollTop = 0;
    // The heading says where one is; not on the first screen, where the focus is still at the top.
    if (this.#steps > 2) this.#main.querySelector('h1')?.focus();
  }

  async #openPhoto(place, step) {
    await attempt(() => Promise.all([import('../photo/photo-view.js'), styles('/assets/photo/photo.css')]));
    if (step !== this.#steps) return;
    if (!this.#photo) {
      this.#photo = element('photo-view');
      this.#photo.timeline = this.#screen;
      // Above the photo too, which covers the rest.
      this.#photo.append(this.#away);
      this.append(this.#photo);
      for (const part of [this.#navigation, this.#main.parentElement]) part.inert = true;
    }
    this.#photo.show(place.id, place.parameters);
  }

  #closePhoto() {
    if (!this.#photo) return;
    const { photo } = this.#photo;
    this.#unlocked.before(this.#away);
    this.#photo.remove();
    this.#photo = undefined;
    for (const part of [this.#navigation, this.#main.parentElement]) part.inert = false;
    this.#screen?.focusPhoto?.(photo);
  }

  #navigate(active) {
    const offered = Object.entries(screens).filter(([, screen]) => this.#isOffered(screen));
    const link = ([name, { icon: picture, main }]) => element(
      'a', { href: address(name), class: main ? undefined : 'secondary', 'aria-current': name === active && 'page' },
      icon(picture), element('span', {}, t(`screen.${name}`)));
    const kids = () => session.may('mode.set') && element(
      'button', { type: 'button', class: 'secondary', title: t('kids.toggleHelp'), onclick: () => this.#beginKids() },
      icon('smile'), element('span', {}, t('kids.toggle')));
    const inMore = offered.some(([name, { main }]) => name === active && !main);
    this.#navigation.replaceChildren(
      element('p', { class: 'brand', 'aria-hidden': 'true' }, icon('smile'), element('span', {}, 'SmilePile')),
      ...[...offered.map(link), kids()].filter(Boolean),
      element(
        'button', { type: 'button', class: inMore ? 'more active' : 'more', onclick: () => this.#more([...offered.filter(([, { main }]) => !main).map(link), kids()].filter(Boolean)) },
        icon('more'), element('span', {}, t('shell.more'))));
  }

  /** Where there is no PIN yet, the settings say how to get one. */
  #beginKids() {
    if (this.#hasPIN) beginKidsMode();
    else go(address('settings'));
  }

  #more(links) {
    showDialog({
      title: t('shell.more'),
      kind: 'menu',
      body: links,
      opened: (dialog) => dialog.addEventListener('click', (event) => event.target.closest('a, button.secondary') && dialog.close()),
    });
  }

  /** Files that are dragged over the page from elsewhere: the import screen takes them wherever they are dropped. */
  async #offerImport(event) {
    if (session.state !== 'parent' || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    const { offerDrop } = await import('../import/drop-target.js');
    // Else nobody would be there to end it.
    if (event.timeStamp > this.#dragEnded) offerDrop();
  }
}

customElements.define('app-shell', AppShell);
