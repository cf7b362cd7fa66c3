// A link with which people who have no device see some photos: what it gives, for how long, and then its address, which is told once.

import { ask } from '../core/daemon.js';
import { element, styles } from '../core/dom.js';
import { Refusal, showDialog } from '../core/dialog.js';
import { moment, t } from '../core/text.js';
import { handedOver, reachable } from './handed-over.js';

const mostDays = 366;

/**
 * Asks what the link is to give, makes it, and shows its address.
 *
 * @param {{ photos?: Array, category?: object }} content either
 * @returns {Promise<true|undefined>} undefined where nobody wanted one
 */
export async function makeLink({ photos, category }) {
  await styles('/assets/library/library.css');
  const field = (name, attributes) => element('input', { name, autocomplete: 'off', ...attributes });
  const choice = (name, text) => element('label', { class: 'choice' }, element('input', { type: 'checkbox', name }), element('span', {}, text));
  const made = await showDialog({
    title: category ? t('link.titleCategory', { name: category.displayName }) : t('link.title', { count: photos.length }),
    action: t('link.create'),
    body: [
      element('p', { class: 'quiet' }, t(category ? 'link.helpCategory' : 'link.help')),
      element('label', {}, t('link.days'), field('days', { type: 'number', min: '1', max: String(mostDays), value: '30', required: true })),
      element('label', {}, t('link.name'), field('title', { maxlength: '100' })),
      element('label', {}, t('link.password'), field('password', { maxlength: '64', spellcheck: 'false' })),
      choice('details', t('link.details')), choice('originals', t('link.originals'))],
    act: (form) => {
      const data = new FormData(form);
      const days = Number(data.get('days'));
      if (!Number.isInteger(days) || days < 1 || days > mostDays) throw new Refusal(t('link.daysWrong', { most: mostDays }));
      const [title, password] = [data.get('title').trim(), data.get('password')];
      if (password && (password.length < 4 || password.trim() !== password)) throw new Refusal(t('link.passwordWrong'));
      return ask('link.create', {
        ...(category ? { categoryIds: [category.id] } : { photoIds: photos.map(({ id }) => id) }), days,
        ...(title && { title }), ...(password && { password }),
        ...(data.has('details') && { details: true }), ...(data.has('originals') && { originals: true }),
      });
    },
  });
  if (!made) return undefined;
  const { origin, isOnlyHere } = await reachable();
  await showDialog({
    title: t('link.ready'),
    body: [
      element('p', {}, t('link.readyHelp', { time: moment(made.link.expiresAt) })),
      isOnlyHere && element('p', { class: 'attention' }, t('invitation.onlyHere')),
      ...await handedOver(`${origin}/s/${made.token}`, t('link.qrCode'))].filter(Boolean),
  });
  return true;
}
