// The tiles of a list of photos of any length, in a box that scrolls.
//
// Browsers cap the height of an element at some 16 million pixels, and a million photos on a phone need 40 million. So
// the box scrolls over a canvas of a bounded height, and `#origin` is the height in the list that the canvas begins at:
// what is at `y` in the list is at `y - #origin` on the canvas. Near an edge of the canvas, and when scrolling rests,
// the origin is moved and the box scrolled by the same amount, which nobody sees. Where a month above turns out to be
// higher than was guessed, it is again the origin that moves, and what one looks at stays.
//
// Only tiles that are seen, and some above and below, are elements; they are used again as one scrolls. So the page is
// as large with a million photos as with a thousand.

import { pictureAddress } from '../core/daemon.js';
import { Component, element } from '../core/dom.js';
import { address } from '../core/router.js';
import { day, month, photoTime, shortDay, t } from '../core/text.js';
import { remember, remembered } from '../core/preferences.js';
import { toast, toastError } from '../core/toasts.js';
import { mostSelected } from './selection.js';
import { TimelineLayout } from './timeline-layout.js';

/** The canvas: far below any browser's cap, at any number of device pixels a CSS pixel. */
const canvasHeight = 1_000_000;
/** How near its edge the canvas is moved on. */
const canvasEdge = 20_000;
/** Least widths of a tile, in CSS pixels. */
export const tileSizes = [84, 112, 150, 210, 300];
/** The size to begin with: three in a row on a phone, and not a thousand pictures at once on a wall. */
const firstSize = () => [640, 1100, 2000].findIndex((width) => innerWidth < width) + 1 || tileSizes.length - 1;
const gap = 4;
/** Pixels a frame above which pictures are not asked for: they would be gone before they came. */
const fastScroll = 900;
const longPress = 450;
/** A click that comes so soon after tiles were drawn over is the end of that, and opens nothing. */
const afterDrawing = 500;

/**
 * Events: `moved` when what is at the top has changed, `selecting`. Set `list`, `selection` and `linkParameters`, then
 * call `start`.
 */
