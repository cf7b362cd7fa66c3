// The timeline: all photos, or those that the filters in the address leave, newest first.

import { Component, element, icon } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address, current, filterParameters, go, onChange, photoFilter } from '../core/router.js';
import { session } from '../core/session.js';
import { t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import './filter-bar.js';
import { firstSteps } from './first-steps.js';
import { onThisDay } from './on-this-day.js';
import { PhotoList } from './photo-list.js';
import './photo-timeline.js';
import { Selection } from './selection.js';
import './time-scrubber.js';
import { followShortcuts } from './timeline-shortcuts.js';
import './timeline-strip.js';

/** Milliseconds that the first pictures wait for what stands above them; what comes later stands above what is seen by then. */
const longestWait = 100;
/** Milliseconds between two looks at what stands there, while the library changes all the time. */
const betweenLooks = 10_000;
/** Pixels that a hand scrolls down until the filters give way on a phone, and up until they are back. */
const [givesWay, comesBack] = [96, 32];
const phone = matchMedia('(max-width: 640px)');

class TimelineScreen extends Component {
  /** The list that is shown, for the photo view that opens over it. */
  list;
  #parameters;
  #selection = new Selection();
  #filters = element('filter-bar');
  #header = element('header', { class: 'timeline-header' }, this.#filters);
  #strip = element('timeline-strip');
  #timeline = element('photo-timeline');
  #scrubber = element('time-scrubber');
  #notice = element('div', { class: 'notice', hidden: true });
  #bar;
  #openings = 0;
  /** How far a hand has scrolled in one direction; down is positive. */
  #travelled = 0;
  #lookedAt = 0;

  connectedCallback() {
    this.#strip.timeline = this.#timeline;
    this.append(
      element('h1', { class: 'unseen', tabindex: '-1' }, t('screen.photos')), this.#header, this.#strip,
      element('div', { class: 'timeline-body' }, this.#timeline, this.#scrubber, this.#notice));
    this.during(onChange((place) => place.screen === 'photos' && this.#follow(place)));
    this.#timeline.addEventListener('moved', ({ detail }) => {
      this.#scrubber.position = detail.position;
      this.#giveWay(detail);
    });
    this.listen(phone, 'change', () => this.#show(true));
    // Who comes with the keyboard finds everything in its place.
    this.#header.addEventListener('focusin', () => this.#show(true));
    this.#strip.addEventListener('focusin', ({ target }) => target.matches(':focus-visible') && this.#show(true));
    this.#scrubber.addEventListener('jump', ({ detail }) => this.#timeline.scrub(detail));
    this.#scrubber.addEventListener('release', () => this.list?.total && attempt(() => this.#timeline.jump(this.#timeline.topPosition)));
    this.#selection.addEventListener('changed', () => this.#showSelection());
    followShortcuts(this, {
      timeline: this.#timeline, selection: this.#selection,
      search: () => {
        this.#selection.clear();
        this.#filters.focusText();
      },
    });
    this.during(observe('event.subscribe', {}, ({ changed }) => {
      if (changed.length === 0 || changed.includes('photos') || changed.includes('categories')) this.#changed();
    }));
    this.#follow(current());
  }

  /** Shows what an address filters by. A photo's address has the same filters as the list that it is in. */
  #follow({ parameters }) {
    const filters = filterParameters(parameters);
    this.#filters.show(filters);
    if (this.#parameters === filters.toString()) return;
    this.#parameters = filters.toString();
    this.#open(filters);
  }

  async #open(filters) {
    const opening = ++this.#openings;
    const list = new PhotoList(photoFilter(filters));
    this.#selection.clear();
    this.#timeline.setAttribute('aria-busy', 'true');
    try {
      await list.open();
    } catch (error) {
      if (opening !== this.#openings) return;
      // The one before is of another filter: it is not what comes back with the daemon.
      this.list = undefined;
      this.#fail(error);
      return;
    }
    const late = new Promise((resolve) => setTimeout(resolve, longestWait));
    const lead = this.#above(list);
    const inTime = await Promise.race([lead, late]);
    if (opening !== this.#openings) return;
    this.list = list;
    this.#show(true);
    this.#timeline.removeAttribute('aria-busy');
    this.#timeline.linkParameters = filters;
    this.#timeline.start(list, this.#selection, inTime);
    lead.then((found) => this.list === list && this.#timeline.showAbove(found));
    // After the timeline, which has laid out anew then what its position is asked of.
    list.addEventListener('changed', () => this.list === list && this.#showTotal());
    list.addEventListener('changed', () => this.#lookAgain(list));
    list.addEventListener('failed', ({ detail }) => this.list === list && list.total === 0 && this.#fail(detail));
    this.#showTotal();
  }

  /** What stands above the list of all photos: what is still to be done with a new library, and what was on this day in other years. */
  async #above(list) {
    this.#lookedAt = performance.now();
    if (this.#parameters !== '' || list.total === 0) return undefined;
    // Without them everything else is there: nobody has asked for them.
    const parts = await Promise.all([
      session.may('settings.get') && firstSteps(() => this.#lookAgain(list, true)), onThisDay(list.months, this.#timeline.clientWidth),
    ].map((part) => part && part.catch(() => undefined)));
    const found = parts.filter(Boolean);
    return found.length > 0 ? element('div', { class: 'lead' }, found) : undefined;
  }

  async #lookAgain(list, isAsked = false) {
    if (this.list !== list || (!isAsked && performance.now() - this.#lookedAt < betweenLooks)) return;
    const lead = await this.#above(list);
    if (this.list === list) this.#timeline.showAbove(lead, isAsked);
  }

  /** On a phone the filters give way when one scrolls down, and are back when one scrolls up. */
  #giveWay({ y, pixels }) {
    if (!phone.matches) return;
    this.#travelled = this.#travelled * pixels < 0 ? pixels : this.#travelled + pixels;
    if (this.#travelled < -comesBack || y < givesWay) this.#show(true);
    else if (this.#travelled > givesWay && !this.#header.contains(document.activeElement)) this.#show(false);
  }

  #show(isShown) {
    if (this.classList.contains('gives-way') === !isShown) return;
    this.classList.toggle('gives-way', !isShown);
    this.#travelled = 0;
  }

  #changed() {
    // The first event is the state at the beginning, which is being read anyway.
    if (this.list) this.list.refresh();
    else if (!this.#notice.hidden) this.#open(new URLSearchParams(this.#parameters));
  }

  #showTotal() {
    const { list } = this;
    this.#strip.total = list.total;
    this.#scrubber.list = list;
    this.#scrubber.position = this.#timeline.topPosition;
    // With the first photos there is something to stand above.
    if (!this.#notice.hidden && list.total > 0) this.#lookAgain(list, true);
    this.#notice.hidden = list.total > 0;
    if (list.total > 0) return;
    const filtered = this.#parameters !== '';
    this.#notice.replaceChildren(element(
      'div', { class: 'empty' },
      icon(filtered ? 'search' : 'photos'),
      element('h2', {}, t(filtered ? 'timeline.noneFound' : 'timeline.none')),
      (filtered || session.may('library.importUploads')) && element('p', { class: 'quiet' }, t(filtered ? 'timeline.noneFoundHelp' : 'timeline.noneHelp')),
      filtered
        ? element('button', { type: 'button', class: 'button', onclick: () => go(address('photos')) }, t('filter.clear'))
        : session.may('library.importUploads') && element('a', { class: 'button primary', href: address('import') }, t('screen.import'))));
  }

  #fail(error) {
    const older = error.status === 'unimplemented' || !session.offers('photo.timeline');
    this.#timeline.removeAttribute('aria-busy');
    this.#notice.hidden = false;
    this.#notice.replaceChildren(element(
      'div', { class: 'empty', role: 'alert' }, icon('away'),
      element('p', {}, older ? t('timeline.daemonTooOld') : describe(error)),
      element('button', { type: 'button', class: 'button', onclick: () => this.#open(new URLSearchParams(this.#parameters)) }, t('error.again'))));
  }

  async #showSelection() {
    const some = this.#selection.size > 0;
    if (some && !this.#bar) {
      // The tools come when something is selected for the first time.
      this.#bar = element('selection-bar');
      this.#bar.selection = this.#selection;
      await attempt(() => import('./selection-bar.js'));
      this.#header.after(this.#bar);
    }
    if (this.#bar) this.#bar.hidden = this.#selection.size === 0;
    this.#header.hidden = this.#selection.size > 0;
  }

  /** Back from a photo: to its tile, which is scrolled to where it is not seen. */
  async focusPhoto(photo) {
    if (!photo || !this.list) return;
    const position = await attempt(() => this.list.locate(photo));
    if (position >= 0) this.#timeline.focusPosition(position);
  }
}

customElements.define('timeline-screen', TimelineScreen);
