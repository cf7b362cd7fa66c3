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
  #larger = iconButton('larger', t('timeline.larger'), () => this.#resize(1));

  connectedCallback() {
    this.append(
      this.#date, this.#count, this.#smaller, this.#larger,
      iconButton('settings', t('timeline.view'), () => attempt(async () => (await dialogs()).chooseView(this.timeline)), { 'aria-haspopup': 'dialog' }));
    this.listen(this.timeline, 'moved', () => this.#draw());
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

  #draw() {
    const { timeline } = this;
    const { layout, topPosition, tileSize } = timeline;
    if (tileSize !== this.#drawnSize) {
      this.#drawnSize = tileSize;
      // Not `disabled`: a button that loses the focus under a hand that goes on pressing takes the keyboard with it.
      this.#smaller.setAttribute('aria-disabled', String(tileSize === 0));
      this.#larger.setAttribute('aria-disabled', String(tileSize === tileSizes.length - 1));
    }
    this.#date.hidden = !layout || layout.groupCount === 0;
    if (this.#date.hidden) return;
    const { entry, day: date } = layout.place(topPosition).block;
    const text = date ? (narrow.matches ? mediumDay : day)(date) : month(entry.month);
    if (this.#text.textContent === text) return;
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
