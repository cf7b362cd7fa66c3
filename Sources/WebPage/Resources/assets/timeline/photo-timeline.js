// The tiles of a list of photos of any length, in a box that scrolls.
//
// Browsers cap the height of an element at some 16 million pixels, and a million photos on a phone need 40 million. So
// the box scrolls over a canvas of a bounded height, and `#origin` is the height in the list that the canvas begins at:
// what is at `y` in the list is at `y - #origin` on the canvas. Near an edge of the canvas, and when scrolling rests,
// the origin is moved and the box scrolled by the same amount, which nobody sees. Where something above turns out to be
// higher than was guessed, it is again the origin that moves, and what one looks at stays.
//
// Only tiles that are seen, and some above and below, are elements; they are used again as one scrolls. So the page is
// as large with a million photos as with a thousand.

import { Component, element } from '../core/dom.js';
import { address } from '../core/router.js';
import { t } from '../core/text.js';
import { remember, remembered } from '../core/preferences.js';
import { toast, toastError } from '../core/toasts.js';
import { mostSelected } from './selection.js';
import { TimelineDrawing } from './timeline-drawing.js';
import { followHands } from './timeline-hands.js';
import { keyOfTimeline } from './timeline-keys.js';
import { TimelineLayout, tileSizes } from './timeline-layout.js';

/** The canvas: far below any browser's cap, at any number of device pixels a CSS pixel. */
const canvasHeight = 1_000_000;
/** How near its edge the canvas is moved on. */
const canvasEdge = 20_000;
/** The size to begin with: three in a row on a phone, and not a thousand pictures at once on a wall. */
const firstSize = () => [640, 1100, 2000].findIndex((width) => innerWidth < width) + 1 || tileSizes.length - 1;
const gap = 4;
/** Pixels a frame above which pictures are not asked for: they would be gone before they came. */
const fastScroll = 900;

/**
 * Events: `moved` when what is at the top has changed; its `detail` has the height `y` in the list and the `position` that are there, and by
 * how many `pixels` a hand has scrolled, down being positive.
 * Set `linkParameters`, then call `start`.
 */
class PhotoTimeline extends Component {
  #list;
  #selection;
  #layout;
  #canvas = element('div', { class: 'canvas' });
  #origin = 0;
  /** The top edge of the box in the window. */
  #boxTop = 0;
  #drawing = new TimelineDrawing(this.#canvas);
  #frame;
  #resting;
  #lastY = 0;
  #turns = 0;
  #lead;
  #leadHeight = 0;
  #size = Math.min(tileSizes.length - 1, Math.max(0, Number(remembered('tileSize') ?? firstSize())));
  #isSquare = remembered('tileShape') === 'square';
  /** What the links of tiles carry: the filters, so that a photo knows its neighbours. */
  linkParameters = new URLSearchParams();
  /** Where the tile of a photo leads. */
  linkTo = (photo) => address('photo', { id: photo.uuid, parameters: this.linkParameters });
  /** Big tiles of one size, and nothing that is selected. */
  isForKids = false;