class PhotoTimeline extends Component {
  #list;
  #selection;
  #layout;
  #canvas = element('div', { class: 'canvas' });
  #origin = 0;
  #sections = new Map();
  #tiles = new Map();
  #spare = [];
  #frame;
  #resting;
  #lastY = 0;
  #active = 0;
  #drawing;
  #drawn = -Infinity;
  #size = Math.min(tileSizes.length - 1, Math.max(0, Number(remembered('tileSize') ?? firstSize())));
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
    const resized = new ResizeObserver(() => this.#relayout());
    resized.observe(this);
    this.during(() => resized.disconnect());
    if (!this.isForKids) this.#followPointer();
    this.listen(this, 'keydown', (event) => this.#key(event));
    this.listen(this, 'focusin', ({ target }) => {
      const tile = target.closest?.('.tile');
      if (tile) this.#active = tile.position;
    });
  }

  /** Shows a list from its beginning. */
  start(list, selection) {
    this.#list?.owner?.abort();
    this.#list = list;
    const owner = new AbortController();
    list.owner = owner;
    const { signal } = owner;
    this.during(() => owner.abort());
    list.addEventListener('photos', () => this.#later(), { signal });
    list.addEventListener('days', ({ detail }) => this.#daysKnown(detail), { signal });
    list.addEventListener('changed', () => this.#relayout(true), { signal });
    this.#selection = selection;
    selection.addEventListener('changed', () => this.#showSelection(), { signal });
    this.#active = 0;
    this.#layout = undefined;
    for (const tile of this.#tiles.values()) this.#free(tile);
    this.#tiles.clear();
    this.#relayout();
    this.#moveTo(0);
  }

  // What is where

  get #y() {
    return this.#origin + this.scrollTop;
  }

  /** The position at the top, for the scrubber. */
  get topPosition() {
    return this.#layout && this.#list.total > 0 ? this.#layout.positionAt(this.#y) : 0;
  }

  get #sizeShown() {
    return this.isForKids ? tileSizes.length - 1 : this.#size;
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
    this.dispatchEvent(new Event('moved'));
  }

  /** Scrolls to a position: its row is at the top, below the name of its day. Its pictures come as they are read. */
  async jump(position) {
    this.scrub(position);
    // The days of a month decide where inside it the position is; until they are known it is nearly right.
    const target = this.#list.monthAt(position);
    if (target && !target.days) await this.#list.readDays(target);
    this.scrub(position);
    // Where it ends is looked at: nothing of it waits for the scrolling to rest.
    this.#lastY = this.#y;
    this.#render();
  }

  /** The same while a hand still moves: tiles without pictures, until it rests. */
  scrub(position) {
    if (!this.#layout || this.#list.total === 0) return;
    const { y, block } = this.#layout.place(Math.min(position, this.#list.total - 1));
    const isFirstRow = position - block.first < block.columns;
    this.#moveTo(y - (isFirstRow ? 40 : 0));
  }

  #moveTo(y) {
    const most = Math.max(0, (this.#layout?.height ?? 0) - this.clientHeight);
    const target = Math.max(0, Math.min(y, most));
    this.#setCanvas(target);
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

  #relayout(changed = false) {
    if (!this.#list || this.clientWidth === 0) return;
    const old = this.#layout;
    const y = this.#y;
    const anchor = old && this.#anchor(old, y);
    const width = this.#canvas.clientWidth;
    this.#layout = new TimelineLayout(this.#list.months, {
      width, tile: Math.min(tileSizes[this.#sizeShown], width / 2 - gap), gap,
    });
    // Where it stood at the very top it stays there: new photos come into view.
    this.#setCanvas(anchor && y > 4 ? this.#heightOf(anchor) : 0);
    if (changed) {
      for (const tile of this.#tiles.values()) this.#fill(tile, this.#list.photoAt(tile.position));
      this.#active = Math.min(this.#active, Math.max(0, this.#list.total - 1));
    }
    this.#render();
  }

  /** What stands at a height, by its day: photos that come and go on other days do not move it. */
  #anchor(layout, y) {
    if (layout.monthCount === 0) return undefined;
    const position = layout.positionAt(y);
    const { block, index, y: top } = layout.place(position);
    return { month: layout.month(index).month, day: block.day, offset: position - block.first, inset: y - top };
  }

  #heightOf({ month: name, day: date, offset, inset }) {
    const layout = this.#layout;
    // The lists are newest first; where the month or the day is gone, the next older one takes its place.
    let index = 0;
    while (index < layout.monthCount - 1 && layout.month(index).month > name) index += 1;
    if (layout.monthCount === 0) return 0;
    const blocks = layout.blocks(index);
    const block = (date && blocks.find((one) => one.day <= date)) ?? blocks[0];
    return layout.place(block.first + Math.min(offset, block.count - 1)).y + inset;
  }

  #daysKnown(known) {
    const index = this.#layout?.indexOf(known) ?? -1;
    if (index < 0) return;
    const y = this.#y;
    const before = this.#layout.positionAt(y);
    const inset = y - this.#layout.place(before).y;
    this.#layout.update(index);
    const height = this.#layout.height;
    const moved = y > 4 ? this.#layout.place(before).y + inset - y : 0;
    // The origin moves and not the box, because setting scrollTop would stop a finger's fling.
    this.#origin += moved;
    this.#canvas.style.height = `${Math.min(height, canvasHeight)}px`;
    if (moved) for (const tile of this.#tiles.values()) tile.placed = undefined;
    this.#later();
    this.#whenResting();
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
    if (wrong) this.#setCanvas(this.#y);
  }

  #render() {
    const layout = this.#layout;
    if (!layout || !this.isConnected) return;
    // While one scrolls the canvas moves only where it must.
    if (this.scrollTop < 400 || this.#canvas.offsetHeight - this.scrollTop - this.clientHeight < 400) this.#settle();
    const y = this.#y;
    const speed = Math.abs(y - this.#lastY);
    const fast = speed > fastScroll;
    if (speed > 0) this.#whenResting();
    this.#lastY = y;
    const height = this.clientHeight;
    // Half a window above and below; nothing where it would be gone with the next frame.
    const margin = fast ? 0 : height / 2;
    const [top, bottom] = [y - margin, y + height + margin];
    const seen = new Set();
    let [first, last] = [Infinity, 0];
    const used = new Set();
    for (let index = layout.indexAt(top); index < layout.monthCount && layout.top(index) < bottom; index += 1) {
      const monthTop = layout.top(index);
      const entry = layout.month(index);
      if (!entry.days && !fast) this.#list.readDays(entry);
      const blocks = layout.blocks(index);
      for (const block of blocks) {
        if (monthTop + block.bottom < top || monthTop + block.headingTop - 60 > bottom) continue;
        const key = block.day ?? entry.month;
        used.add(key);
        const section = this.#section(key, entry.month, block);
        this.#placeHeadings(section, monthTop, block, block === blocks[0]);
        const firstRow = Math.max(0, Math.floor((top - monthTop - block.top) / layout.pitch));
        const from = block.first + firstRow * block.columns;
        const rows = Math.ceil((bottom - monthTop - block.top) / layout.pitch);
        const to = Math.min(block.first + block.count, block.first + Math.max(0, rows) * block.columns);
        if (from < to) [first, last] = [Math.min(first, from), Math.max(last, to)];
        this.#placeTiles(section, block, monthTop, from, to, seen, fast);
      }
    }
    for (const [position, tile] of this.#tiles) {
      if (seen.has(position)) continue;
      this.#tiles.delete(position);
      this.#free(tile);
    }
    for (const [key, section] of this.#sections) {
      if (used.has(key)) continue;
      section.remove();
      this.#sections.delete(key);
    }
    if (first < last && !fast) this.#list.want(first, last);
    this.dispatchEvent(new Event('moved'));
  }

  #section(key, monthName, block) {
    let section = this.#sections.get(key);
    if (section) return section;
    const [long, short] = block.day ? [day(block.day), shortDay(block.day)] : ['', ''];
    const wide = (block.room * this.#layout.pitch) > 260;
    section = element(
      'section', { 'aria-label': long || month(monthName) },
      element('h2', { class: 'month', hidden: true }, month(monthName)),
      // A month whose days are not there yet has none to name.
      element('h3', { class: 'day', title: long, hidden: !long }, wide ? long : short),
      element('div', { class: 'tiles', role: 'list', 'aria-label': t('timeline.photosOf', { day: long || month(monthName), count: block.count }) }));
    this.#sections.set(key, section);
    this.#canvas.append(section);
    return section;
  }

  #placeHeadings(section, monthTop, block, isFirst) {
    const [monthName, dayName] = section.children;
    const { pitch } = this.#layout;
    monthName.hidden = !isFirst;
    if (isFirst) monthName.style.transform = `translateY(${monthTop - this.#origin}px)`;
    dayName.style.transform = `translate(${block.column * pitch}px, ${monthTop + block.headingTop - this.#origin}px)`;
    dayName.style.width = `${block.room * pitch - gap}px`;
  }

  #placeTiles(section, block, monthTop, from, to, seen, fast) {
    const list = section.lastElementChild;
    const { pitch, tile: size } = this.#layout;
    let next = list.firstElementChild;
    for (let position = from; position < to; position += 1) {
      seen.add(position);
      let tile = this.#tiles.get(position);
      if (!tile) {
        tile = this.#spare.pop() ?? this.#make();
        tile.position = position;
        tile.placed = undefined;
        this.#tiles.set(position, tile);
      }
      const offset = position - block.first;
      const x = (block.column + (offset % block.columns)) * pitch;
      const y = monthTop + block.top + Math.floor(offset / block.columns) * pitch - this.#origin;
      const placed = `translate(${x}px, ${y}px)`;
      if (tile.placed !== placed) tile.style.transform = tile.placed = placed;
      if (tile.size !== size) {
        tile.size = size;
        tile.style.width = tile.style.height = `${size}px`;
      }
      if (!fast) {
        const photo = this.#list.photoAt(position);
        if (photo !== tile.photo) this.#fill(tile, photo);
      }
      // A list is in the order of its positions for who hears it.
      if (next === tile) next = next.nextElementSibling;
      else list.insertBefore(tile, next);
    }
  }

  #make() {
    const image = element('img', { alt: '', decoding: 'async', draggable: 'false' });
    const link = element('a', { tabindex: '-1', draggable: 'false' }, image);
    const check = element('button', { type: 'button', class: 'check', tabindex: '-1', 'aria-pressed': 'false' });
    const tile = element('div', { class: 'tile', role: 'listitem' }, link, check);
    tile.image = image;
    tile.link = link;
    tile.check = check;
    image.addEventListener('load', () => tile.classList.add('loaded'));
    image.addEventListener('error', () => tile.classList.toggle('unseen-picture', image.hasAttribute('src')));
    return tile;
  }

  #free(tile) {
    tile.remove();
    this.#fill(tile, undefined);
    this.#spare.push(tile);
  }

  #fill(tile, photo) {
    const shown = tile.photo;
    tile.photo = photo;
    if (!photo) {
      // Ends what is loading; the tile is a plain square until its photo has been read.
      tile.image.removeAttribute('src');
      tile.link.removeAttribute('href');
      tile.classList.remove('loaded', 'favourite', 'selected', 'unseen-picture');
      return;
    }
    if (shown?.uuid !== photo.uuid || shown.contentDigest !== photo.contentDigest) {
      tile.classList.remove('loaded', 'unseen-picture');
      tile.image.src = pictureAddress(photo, 'thumbnail');
    }
    tile.link.href = this.linkTo(photo);
    const label = [photo.caption || photo.name, photoTime(photo), photo.isFavorite && t('photo.favourite')].filter(Boolean).join(', ');
    tile.link.setAttribute('aria-label', label);
    tile.check.setAttribute('aria-label', t('timeline.select', { photo: label }));
    tile.link.tabIndex = tile.position === this.#active ? 0 : -1;
    tile.classList.toggle('favourite', photo.isFavorite);
    this.#mark(tile);
  }

  #mark(tile) {
    const selected = Boolean(tile.photo && this.#selection.has(tile.photo.id));
    tile.classList.toggle('selected', selected);
    tile.check.setAttribute('aria-pressed', String(selected));
  }

  #showSelection() {
    this.classList.toggle('selecting', this.#selection.size > 0);
    for (const tile of this.#tiles.values()) this.#mark(tile);
  }

  // Selecting

  /** Selects from the anchor to a position, in addition to `before`. */
  async #range(position, before = this.#selection.photos) {
    const anchor = this.#selection.anchor ?? position;
    const [from, to] = [Math.min(anchor, position), Math.max(anchor, position) + 1];
    if (to - from > mostSelected) {
      toast(t('timeline.tooMany', { count: mostSelected }));
      return;
    }
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const photos = await this.#list.photosIn(from, to);
      if (turn === this.turn) this.#selection.replace([...before, ...photos]);
    } catch (error) {
      toastError(error);
    }
  }

  #toggle(tile) {
    if (!tile.photo) return;
    this.#selection.anchor = tile.position;
    this.#selection.toggle(tile.photo);
  }

