// What the library takes on the disk, and how many photos each month has; with the work that keeps it in order.

import { ask, newest } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address, go } from '../core/router.js';
import { bytes, month, number, percent, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';

const parts = ['photo', 'original', 'preview', 'thumbnail'];

class StorageScreen extends Component {
  #usage = element('div', {}, element('p', { class: 'quiet', role: 'status' }, t('state.loading')));
  #months = element('div');
  #waiting;
  #read = newest(
    () => Promise.all([ask('storage.usage'), ask('photo.timeline'), ask('library.status')]),
    ([usage, timeline, status]) => {
      this.#drawUsage(usage, status);
      this.#drawMonths(timeline.months);
    },
    // What was shown stays; what is away comes back with an event.
    (error) => !error.retryable && this.#usage.replaceChildren(element('p', { class: 'fault' }, describe(error))));

  connectedCallback() {
    this.classList.add('screen');
    const startJob = (method, parameters) => () => attempt(async () => {
      await ask(method, parameters);
      go(address('jobs'));
    });
    this.append(
      element('header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.storage'))),
      element('section', { class: 'card' }, element('h2', {}, t('storage.usage')), this.#usage),
      element('section', { class: 'card' }, element('h2', {}, t('storage.months')), this.#months),
      element(
        'section', { class: 'card stack' }, element('h2', {}, t('storage.care')),
        element('p', { class: 'quiet' }, t('storage.careHelp')),
        element(
          'div', { class: 'buttons' },
          textButton(t('storage.check'), startJob('library.rescan', { digests: true })),
          textButton(t('storage.thumbnails'), startJob('thumbnail.rebuild', {})),
          textButton(t('storage.clean'), () => attempt(async () => {
            const { thumbnails, previews, bytes: freed } = await ask('storage.clean');
            const count = thumbnails + previews;
            toast(count > 0 ? t('storage.cleaned', { count, size: bytes(freed) }) : t('storage.nothingToClean'));
            await this.#read();
          })))));
    this.during(observe('event.subscribe', {}, () => {
      this.#waiting ??= setTimeout(() => {
        this.#waiting = undefined;
        if (this.isConnected) this.#read();
      }, 300);
    }));
    this.#read();
  }

  #drawUsage(usage, status) {
    const total = parts.reduce((sum, part) => sum + usage[`${part}Bytes`], 0);
    const share = (part) => (total > 0 ? usage[`${part}Bytes`] / total : 0);
    this.#usage.replaceChildren(
      element('p', {}, t('storage.total', { size: bytes(total), free: bytes(usage.freeBytes) })),
      element('div', { class: 'bar', 'aria-hidden': 'true' }, parts.map((part) => element('span', { class: part, css: { 'flex-grow': String(share(part)) } }))),
      element('dl', { class: 'legend' }, parts.flatMap((part) => [
        element('dt', {}, element('span', { class: `key ${part}` }), t(`storage.${part}`)),
        element('dd', { class: 'number' }, `${bytes(usage[`${part}Bytes`])} · ${percent(share(part))} · ${t('storage.files', { count: usage[`${part}Count`] })}`)])),
      element('p', { class: 'quiet small path' }, t('storage.folder', { path: status.path })));
  }

  /** Bars of the months from the first to the last, empty ones too; each opens its photos. */
  #drawMonths(months) {
    if (months.length === 0) {
      this.#months.replaceChildren(element('p', { class: 'quiet' }, t('timeline.none')));
      return;
    }
    const years = new Map();
    for (const { date: name, count } of months) {
      const year = years.get(name.slice(0, 4)) ?? new Array(12).fill(0);
      year[Number(name.slice(5, 7)) - 1] = count;
      years.set(name.slice(0, 4), year);
    }
    const most = Math.max(...months.map(({ count }) => count));
    this.#months.replaceChildren(element('div', { class: 'years-chart' }, [...years].map(([year, counts]) => element(
      'section', { 'aria-label': year },
      element('h3', {}, year, element('span', { class: 'quiet small number' }, number(counts.reduce((sum, one) => sum + one, 0)))),
      element('ol', {}, counts.map((count, index) => {
        const name = `${year}-${String(index + 1).padStart(2, '0')}`;
        const days = new Date(Date.UTC(Number(year), index + 1, 0)).getUTCDate();
        const text = `${month(name)}: ${t('timeline.count', { count })}`;
        // The root of the share: a month of ten photos is seen beside one of ten thousand.
        const bar = { '--height': `${count > 0 ? Math.max(6, Math.sqrt(count / most) * 100) : 0}%` };
        return element('li', {}, count > 0
          ? element('a', { href: address('photos', { parameters: { from: `${name}-01`, to: `${name}-${days}` } }), css: bar, title: text, 'aria-label': text })
          : element('span', { css: bar }));
      }))))));
  }
}

customElements.define('storage-screen', StorageScreen);
