// The scrubber at the side of the timeline: the years of the list from top to bottom, each as long as it has photos,
// and a thumb that is dragged, or moved with keys, to any month.

import { Component, element } from '../core/dom.js';
import { month, shortMonth, t } from '../core/text.js';

/** Pixels between the names of two years, at least. */
const labelHeight = 20;

/** `jump` with the position as `detail` while it is dragged; `release` when that ends. */
class TimeScrubber extends Component {
  #months = [];
  #total = 0;
  #position = 0;
  /** As it was laid out last: asked for while tiles change, it would have all of them laid out. */
  #height = 0;
  #month;
  #years = element('div', { class: 'years', 'aria-hidden': 'true' });
  #thumb = element('div', { class: 'thumb' });
  #bubble = element('output', { class: 'bubble', 'aria-hidden': 'true' });

  connectedCallback() {
    this.append(this.#years, this.#thumb, this.#bubble);
    this.tabIndex = 0;
    this.setAttribute('role', 'slider');
    this.setAttribute('aria-orientation', 'vertical');
    this.setAttribute('aria-label', t('scrubber.label'));
    this.listen(this, 'pointerdown', (event) => {
      event.preventDefault();
      this.setPointerCapture(event.pointerId);
      this.classList.add('dragging');
      this.#follow(event);
    });
    this.listen(this, 'pointermove', (event) => this.hasPointerCapture(event.pointerId) && this.#follow(event));
    this.listen(this, 'lostpointercapture', () => {
      this.classList.remove('dragging');
      this.dispatchEvent(new Event('release'));
    });
    this.listen(this, 'keydown', (event) => this.#key(event));
    const resized = new ResizeObserver(() => {
      this.#height = this.clientHeight;
      this.#label();
      this.#draw();
    });
    resized.observe(this);
    this.during(() => resized.disconnect());
  }

  set list({ months, total }) {
    this.#months = months;
    this.#total = total;
    this.hidden = total === 0;
    this.setAttribute('aria-valuemin', '0');
    this.setAttribute('aria-valuemax', String(Math.max(0, total - 1)));
    this.#label();
    this.#draw();
  }

  set position(position) {
    if (position === this.#position) return;
    this.#position = position;
    this.#draw();
  }

  #label() {
    const height = this.clientHeight;
    const labels = [];
    let free = 0;
    let year;
    for (const { month: name, position } of this.#months) {
      if (name.slice(0, 4) === year) continue;
      year = name.slice(0, 4);
      const top = (position / this.#total) * height;
      if (top < free || top > height - labelHeight) continue;
      labels.push(element('span', { css: { top: `${top}px` } }, year));
      free = top + labelHeight;
    }
    this.#years.replaceChildren(...labels);
  }

  #monthIndex() {
    let [low, high] = [0, this.#months.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#months[middle].position <= this.#position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #draw() {
    const here = this.#months[this.#monthIndex()];
    if (!here) return;
    const share = this.#total > 1 ? this.#position / (this.#total - 1) : 0;
    const y = Math.min(1, share) * Math.max(0, this.#height - 8);
    this.#thumb.style.transform = this.#bubble.style.transform = `translateY(${y}px)`;
    this.setAttribute('aria-valuenow', String(this.#position));
    if (this.#month === here.month) return;
    this.#month = here.month;
    this.#bubble.textContent = shortMonth(here.month);
    this.setAttribute('aria-valuetext', month(here.month));
  }

  #follow({ clientY }) {
    const { top, height } = this.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (clientY - top) / height));
    this.#jump(Math.round(share * (this.#total - 1)));
  }

  #key(event) {
    const index = this.#monthIndex();
    const months = this.#months;
    const yearAway = (step) => {
      const year = String(Number(months[index].month.slice(0, 4)) + step);
      const found = months.findIndex(({ month: name }) => name.slice(0, 4) <= year);
      return found < 0 ? months.length - 1 : found;
    };
    const moves = {
      ArrowDown: () => index + 1, ArrowRight: () => index + 1, ArrowUp: () => index - 1, ArrowLeft: () => index - 1,
      PageDown: () => yearAway(-1), PageUp: () => yearAway(1), Home: () => 0, End: () => months.length - 1,
    };
    if (!moves[event.key] || months.length === 0) return;
    event.preventDefault();
    this.#jump(months[Math.max(0, Math.min(months.length - 1, moves[event.key]()))].position);
    this.dispatchEvent(new Event('release'));
  }

  #jump(position) {
    this.position = position;
    this.dispatchEvent(new CustomEvent('jump', { detail: position }));
  }
}

customElements.define('time-scrubber', TimeScrubber);