  connectedCallback() {
    this.tabIndex = -1;
    this.append(this.#canvas);
    this.listen(this, 'scroll', () => this.#later(), { passive: true });
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(this);
    this.during(() => resized.disconnect());
    if (!this.isForKids) followHands(this);
    this.listen(this, 'keydown', (event) => keyOfTimeline(this, event));
    this.listen(this, 'focusin', ({ target }) => {
      const tile = target.closest?.('.tile');
      if (tile) this.#drawing.active = tile.position;
    });
  }

  /** Shows a list from its beginning, below what is to be above it. */
  start(list, selection, lead) {
    this.#list?.owner?.abort();
    this.#list = list;
    const owner = new AbortController();
    list.owner = owner;
    const { signal } = owner;
    this.during(() => owner.abort());
    list.addEventListener('photos', ({ detail: { from, to, isNews } }) => (
      isNews ? this.#keeping(() => this.#layout.photosRead(from, to)) : this.#later()), { signal });
    list.addEventListener('days', ({ detail: month }) => this.#keeping(() => this.#layout.daysRead(month)), { signal });
    list.addEventListener('changed', () => this.#relayout(true), { signal });
    this.#selection = selection;
    selection.addEventListener('changed', () => this.#showSelection(), { signal });
    this.#layout = undefined;
    this.#drawing.begin(list, selection, this.linkTo);
    this.#putLead(lead);
    this.#relayout();
    this.#moveTo(0);
  }

  /** Shows something above the first month, or nothing. What one looks at stays; at the top it comes into view where `isWanted`. */
  showAbove(lead, isWanted) {
    if (lead === this.#lead) return;
    const [y, height] = [this.y, this.#leadHeight];
    this.#putLead(lead);
    this.#relayout();
    if (y > 4 || this.#leadHeight <= height || isWanted) return;
    this.#setCanvas(y + this.#leadHeight - height);
    // No hand has scrolled there.
    this.#lastY = this.y;
  }

  #putLead(lead) {
    this.#lead?.remove();
    this.#lead = lead;
    if (lead) this.#canvas.prepend(lead);
  }

  get list() {
    return this.#list;
  }

  get layout() {
    return this.#layout;
  }

  get selection() {
    return this.#selection;
  }

  /** The position that has the focus, or had it last. */
  get active() {
    return this.#drawing.active;
  }

  // What is where

  /** The height in the list that is at the top of the box. */
  get y() {
    return this.#origin + this.scrollTop;
  }

  /** The position at the top, for the scrubber. */
  get topPosition() {
    return this.#layout && this.#list.total > 0 ? this.#layout.positionAt(this.y) : 0;
  }

  get tileSize() {
    return this.#size;
  }

  set tileSize(index) {
    const size = Math.min(tileSizes.length - 1, Math.max(0, index));
    if (size === this.#size) return;
    this.#size = size;
    remember('tileSize', String(size));
    this.#relayout();
  }

  /** Whether photos are shown as squares, and not in their own proportions. */
  get isSquare() {
    return this.#isSquare;
  }

  set isSquare(isSquare) {
    this.#isSquare = isSquare;
    remember('tileShape', isSquare ? 'square' : undefined);
    this.#relayout();
  }

  /** Scrolls to a position: its row is at the top, below the name of its day. Its pictures come as they are read. */
  async jump(position) {
    this.scrub(position);
    // The days of a month decide where inside it the position is; until they are known it is nearly right.
    const target = this.#list.monthAt(position);
    if (target && !target.days) await this.#list.readDays(target);
    this.scrub(position);
    // Where it ends is looked at: nothing of it waits for the scrolling to rest.
    this.#lastY = this.y;
    this.#render();
  }

  /** The same while a hand still moves: tiles without pictures, until it rests. */
  scrub(position) {
    if (!this.#layout || this.#list.total === 0) return;
    const { y, block, isFirstRow } = this.#layout.place(Math.min(position, this.#list.total - 1));
    const heading = block.isFirst ? block.top - block.monthTop : block.top - block.headingTop + gap;
    this.#moveTo(y - (isFirstRow ? heading : 0));
  }

  #moveTo(y) {
    const most = Math.max(0, (this.#layout?.height ?? 0) - this.clientHeight);
    this.#setCanvas(Math.max(0, Math.min(y, most)));
  }

  /** Puts the canvas so that a height of the list is well inside it, and scrolls there. */
  #setCanvas(y) {
    const height = this.#layout?.height ?? 0;
    const canvas = Math.min(height, canvasHeight);
    this.#origin = Math.round(Math.max(0, Math.min(y - canvas / 2, height - canvas)));
    this.#canvas.style.height = `${canvas}px`;
    this.scrollTop = y - this.#origin;
    this.#later();
  }

  #resize() {
    const moved = this.getBoundingClientRect().top - this.#boxTop;
    this.#boxTop += moved;
    if (this.#layout?.width !== this.#canvas.clientWidth) {
      this.#relayout();
      return;
    }
    // What is above the box takes more or less room: what one looks at stays in its place of the window.
    if (moved && this.y > 4) this.#shift(Math.max(-this.y, moved));
    this.#later();
  }

  /** Has what is in the box stand higher by some pixels. The origin moves and not the box, because setting scrollTop would stop a finger's fling. */
  #shift(pixels) {
    this.#origin += pixels;
    this.#lastY += pixels;
    this.#later();
    this.#whenResting();
  }

  #relayout(changed = false) {
    if (!this.#list || this.clientWidth === 0) return;
    const old = this.#layout;
    const y = this.y;
    const anchor = old && this.#anchor(old, y);
    const width = this.#canvas.clientWidth;
    const isSquare = this.isForKids || this.#isSquare;
    if (this.#lead) this.#lead.hidden = false;
    this.#leadHeight = this.#lead?.offsetHeight ?? 0;
    const size = tileSizes[this.isForKids ? tileSizes.length - 1 : this.#size];
    this.#layout = new TimelineLayout(this.#list, {
      width, gap, isSquare, tile: size, lead: this.#leadHeight,
    });
    // Where it stood at the very top it stays there: new photos come into view.
    this.#setCanvas(anchor && y > 4 ? this.#heightOf(anchor) : 0);
    this.#lastY = this.y;
    if (changed) {
      this.#drawing.refill();
      this.#drawing.active = Math.min(this.active, Math.max(0, this.#list.total - 1));
    }
    this.#render();
  }

  /** What stands at a height, by its day: photos that come and go on other days do not move it. */
  #anchor(layout, y) {
    if (layout.groupCount === 0) return undefined;
    const position = layout.positionAt(y);
    const { block, y: top } = layout.place(position);
    return { month: block.entry.month, day: block.day, offset: position - block.first, inset: y - top };
  }

  #heightOf({ month: name, day: date, offset, inset }) {
    const { months } = this.#list;
    if (months.length === 0) return 0;
    // The lists are newest first; where the month or the day is gone, the next older one takes its place.
    const month = months.find((one) => one.month <= name) ?? months.at(-1);
    const days = month.days ?? [];
    const { position, count } = (date && days.find((one) => one.day <= date)) ?? days[0] ?? month;
    return this.#layout.place(position + Math.min(offset, count - 1)).y + inset;
  }

  /** Has heights become known, and what one looks at stay where it is. */
  #keeping(change) {
    if (!this.#layout) return;
    const y = this.y;
    const before = this.#layout.positionAt(y);
    const inset = y - this.#layout.place(before).y;
    change();
    this.#canvas.style.height = `${Math.min(this.#layout.height, canvasHeight)}px`;
    const moved = y > 4 ? this.#layout.place(before).y + inset - y : 0;
    if (moved) this.#shift(moved);
    this.#later();
  }

  // Drawing

  #later() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#render();
    });
  }

  #whenResting() {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#settle();
      this.#render();
    }, 80);
  }

  /** Moves the canvas where its edge is near though the list's is not, or where what it leaves out is at its edge. */
  #settle() {
    const layout = this.#layout;
    if (!layout) return;
    const canvas = Math.min(layout.height, canvasHeight);
    const fits = layout.height <= canvasHeight;
    const wrong = fits ? this.#origin !== 0
      : (this.scrollTop < canvasEdge && this.#origin !== 0)
        || (canvas - this.scrollTop - this.clientHeight < canvasEdge && this.#origin + canvas !== layout.height);
    if (wrong) this.#setCanvas(this.y);
  }

  #render() {
    const layout = this.#layout;
    if (!layout || !this.isConnected) return;
    // While one scrolls the canvas moves only where it must.
    if (this.scrollTop < 400 || this.#canvas.offsetHeight - this.scrollTop - this.clientHeight < 400) this.#settle();
    const y = this.y;
    const moved = y - this.#lastY;
    const fast = Math.abs(moved) > fastScroll;
    if (moved) this.#whenResting();
    this.#lastY = y;
    const height = this.clientHeight;
    // Half a window above and below; nothing where it would be gone with the next frame.
    const margin = fast ? 0 : height / 2;
    const drawn = this.#drawing.draw(layout, { top: y - margin, bottom: y + height + margin, origin: this.#origin, fast });
    if (drawn && !fast) {
      // A window further, so that rows have their places before they come into view.
      const from = layout.positionAt(y - height);
      const to = layout.positionAt(y + 2 * height) + 1;
      this.#list.want(Math.min(from, drawn[0]), Math.max(to, drawn[1]), drawn);
    }
    if (this.#lead) {
      this.#lead.hidden = y > this.#leadHeight + height;
      this.#lead.style.transform = `translateY(${-this.#origin}px)`;
    }
    // Told, because asking the box where it is scrolled to would have it laid out once more, now that tiles have changed.
    const position = this.#list.total > 0 ? layout.positionAt(y) : 0;
    this.dispatchEvent(new CustomEvent('moved', { detail: { y, position, pixels: moved } }));
  }

  #showSelection() {
    this.classList.toggle('selecting', this.#selection.size > 0);
    this.#drawing.mark();
  }

  // Selecting

  toggle(tile) {
    if (!tile.photo) return;
    this.#selection.anchor = tile.position;
    this.#selection.toggle(tile.photo);
  }

  /** Selects from the anchor to a position, in addition to `before`. */
  selectTo(position, before = this.#selection.photos) {
    const anchor = this.#selection.anchor ?? position;
    return this.#read(Math.min(anchor, position), Math.max(anchor, position) + 1, (photos) => this.#selection.replace([...before, ...photos]));
  }

  /** Selects so many photos from a position on; where all of them are selected, none of them any more. */
  selectAllOf(first, count) {
    return this.#read(first, first + count, (photos) => {
      if (photos.every(({ id }) => this.#selection.has(id))) this.#selection.remove(photos);
      else this.#selection.add(photos);
    });
  }

  /** Selects every photo of the list. */
  selectEverything() {
    return this.#read(0, this.#list?.total ?? 0, (photos) => this.#selection.replace(photos));
  }

  async #read(from, to, then) {
    if (to - from > mostSelected) {
      toast(t('timeline.tooMany', { count: mostSelected }));
      return;
    }
    const turn = (this.#turns += 1);
    try {
      const photos = await this.#list.photosIn(from, to);
      if (turn === this.#turns) then(photos);
    } catch (error) {
      toastError(error);
    }
  }

  /** Gives the focus to a position, and scrolls until it is seen. */
  focusPosition(position) {
    const before = this.#drawing.tileAt(this.active);
    if (before) before.link.tabIndex = -1;
    this.#drawing.active = position;
    const { y, height } = this.#layout.place(position);
    if (y - 48 < this.y) this.#moveTo(y - 48);
    else if (y + height > this.y + this.clientHeight) this.#moveTo(y + height - this.clientHeight + 12);
    this.#render();
    const tile = this.#drawing.tileAt(position);
    if (!tile) return;
    tile.link.tabIndex = 0;
    // A link without an address takes no focus; the photo may still be read.
    if (!tile.photo) tile.link.href = '#/photos';
    tile.link.focus({ preventScroll: true });
  }
}

customElements.define('photo-timeline', PhotoTimeline);
