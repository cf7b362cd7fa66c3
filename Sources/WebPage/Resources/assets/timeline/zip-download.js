// Several originals as one ZIP, put together in the browser: pictures do not become smaller by compressing, so that a
// ZIP of them is the files one after the other, with a directory at the end (PKWARE's APPNOTE, method 0, without
// ZIP64). Beside a photo that the library knows more of than its picture says, stands what that is, as in an export.

import { ask, fetched, pictureAddress } from '../core/daemon.js';
import { element } from '../core/dom.js';
import { Refusal, showDialog } from '../core/dialog.js';
import { t } from '../core/text.js';
import { toast, toastError } from '../core/toasts.js';
import { download } from './photo-actions.js';

/** Sizes and places in a ZIP without ZIP64 have 32 bits. */
const mostBytes = 0xffffffff;
const mostFiles = 0xffff;

const extensions = {
  'image/jpeg': 'jpg', 'image/png': 'png', 'image/webp': 'webp', 'image/gif': 'gif', 'image/bmp': 'bmp', 'image/tiff': 'tif',
  'image/heic': 'heic', 'image/heif': 'heif', 'image/avif': 'avif', 'image/jxl': 'jxl', 'image/jp2': 'jp2',
  'image/x-adobe-dng': 'dng', 'image/x-canon-cr2': 'cr2', 'image/x-canon-cr3': 'cr3', 'image/x-nikon-nef': 'nef',
  'image/x-sony-arw': 'arw', 'image/x-fuji-raf': 'raf', 'image/x-olympus-orf': 'orf', 'image/x-panasonic-rw2': 'rw2',
  'image/x-pentax-pef': 'pef', 'image/x-samsung-srw': 'srw',
  'video/mp4': 'mp4', 'video/quicktime': 'mov', 'video/3gpp': '3gp', 'video/x-matroska': 'mkv', 'video/webm': 'webm', 'video/x-msvideo': 'avi',
  'video/mp2t': 'mts', 'video/mpeg': 'mpg', 'video/x-ms-asf': 'wmv',
};

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 of a stream's bytes, and their number; read in pieces, so that no long task comes of a large file. */
async function checksum(blob) {
  let value = 0xffffffff;
  for await (const piece of pieces(blob)) {
    for (let index = 0; index < piece.length; index += 1) value = (value >>> 8) ^ crcTable[(value ^ piece[index]) & 0xff];
  }
  return (value ^ 0xffffffff) >>> 0;
}

async function* pieces(blob) {
  const reader = blob.stream().getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

/** Numbers of 16 and 32 bits, least byte first: `[2, value]`, `[4, value]`; texts as they are. */
function record(...fields) {
  const length = fields.reduce((sum, field) => sum + (Array.isArray(field) ? field[0] : field.length), 0);
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const field of fields) {
    if (!Array.isArray(field)) bytes.set(field, at);
    else if (field[0] === 2) view.setUint16(at, field[1], true);
    else view.setUint32(at, field[1], true);
    at += Array.isArray(field) ? field[0] : field.length;
  }
  return bytes;
}

/** DOS date and time of the camera's clock; the format begins in 1980 and counts every other second. */
function dosTime(shownAt) {
  const [year, month, day, hour, minute, second] = shownAt.split(/[-T:.]/).map(Number);
  const years = Math.min(127, Math.max(0, year - 1980));
  return [(hour << 11) | (minute << 5) | (second >> 1), (years << 9) | (month << 5) | day];
}

/**
 * When the photo was taken, as Info-ZIP's extra field for the time of a Unix file has it (APPNOTE 4.6.1, 0x5455): DOS has none before
 * 1980, and does not say where its clock stands.
 */
function unixTime({ shownAt, takenOffset }) {
  const seconds = (takenOffset === undefined ? new Date(shownAt).getTime() : Date.parse(`${shownAt}Z`) - takenOffset * 60_000) / 1000;
  const time = Math.min(0x7fffffff, Math.max(-0x80000000, Math.floor(seconds)));
  return Number.isNaN(time) ? new Uint8Array() : record([2, 0x5455], [2, 5], Uint8Array.of(1), [4, time >>> 0]);
}

/** Equal for names that a file system might take for one. Lower case first: the upper case of ẞ is itself. */
function folded(name) {
  return name.normalize().toLowerCase().toUpperCase().normalize();
}

