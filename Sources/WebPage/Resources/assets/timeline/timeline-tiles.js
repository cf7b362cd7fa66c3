// The elements of a timeline: tiles, and the headings of months and days. They are used again as one scrolls.

import { pictureAddress, pictureVersion } from '../core/daemon.js';
import { element } from '../core/dom.js';
import { isLarger, pictureKind } from '../core/pictures.js';
import { day, month, photoTime, runningTime, shortDay, t } from '../core/text.js';

/** A tile without a photo. */
export function makeTile() {
  const image = element('img', { alt: '', decoding: 'async', draggable: 'false' });
  const link = element('a', { tabindex: '-1', draggable: 'false' }, image);
  const check = element('button', { type: 'button', class: 'check', tabindex: '-1', 'aria-pressed': 'false' });
  const film = element('span', { class: 'running-time', 'aria-hidden': 'true', hidden: true });
  const tile = element('div', { class: 'tile', role: 'listitem' }, link, check, film);
  Object.assign(tile, { image, link, check, film });
  image.addEventListener('load', () => {
    tile.classList.add('loaded');
    sharpen(tile);
  });
  image.addEventListener('error', () => tile.classList.toggle('unseen-picture', image.hasAttribute('src')));
  return tile;
}

/** Has a tile show a photo, or none, with its link's address. */
export function fillTile(tile, photo, href) {
  const shown = tile.photo;
  tile.photo = photo;
  if (!photo) {
    // Ends what is loading; the tile is plain until its photo has been read.
    tile.image.removeAttribute('src');
    letGo(tile);
    tile.link.removeAttribute('href');
    tile.film.hidden = true;
    tile.classList.remove('loaded', 'favourite', 'selected', 'unseen-picture');
    return;
  }
  if (shown?.uuid !== photo.uuid || pictureVersion(shown) !== pictureVersion(photo)) {
    tile.classList.remove('loaded', 'unseen-picture');
    letGo(tile);
    tile.kind = 'thumbnail';
    tile.image.src = pictureAddress(photo, 'thumbnail');
  }
  tile.link.href = href;
  const time = photo.kind === 'film' && (photo.duration === undefined ? t('film.film') : runningTime(photo.duration));
  const isMoving = photo.kind === 'moving';
  tile.film.hidden = !time && !isMoving;
  tile.film.textContent = isMoving ? '◉' : `▶ ${time}`;
  const label = [photo.caption || photo.name, time && t('film.ofLength', { time }), isMoving && t('film.moving'), photoTime(photo), photo.isFavorite && t('photo.favourite')].filter(Boolean).join(', ');
  tile.link.setAttribute('aria-label', label);
  tile.check.setAttribute('aria-label', t('timeline.select', { photo: label }));
  tile.classList.toggle('favourite', photo.isFavorite);
}

/** Ends what a tile waits for beside what it shows. */
function letGo(tile) {
  tile.larger?.removeAttribute('src');
  tile.larger = undefined;
}

/**
 * Puts a larger picture in the place of the thumbnail, where the tile has more pixels than that. The thumbnail comes first: all that is
 * on the screen is seen before any of it is sharp, and a preview that has to be made leaves no hole.
 */
async function sharpen(tile) {
  const { photo, image } = tile;
  if (!photo || !tile.isPlaced || !tile.classList.contains('loaded')) return;
  const kind = pictureKind(photo, { width: tile.wide, height: tile.high });
  if (!isLarger(kind, tile.kind)) return;
  tile.kind = kind;
  letGo(tile);
  const larger = new Image();
  tile.larger = larger;
  larger.src = pictureAddress(photo, kind);
  try {
    // Decoded before it takes the small one's place: no flash, and no long task while it is drawn.
    await larger.decode();
  } catch {
    return;
  }
  if (tile.larger !== larger) return;
  image.src = larger.src;
  tile.larger = undefined;
}

export function markTile(tile, isSelected) {
  tile.classList.toggle('selected', isSelected);
  tile.check.setAttribute('aria-pressed', String(isSelected));
}

export function placeTile(tile, { x, y, width, height }) {
  const placed = `translate(${x}px, ${y}px)`;
  if (tile.placed !== placed) tile.style.transform = tile.placed = placed;
  const isAsBefore = tile.isPlaced && tile.wide === width && tile.high === height && tile.pixelRatio === devicePixelRatio;
  if (tile.wide !== width) tile.style.width = `${tile.wide = width}px`;
  if (tile.high !== height) tile.style.height = `${tile.high = height}px`;
  if (isAsBefore) return;
  tile.isPlaced = true;
  tile.pixelRatio = devicePixelRatio;
  sharpen(tile);
}

/** Above this width a day has its whole name. */
const wholeName = 300;

/**
 * The headings and the list of tiles of a day, or of a month whose days are not known yet. Their buttons select all of it, and
 * are no stops of Tab: there are keys for that, and a screen reader finds them with the headings.
 */
export function makeSection({ day: date, entry, count, isShared }) {
  const monthName = month(entry.month);
  const long = date ? day(date) : monthName;
  const all = (name) => element(
    'button', { type: 'button', class: 'check-all', tabindex: '-1', 'aria-pressed': 'false', 'aria-label': t('timeline.selectAllOf', { day: name }) });
  const [monthCheck, dayCheck] = [all(monthName), all(long)];
  const dayText = element('span', {});
  const monthHeading = element('h2', { class: isShared ? 'month shared' : 'month', hidden: true }, element('span', {}, monthName), monthCheck);
  // A month whose days are not there yet has none to name.
  const dayHeading = element('h3', { class: 'day', title: long, hidden: !date }, dayText, dayCheck);
  const tiles = element('div', { class: 'tiles', role: 'list', 'aria-label': t('timeline.photosOf', { day: long, count }) });
  const section = element('section', { 'aria-label': long }, monthHeading, dayHeading, tiles);
  return Object.assign(section, { monthHeading, monthCheck, dayHeading, dayCheck, dayText, tiles, entry });
}

/** Puts the headings of a day where the layout has it, on a canvas that begins at a height. */
export function placeSection(section, block, y) {
  const { monthHeading, dayHeading, dayText } = section;
  const put = (heading, top, width) => {
    const placed = `translate(${block.x}px, ${y + top}px) ${width}`;
    if (heading.placed === placed) return;
    heading.placed = placed;
    heading.style.transform = `translate(${block.x}px, ${y + top}px)`;
    heading.style.width = `${width}px`;
  };
  if (monthHeading.hidden !== !block.isFirst) monthHeading.hidden = !block.isFirst;
  if (block.isFirst) put(monthHeading, block.monthTop, block.monthWidth);
  put(dayHeading, block.headingTop, block.width);
  if (!block.day) return;
  const isWhole = block.width > wholeName;
  if (section.isWhole === isWhole) return;
  section.isWhole = isWhole;
  dayText.textContent = isWhole ? day(block.day) : shortDay(block.day);
}

export function markSection(section, { days, months }) {
  const { block, entry, monthCheck, dayCheck } = section;
  monthCheck.setAttribute('aria-pressed', String(months.get(entry.month) >= entry.count));
  dayCheck.setAttribute('aria-pressed', String(Boolean(block.day) && days.get(block.day) >= block.count));
}
