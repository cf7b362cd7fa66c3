// What opens above the timeline: the picker of years and months, how photos are shown, and the list of keys.

import { grouped } from '../core/collections.js';
import { element, styles, textButton } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { remember } from '../core/preferences.js';
import { month, monthName, t } from '../core/text.js';
import { tileSizes } from './timeline-layout.js';
import { singleKeys } from './timeline-shortcuts.js';

await styles('/assets/timeline/dialogs.css');

/**
 * Asks for a month.
 *
 * @param {Array} months of a `PhotoList`
 * @param {object} here the one that is looked at
 * @returns {Promise<number|undefined>} the position that it begins at
 */
export function chooseMonth(months, here) {
  const years = grouped(months, ({ month: name }) => name.slice(0, 4));
  return new Promise((resolve) => {
    let chosen;
    const button = ({ month: name, count, position }) => element(
      'button', {
        type: 'button', class: 'button', 'aria-current': name === here?.month && 'date',
        'aria-label': t('timeline.photosOf', { day: month(name), count }),
        onclick: ({ target }) => {
          chosen = position;
          target.closest('dialog').close();
        },
      }, monthName(name));
    showDialog({
      title: t('timeline.months'), kind: 'months',
      body: [...years].map(([year, entries]) => element(
        'section', {}, element('h3', {}, year), element('div', { class: 'months-of-year' }, entries.map(button)))),
      opened: (dialog) => {
        const current = dialog.querySelector('[aria-current]');
        current?.focus();
        current?.scrollIntoView({ block: 'center' });
      },
    }).then(() => resolve(chosen));
  });
}

/** Asks how photos are shown. */
export function chooseView(timeline) {
  const shape = (isSquare, name) => element(
    'label', { class: 'choice' },
    element('input', { type: 'radio', name: 'shape', checked: timeline.isSquare === isSquare, onchange: () => (timeline.isSquare = isSquare) }), name);
  const size = element('input', {
    type: 'range', name: 'size', min: '0', max: String(tileSizes.length - 1), value: String(timeline.tileSize),
    oninput: () => (timeline.tileSize = Number(size.value)),
  });
  showDialog({
    title: t('timeline.view'),
    body: [
      element('fieldset', {}, element('legend', {}, t('timeline.shape')), shape(false, t('timeline.shapeOwn')), shape(true, t('timeline.shapeSquare'))),
      element('label', {}, t('timeline.size'), size),
      element(
        'div', { class: 'view-buttons' },
        textButton(t('timeline.selectEverything'), ({ target }) => {
          target.closest('dialog').close();
          timeline.selectEverything();
        }),
        textButton(t('keys.title'), ({ target }) => {
          target.closest('dialog').close();
          showKeys();
        })),
    ],
  });
}

/** Which keys do what: the sentence of each, and the keys, `+` between those that are held together. */
const keys = [
  ['keys.everywhere', [['search', '/'], ['list', '?'], ['undo', 'Ctrl+Z'], ['close', 'Escape']]],
  ['keys.timeline', [
    ['walk', '← → ↑ ↓'], ['jump', 'PageUp PageDown Home End'], ['open', 'Enter'], ['size', '+ −'], ['select', 'Space'],
    ['range', 'Shift+← →'], ['day', 'D'], ['month', 'M'], ['everything', 'Ctrl+A'], ['trash', 'Delete'],
  ]],
  ['keys.photo', [['neighbour', '← →'], ['zoom', '+ − 0'], ['favourite', 'F'], ['facts', 'I'], ['turn', 'R Shift+R'], ['slides', 'S'], ['trash', 'Delete']]],
];

/** Lists the keys, with a switch for those that a voice or a hand may press by mistake. */
export function showKeys() {
  const name = (key) => element('kbd', {}, key.length > 1 ? t(`key.${key}`) : key);
  const combination = (text) => text.split(/(?<=.)\+/u).flatMap((key, index) => (index > 0 ? [' + ', name(key)] : [name(key)]));
  const row = ([key, combinations]) => element(
    'div', {}, element('dt', {}, t(`keys.${key}`)),
    element('dd', {}, combinations.split(' ').flatMap((one, index) => (index > 0 ? [' ', ...combination(one)] : combination(one)))));
  const box = element('input', {
    type: 'checkbox', checked: singleKeys(), onchange: () => remember('singleKeys', box.checked ? undefined : 'off'),
  });
  showDialog({
    title: t('keys.title'), kind: 'keys',
    body: [
      ...keys.map(([title, rows]) => element('section', {}, element('h3', {}, t(title)), element('dl', {}, rows.map(row)))),
      element('p', { class: 'quiet small' }, t('keys.shiftClick')),
      element('label', { class: 'choice' }, box, t('keys.single')),
    ],
    opened: (dialog) => dialog.querySelector('header button').focus(),
  });
}