  #followPointer() {
    this.listen(this, 'click', (event) => {
      const tile = event.target.closest('.tile');
      if (!tile) return;
      if (event.timeStamp - this.#drawn < afterDrawing) {
        event.preventDefault();
      } else if (event.shiftKey && this.#selection.anchor !== undefined) {
        event.preventDefault();
        this.#range(tile.position);
      } else if (event.target === tile.check || this.#selection.size > 0 || event.shiftKey) {
        event.preventDefault();
        this.#toggle(tile);
      }
    });
    // Drawing over tiles selects them: at once with a mouse, after a long press with a finger, which else scrolls.
    this.listen(this, 'pointerdown', (event) => {
      const tile = event.target.closest('.tile');
      this.#drawing = undefined;
      if (!tile?.photo || event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey) return;
      const drawing = { tile, pointer: event.pointerId, x: event.clientX, y: event.clientY, before: this.#selection.photos };
      this.#drawing = drawing;
      if (event.pointerType !== 'mouse') {
        drawing.press = setTimeout(() => {
          drawing.ready = drawing.moved = true;
          this.#selection.anchor = tile.position;
          if (!this.#selection.has(tile.photo.id)) this.#selection.toggle(tile.photo);
          navigator.vibrate?.(15);
        }, longPress);
      } else {
        drawing.ready = true;
      }
    });
    this.listen(this, 'pointermove', (event) => {
      const drawing = this.#drawing;
      if (!drawing || event.pointerId !== drawing.pointer || event.buttons === 0) return;
      if (Math.hypot(event.clientX - drawing.x, event.clientY - drawing.y) > 10) {
        clearTimeout(drawing.press);
        if (drawing.ready) drawing.moved = true;
      }
      if (!drawing.ready || !drawing.moved) return;
      const tile = document.elementFromPoint(event.clientX, event.clientY)?.closest('.tile');
      if (!tile || tile.position === drawing.last) return;
      drawing.last = tile.position;
      this.#selection.anchor = drawing.tile.position;
      this.#range(tile.position, drawing.before);
    });
    const end = (event) => {
      clearTimeout(this.#drawing?.press);
      if (this.#drawing?.moved) this.#drawn = event.timeStamp;
      this.#drawing = undefined;
    };
    this.listen(this, 'pointerup', end);
    this.listen(this, 'pointercancel', end);
    this.listen(this, 'touchmove', (event) => this.#drawing?.ready && event.cancelable && event.preventDefault(), { passive: false });
    this.listen(this, 'contextmenu', (event) => this.#drawing?.ready && this.#drawing.press && event.preventDefault());
    this.#followPinch();
  }

  /**
   * Two fingers change the size of the tiles, as does the wheel with Ctrl, which is what a pinch on a touchpad is told
   * as.
   */
  #followPinch() {
    const apart = ({ touches: [one, two] }) => Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
    let begun;
    this.listen(this, 'touchstart', (event) => (begun = event.touches.length === 2 ? apart(event) : undefined), { passive: true });
    this.listen(this, 'touchmove', (event) => {
      if (begun === undefined || event.touches.length !== 2) return;
      if (event.cancelable) event.preventDefault();
      const ratio = apart(event) / begun;
      if (ratio > 0.75 && ratio < 1.33) return;
      this.tileSize += ratio > 1 ? 1 : -1;
      begun = apart(event);
    }, { passive: false });
    let turned = 0;
    this.listen(this, 'wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      turned += event.deltaY;
      if (Math.abs(turned) < 30) return;
      this.tileSize += turned < 0 ? 1 : -1;
      turned = 0;
    }, { passive: false });
  }

  // Keys

  #key(event) {
    if (!this.#layout || this.#list.total === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.#list.total - 1;
    const rows = Math.max(1, Math.floor(this.clientHeight / this.#layout.pitch) - 1);
    const vertical = (step, times = 1) => {
      let position = this.#active;
      for (let count = 0; count < times; count += 1) position = this.#layout.vertical(position, step);
      return position;
    };
    const moves = {
      ArrowLeft: () => this.#active - 1, ArrowRight: () => this.#active + 1,
      ArrowUp: () => vertical(-1), ArrowDown: () => vertical(1),
      PageUp: () => vertical(-1, rows), PageDown: () => vertical(1, rows), Home: () => 0, End: () => last,
    };
    const tile = event.target.closest('.tile');
    if (event.key === '+' || event.key === '-') {
      this.tileSize += event.key === '+' ? 1 : -1;
    } else if (event.key === ' ' && tile && !this.isForKids) {
      this.#toggle(tile);
    } else if (moves[event.key]) {
      const from = this.#active;
      this.focusPosition(Math.min(last, Math.max(0, moves[event.key]())));
      if (event.shiftKey && !this.isForKids) {
        this.#selection.anchor ??= from;
        this.#range(this.#active);
      }
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Gives the focus to a position, and scrolls until it is seen. */
  focusPosition(position) {
    const before = this.#tiles.get(this.#active);
    if (before) before.link.tabIndex = -1;
    this.#active = position;
    const { y } = this.#layout.place(position);
    const { pitch } = this.#layout;
    if (y - 48 < this.#y) this.#moveTo(y - 48);
    else if (y + pitch > this.#y + this.clientHeight) this.#moveTo(y + pitch - this.clientHeight + 8);
    this.#render();
    const tile = this.#tiles.get(position);
    if (!tile) return;
    tile.link.tabIndex = 0;
    // A link without an address takes no focus; the photo may still be read.
    if (!tile.photo) tile.link.href = '#/photos';
    tile.link.focus({ preventScroll: true });
  }
}

customElements.define('photo-timeline', PhotoTimeline);