/** A name that no other entry has with any of these endings, without what a file's name may not have anywhere. */
function uniqueName(photo, extensions, taken) {
  const name = photo.name.replace(/[\u0000-\u001f\u007f"*/:<>?\\|\u202a-\u202e\u2066-\u2069]/g, '_').replace(/^\.+|[. ]+$/g, '_') || 'photo';
  for (let number = 1; ; number += 1) {
    const candidate = `${name}${number > 1 ? ` ${number}` : ''}`;
    const files = extensions.map((extension) => `${candidate}.${extension}`);
    if (!files.some((file) => taken.has(folded(file)))) {
      files.forEach((file) => taken.add(folded(file)));
      return files;
    }
  }
}

/**
 * What the library knows of a photo, where that is more than the picture and its name say; null where it is not.
 *
 * @param {boolean} asShown whether the picture is the photo as it is shown, which is turned already
 */
async function sidecarOf(photo, name, asShown, signal) {
  const sidecar = await ask('photo.sidecar', { id: photo.id, asShown }, signal);
  return sidecar.saysMore || !name.startsWith(`${photo.name}.`) ? new Blob([sidecar.text], { type: 'application/rdf+xml' }) : null;
}

/**
 * How the other half of a photo that is two files ends: its film, where that is no part of the original, or its raw file. Lists do not say
 * that.
 */
async function companionEnding({ id, kind }, signal) {
  if (kind === 'film') return undefined;
  const { sidecars } = await ask('photo.get', { id }, signal);
  return sidecars.map(({ path }) => path.split('.').at(-1)).find((ending) => !['xmp', 'json'].includes(ending));
}

async function zipOf(photos, progress, signal) {
  const parts = [];
  const directory = [];
  const taken = new Set();
  let offset = 0;
  let done = 0;
  async function add(photo, blob, name) {
    const bytes = new TextEncoder().encode(name);
    const crc = await checksum(blob);
    const extra = unixTime(photo);
    // Version 2.0; names are UTF-8 (bit 11); stored.
    const facts = [[2, 20], [2, 0x0800], [2, 0], ...dosTime(photo.shownAt).map((value) => [2, value]), [4, crc], [4, blob.size], [4, blob.size], [2, bytes.length], [2, extra.length]];
    const header = record([4, 0x04034b50], ...facts, bytes, extra);
    if (directory.length === mostFiles || offset + header.length + blob.size > mostBytes - (1 << 24)) throw new Refusal(t('selection.zipTooLarge'));
    directory.push(record([4, 0x02014b50], [2, 20], ...facts, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset], bytes, extra));
    parts.push(header, blob);
    offset += header.length + blob.size;
  }
  for (const photo of photos) {
    let asShown = false;
    const reply = await fetched(pictureAddress(photo, 'original'), { signal }).catch((error) => {
      // Of some photos the original was not kept; then the photo as it is shown.
      if (error.status !== 'not_found') throw error;
      asShown = true;
      return fetched(pictureAddress(photo, 'photo'), { signal });
    });
    const blob = await reply.blob();
    const ending = await companionEnding(photo, signal);
    // Called like the picture, by which programs know the two for one.
    const [name, companion] = uniqueName(photo, [extensions[blob.type.split(';')[0]] ?? 'bin', ending].filter(Boolean), taken);
    await add(photo, blob, name);
    if (companion) {
      const kind = ['mov', 'mp4'].includes(ending) ? 'film' : 'raw';
      await add(photo, await (await fetched(pictureAddress(photo, kind), { signal })).blob(), companion);
    }
    const sidecar = await sidecarOf(photo, name, asShown, signal);
    if (sidecar) await add(photo, sidecar, `${name}.xmp`);
    progress(done += 1);
  }
  const size = directory.reduce((sum, entry) => sum + entry.length, 0);
  const end = record([4, 0x06054b50], [2, 0], [2, 0], [2, directory.length], [2, directory.length], [4, size], [4, offset], [2, 0]);
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}

/**
 * Saves the originals: one as it is, several, or one and its film or raw file, as a ZIP. Resolves with true when it is done, undefined when it was given
 * up.
 */
export async function downloadTogether(photos) {
  if (photos.length === 1 && !await companionEnding(photos[0])) {
    download(photos[0], 'original');
    return true;
  }
  if (photos.length > mostFiles) throw new Refusal(t('selection.zipTooLarge'));
  const ending = new AbortController();
  const bar = element('progress', { max: String(photos.length), value: 0, 'aria-label': t('selection.zipping') });
  const numbers = element('p', { class: 'number', role: 'status' });
  let dialog;
  const closed = showDialog({ title: t('selection.zipping'), body: [bar, numbers], opened: (shown) => (dialog = shown) });
  closed.then(() => ending.abort());
  try {
    const zip = await zipOf(photos, (done) => {
      bar.value = done;
      numbers.textContent = t('import.figures', { done, count: photos.length });
    }, ending.signal);
    const address = URL.createObjectURL(zip);
    element('a', { href: address, download: `SmilePile ${new Date().toISOString().slice(0, 10)}.zip` }).click();
    // The browser has begun to copy it by then.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    toast(t('selection.zipped', { count: photos.length }));
    return true;
  } catch (error) {
    if (!ending.signal.aborted) toastError(error);
    return undefined;
  } finally {
    dialog.close();
  }
}
