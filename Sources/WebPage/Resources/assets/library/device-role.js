// Whom a device is for: said in words, and chosen in a dialog.

import { element } from '../core/dom.js';
import { Refusal } from '../core/dialog.js';
import { t } from '../core/text.js';

const roles = ['parent', 'looker', 'child'];

/** `A child’s: Family, Cars`. */
export function roleText({ role = 'parent', categoryIds = [] }, categories) {
  if (role !== 'child') return t(`devices.is.${role}`);
  const names = categories.filter(({ id }) => categoryIds.includes(id)).map(({ displayName }) => displayName);
  return names.length > 0 ? t('devices.is.child', { categories: names.join(', ') }) : t('devices.is.childNone');
}

/**
 * Fields for a dialog's body, and what is chosen in them.
 *
 * @param {object[]} categories all there are
 * @param {{ role?: string, categoryIds?: number[] }} rights what is chosen at first
 * @returns {{ fields: Node[], read: (form: HTMLFormElement) => { role: string, categoryIds?: number[] } }} `read` throws a Refusal
 */
export function roleFields(categories, { role: first = 'parent', categoryIds = [] } = {}) {
  const boxes = element(
    'fieldset', { class: 'categories-choice', hidden: first !== 'child' },
    element('legend', {}, t('devices.categories')),
    categories.map(({ id, displayName }) => element(
      'label', { class: 'choice' },
      element('input', { type: 'checkbox', name: 'category', value: String(id), checked: categoryIds.includes(id) }), element('span', {}, displayName))));
  const choice = (role) => element(
    'label', { class: 'choice' },
    element('input', { type: 'radio', name: 'role', value: role, checked: role === first, onchange: () => (boxes.hidden = role !== 'child') }),
    element('span', {}, element('strong', {}, t(`devices.for.${role}`)), element('span', { class: 'quiet small' }, ` ${t(`devices.for.${role}Help`)}`)));
  return {
    fields: [element('fieldset', { class: 'stack' }, element('legend', {}, t('devices.forWhom')), roles.map(choice)), boxes],
    read: (form) => {
      const data = new FormData(form);
      const role = data.get('role');
      if (role !== 'child') return { role };
      const chosen = data.getAll('category').map(Number);
      if (chosen.length === 0) throw new Refusal(t('devices.categoriesNone'));
      return { role, categoryIds: chosen };
    },
  };
}
