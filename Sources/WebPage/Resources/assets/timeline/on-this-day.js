// What was on this day in other years: a row of pictures above the timeline, one for each year, newest first.

import { ask, pictureAddress } from '../core/daemon.js';
import { element } from '../core/dom.js';
import { pictureKind } from '../core/pictures.js';
import { address } from '../core/router.js';
import { day, t, yearsAgo } from '../core/text.js';
import { shownAt } from './photo-list.js';

/** Years that are asked for at most. */
const mostYears = 12;
/** The width of a card, and the space between two; how wide and high one is at most. */
const [cardWidth, gap] = [132, 8];
const cardBox = { width: 200, height: 132 };

/** Today by the clock on the wall here, as the camera's is one: `2025-06-15`. */
function today() {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/**
 * The row, or undefined where nothing is known of this day in other years.
 *
 * @param {Array} months of the list of all photos
 * @param {number} width that there is, in CSS pixels
 */
export async function onThisDay(months, width) {
  const [year, ...rest] = today().split('-');
  const days = months.filter(({ month }) => month.slice(5) === rest[0] && month.slice(0, 4) < year)
    .map(({ month }) => `${month.slice(0, 4)}-${rest.join('-')}`);
  const found = await Promise.all(days.slice(0, mostYears).map(photoOf));
  const cards = found.filter(Boolean).slice(0, Math.max(2, Math.floor((width + gap) / (cardWidth + gap))));
  if (cards.length === 0) return undefined;
  return element(
    'section', { class: 'on-this-day', 'aria-label': t('timeline.onThisDay') },
    element('h2', {}, t('timeline.onThisDay')),
    element('ul', {}, cards.map(([date, photo]) => element('li', {}, card(date, photo, Number(year) - Number(date.slice(0, 4)))))));
}

/** The newest of a day. Of a scan that is known to its month alone, nobody knows the day. */
async function photoOf(date) {
  const { photos } = await ask('photo.search', { from: date, to: `${date}T23:59:59.999`, limit: 8 });
  const photo = photos.find(({ datePrecision }) => datePrecision !== 'year' && datePrecision !== 'month');
  return photo && shownAt(photo).startsWith(date) ? [date, photo] : undefined;
}

const card = (date, photo, years) => element(
  'a', { href: address('photos', { parameters: { from: date, to: date } }), 'aria-label': t('timeline.onDay', { day: day(date), time: yearsAgo(years) }) },
  element('img', { src: pictureAddress(photo, pictureKind(photo, cardBox)), alt: '', decoding: 'async', draggable: 'false' }),
  element('span', {}, yearsAgo(years)));
