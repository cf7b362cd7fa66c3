// The strip above the tiles: the date of what is at the top, which opens a picker of years and months, how many photos there are,
// and how they are shown. It stays when the filters give way to what one scrolls to.

import { Component, element, icon, iconButton } from '../core/dom.js';
import { day, mediumDay, month, t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import { tileSizes } from './timeline-layout.js';

const narrow = matchMedia('(max-width: 640px)');

class TimelineStrip extends Component {
  timeline;
  #text = element('span', {});
  #date = element(
    'button', { type: 'button', class: 'date', 'aria-haspopup': 'dialog', onclick: () => this.#choose() }, this.#text, icon('down'));
  #count = element('span', { class: 'quiet number count', role: 'status' });
  #smaller = iconButton('smaller', t('timeline.smaller'), () => this.#resize(-1));
  #drawnSize;
  /** The day or month that is shown, and how. */
  #shown;
  #larger = iconButton('larger', t('timeline.larger'), () => this.#resize(1));

  connectedCallback() {
    this.append(
      this.#date, this.#count, this.#smaller, this.#larger,
      iconButton('settings', t('timeline.view'), () => attempt(async () => (await dialogs()).chooseView(this.timeline)), { 'aria-haspopup': 'dialog' }));
    this.listen(this.timeline, 'moved', ({ detail: { position } }) => this.#draw(position));
    this.listen(narrow, 'change', () => this.#draw());
  }

  set total(total) {
    this.#count.textContent = t('timeline.count', { count: total });
    this.#draw();
  }

  #resize(step) {
    this.timeline.tileSize += step;
    this.#draw();
  }

  #draw(position = this.timeline.topPosition) {
    const { layout, tileSize } = this.timeline;
    if (tileSize !== this.#drawnSize) {
      this.#drawnSize = tileSize;
      // Not `disabled`: a button that loses the focus under a hand that goes on pressing takes the keyboard with it.
      this.#smaller.setAttribute('aria-disabled', String(tileSize === 0));
      this.#larger.setAttribute('aria-disabled', String(tileSize === tileSizes.length - 1));
    }
    const isEmpty = !layout || layout.groupCount === 0;
    if (this.#date.hidden !== isEmpty) this.#date.hidden = isEmpty;
    if (isEmpty) return;
    const { entry, day: date } = layout.place(position).block;
    const shown = `${date ?? entry.month} ${narrow.matches}`;
    if (this.#shown === shown) return;
    this.#shown = shown;
    const text = date ? (narrow.matches ? mediumDay : day)(date) : month(entry.month);
    this.#text.textContent = text;
    this.#date.setAttribute('aria-label', t('timeline.chooseMonth', { day: text }));
  }

  async #choose() {
    const { timeline } = this;
    const { list } = timeline;
    await attempt(async () => {
      const position = await (await dialogs()).chooseMonth(list.months, list.monthAt(timeline.topPosition));
      if (position !== undefined && list === timeline.list) await timeline.jump(position);
    });
  }
}

/** What opens above the timeline comes when it is asked for, and is no part of the first view. */
const dialogs = () => import('./timeline-dialogs.js');

customElements.define('timeline-strip', TimelineStrip);
