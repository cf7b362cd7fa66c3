// What an upload that was broken off misses: the page does not have these files any more, and asks for them by their names.

import { ask } from '../core/daemon.js';
import { element, textButton } from '../core/dom.js';
import { t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import { uploads } from './uploads.js';

/** Names that are read at once. */
const shownNames = 100;

/**
 * @param {{session: string, files: number, missing: number}} unfinished
 * @param {() => void} pick lets a person choose files
 */
export function missingCard({ session, files, missing }, pick) {
  const names = element('ul', { class: 'receipt' });
  const list = element('details', {}, element('summary', {}, t('upload.missingNames')), names);
  list.addEventListener('toggle', () => list.open && names.children.length === 0 && attempt(async () => {
    const { names: found, next } = await ask('upload.missing', { session, limit: shownNames });
    names.replaceChildren(
      ...found.map((name) => element('li', {}, element('span', { class: 'item' }, name))),
      ...(next === undefined ? [] : [element('li', { class: 'quiet' }, t('list.andMore', { count: missing - found.length }))]));
  }));
  return element(
    'section', { class: 'card stack missing' }, element('h2', {}, t('upload.missing', { missing, count: files })),
    element('p', {}, t('upload.missingHelp')), list,
    element(
      'div', { class: 'buttons' }, textButton(t('upload.chooseAgain'), pick, { class: 'button primary' }),
      textButton(t('upload.leaveOut'), () => attempt(() => uploads.leaveOut(session)))));
}
