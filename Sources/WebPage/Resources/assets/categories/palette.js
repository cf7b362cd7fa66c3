// The colours of categories (category-management.md), in the order of the palette, and their looks.

import { element } from '../core/dom.js';
import { t } from '../core/text.js';
import { categoryLooks } from './category-picker.js';

export const palette = [
  '#4CAF50', '#2196F3', '#FF9800', '#9C27B0', '#F44336', '#FF5722', '#795548', '#607D8B', '#E91E63', '#009688', '#FFEB3B', '#3F51B5',
];

/** The colour's name, for who cannot see it. */
export const colourName = (colour) => (palette.includes(colour.toUpperCase()) ? t(`colour.${colour.slice(1).toUpperCase()}`) : colour);

/** A category as it looks everywhere. */
export const chip = (category) => element('span', { class: 'category-chip' }, categoryLooks(category));

/** Twelve colours to choose from, as radio buttons; `chosen` that is none of them is a thirteenth. */
export function paletteField(chosen, changed) {
  const colours = palette.includes(chosen.toUpperCase()) ? palette : [...palette, chosen];
  return element(
    'fieldset', { class: 'palette' }, element('legend', {}, t('category.colour')),
    element('div', {}, colours.map((colour) => element(
      'label', { css: { '--colour': colour }, title: colourName(colour) },
      element('input', {
        type: 'radio', name: 'colour', value: colour, checked: colour.toUpperCase() === chosen.toUpperCase(),
        'aria-label': colourName(colour), onchange: () => changed(colour),
      })))));
}
