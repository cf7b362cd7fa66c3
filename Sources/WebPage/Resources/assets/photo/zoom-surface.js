// A picture that is looked at closely: it fits its box first; wheel, pinch, double-tap and buttons make it larger
// around the place that one points at, and drawing moves it. While it fits, drawing sideways goes to the next picture.

import { Component, element } from '../core/dom.js';

/** How much larger than its own pixels a picture can be made. */
const most = 8;
/** Pixels of drawing sideways that count as going on. */
const swipe = 60;

/** Pixels of drawing down that count as putting it away. */
const drop = 110;

/** Events: `step` with -1 or 1 as `detail`; `leave` when it is drawn down; `sharper` when it is shown larger than its pixels. */
class ZoomSurface extends Component {
  #image = element('img', { alt: '', decoding: 'async', draggable: 'false' });
  #key;
  #size = { width: 1, height: 1 };
  #scale = 1;
  #x = 0;
  #y = 0;
  #pointers = new Map();
  #loading;
  #pictures = () => [];
  /** The scale, in device pixels, that what is shown or loading was chosen for. */
  #chosenFor = 0;

  connectedCallback() {
    this.append(this.#image);
    const resized = new ResizeObserver(() => this.fit());
    resized.observe(this);
    this.during(() => resized.disconnect());
    this.listen(this, 'wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), event);
    }, { passive: false });
    this.listen(this, 'dblclick', (event) => (this.#isFitting ? this.zoom(3, event) : this.fit()));
    this.listen(this, 'pointerdown', (event) => this.#down(event));
    this.listen(this, 'pointermove', (event) => this.#move(event));
    for (const type of ['pointerup', 'pointercancel']) this.listen(this, type, (event) => this.#up(event));
  }

  /**
   * Shows a picture: the smallest of its sizes first, until the one is there that is sharp as large as it is seen.
   *
   * @param {{key: string, pictures: (box: {width: number, height: number}) => string[], width: number, height: number, description: string}}
   *   picture `key` is another one for another picture; what is told about the same one again changes its description alone. `pictures`
   *   has the addresses to go through for so many CSS pixels
   */
  show({ key, pictures, width, height, description }) {
    this.#image.alt = description;
    if (key === this.#key) return;
    this.#key = key;
    this.#size = { width: Math.max(1, width), height: Math.max(1, height) };
    this.#pictures = pictures;
    this.#chosenFor = 0;
    this.#loading = undefined;
    this.#image.src = pictures({ width: 1, height: 1 })[0];
    this.fit();
  }

  /** Has the browser keep what another picture would be seen as. */
  fetchAhead(width, height, pictures) {
    const scale = this.#scaleOf(Math.max(1, width), Math.max(1, height));
    const address = pictures({ width: width * scale, height: height * scale }).at(-1);
    if (address) new Image().src = address;
  }

  /** Shows this, however large it is drawn. */
  sharpen(address) {
    this.#chosenFor = Infinity;
    if (!this.#image.src.endsWith(address)) this.#load([address]);
  }

  /** Larger sizes, where it is drawn larger than what is shown was chosen for. */
  #refine() {
    const scale = this.#scale * devicePixelRatio;
    if (scale <= this.#chosenFor) return;
    this.#chosenFor = scale;
    const all = this.#pictures({ width: this.#size.width * this.#scale, height: this.#size.height * this.#scale });
    const shown = all.findIndex((address) => this.#image.src.endsWith(address));
    this.#load(all.slice(shown + 1));
  }

  /** One after the other. */
  async #load(addresses) {
    if (addresses.length === 0 || this.#loading?.last === addresses.at(-1)) return;
    const loading = { last: addresses.at(-1) };
    this.#loading = loading;
    for (const address of addresses) {
      const image = new Image();
      image.src = address;
      try {
        // Decoded before it takes the small one's place: no flash, and no long task while it is drawn.
        await image.decode();
      } catch {
        continue;
      }
      if (this.#loading !== loading) return;
      this.#image.src = address;
    }
  }

  get #fittingScale() {
    return this.#scaleOf(this.#size.width, this.#size.height);
  }

  #scaleOf(width, height) {
    return Math.min(this.clientWidth / width, this.clientHeight / height, 2);
  }

  get #isFitting() {
    return this.#scale <= this.#fittingScale * 1.01;
  }

  /** As large as the box lets it be seen whole. */
  fit() {
    this.#scale = this.#fittingScale;
    this.#x = this.#y = 0;
    this.#draw();
  }

  /** Larger or smaller around a point of the window; without one, around the middle. */
  zoom(factor, { clientX, clientY } = {}) {
    const box = this.getBoundingClientRect();
    const [x, y] = clientX === undefined ? [0, 0] : [clientX - box.left - box.width / 2, clientY - box.top - box.height / 2];
    const scale = Math.max(this.#fittingScale, Math.min(most, this.#scale * factor));
    const ratio = scale / this.#scale;
    this.#x = x - (x - this.#x) * ratio;
    this.#y = y - (y - this.#y) * ratio;
    this.#scale = scale;
    this.#draw();
    if (scale * devicePixelRatio > 1) this.dispatchEvent(new Event('sharper'));
  }

  /** Moves it, where it is larger than the box. Returns whether it could. */
  pan(x, y) {
    if (this.#isFitting) return false;
    const before = [this.#x, this.#y];
    this.#x += x;
    this.#y += y;
    this.#draw();
    return before[0] !== this.#x || before[1] !== this.#y;
  }

  #draw() {
    const [width, height] = [this.#size.width * this.#scale, this.#size.height * this.#scale];
    const bound = (value, length, room) => {
      const most = Math.max(0, (length - room) / 2);
      return Math.max(-most, Math.min(most, value));
    };
    this.#x = bound(this.#x, width, this.clientWidth);
    this.#y = bound(this.#y, height, this.clientHeight);
    const { style } = this.#image;
    style.width = `${width}px`;
    style.height = `${height}px`;
    style.transform = `translate(calc(-50% + ${this.#x}px), calc(-50% + ${this.#y}px))`;
    this.#refine();
    this.classList.toggle('zoomed', !this.#isFitting);
  }

  #down(event) {
    if (event.button !== 0) return;
    this.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, beginX: event.clientX, beginY: event.clientY });
  }

  #move(event) {
    const pointer = this.#pointers.get(event.pointerId);
    if (!pointer) return;
    const [dx, dy] = [event.clientX - pointer.x, event.clientY - pointer.y];
    if (this.#pointers.size === 2) {
      const [other] = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, one]) => one);
      const before = Math.hypot(pointer.x - other.x, pointer.y - other.y);
      const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      this.zoom(after / Math.max(1, before), { clientX: (event.clientX + other.x) / 2, clientY: (event.clientY + other.y) / 2 });
      pointer.pinched = other.pinched = true;
    } else if (!this.#isFitting) {
      this.pan(dx, dy);
      pointer.panned = true;
    } else if (!pointer.pinched) {
      const { across, down } = wayOf(pointer, event);
      this.#image.style.transform = `translate(calc(-50% + ${down > Math.abs(across) ? 0 : across}px), calc(-50% + ${down > Math.abs(across) ? down : 0}px))`;
    }
    pointer.x = event.clientX;
    pointer.y = event.clientY;
  }

  #up(event) {
    const pointer = this.#pointers.get(event.pointerId);
    this.#pointers.delete(event.pointerId);
    if (!pointer || this.#pointers.size > 0) return;
    this.#draw();
    if (event.type === 'pointercancel' || pointer.pinched || pointer.panned || !this.#isFitting) return;
    const { across, down } = wayOf(pointer, event);
    if (Math.abs(across) > swipe && Math.abs(across) > Math.abs(down)) {
      this.dispatchEvent(new CustomEvent('step', { detail: across < 0 ? 1 : -1 }));
    } else if (event.pointerType === 'touch' && down > drop) {
      // Of a finger alone: a mouse that slips has a button for it.
      this.dispatchEvent(new Event('leave'));
    }
  }
}

const wayOf = ({ beginX, beginY }, { clientX, clientY }) => ({ across: clientX - beginX, down: clientY - beginY });

customElements.define('zoom-surface', ZoomSurface);
