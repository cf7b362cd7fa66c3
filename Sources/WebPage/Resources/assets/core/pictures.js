// Which of a photo's pictures shows it sharply at a place on the screen.

import { pictureAddress } from './daemon.js';

const thumbnailSide = 300;
const previewSide = 1024;
/** How far a picture is stretched before a larger one is asked for. */
const stretch = 1.2;

const kinds = ['thumbnail', 'preview', 'photo'];

/** The pixels of the long side of a photo's preview; undefined where it has none. As the daemon's ImageLimits have it. */
function sideOfPreview({ width, height }) {
  const [long, short] = [Math.max(width, height), Math.max(1, Math.min(width, height))];
  const side = Math.min(Math.max(previewSide, Math.floor(previewSide / 2 * long / short)), previewSide * 2);
  return side * 5 <= long * 4 ? side : undefined;
}

/**
 * The kind of picture, `thumbnail`, `preview` or `photo`, that has the pixels for a box that it covers.
 *
 * By the numbers, and not by `srcset`: browsers that are given widths take the smaller picture until it would be stretched by the
 * geometric mean of two, which is 1.85 between 300 and 1,024 pixels.
 *
 * @param {{width: number, height: number}} box in CSS pixels
 */
export function pictureKind(photo, box) {
  // A placeholder has fewer pixels than its photo says.
  if (photo.unseenBy) return 'thumbnail';
  const long = Math.max(photo.width, photo.height);
  const needed = Math.max(box.width / Math.max(1, photo.width), box.height / Math.max(1, photo.height)) * long * devicePixelRatio;
  if (Math.min(needed, long) <= thumbnailSide * stretch) return 'thumbnail';
  const preview = sideOfPreview(photo);
  return preview && needed <= preview * stretch ? 'preview' : 'photo';
}

/** Whether one kind has more pixels than another. */
export const isLarger = (kind, other) => kinds.indexOf(kind) > kinds.indexOf(other);

/** The addresses of the pictures to go through until a photo is sharp in a box that it covers, the smallest first. */
export function picturesFor(photo, box) {
  const upTo = kinds.indexOf(pictureKind(photo, box));
  return kinds.slice(0, upTo + 1).filter((kind) => kind !== 'preview' || sideOfPreview(photo)).map((kind) => pictureAddress(photo, kind));
}
