// Files of which there are too many for one session: the daemon takes 20,000.

import { grouped } from '../core/collections.js';
import { folderOf } from './upload.js';

/** Files of one session, and a few more where they belong together. */
const mostFiles = 9000;

/**
 * Files in sessions. A photo and its sidecars come into the same one: files of one folder whose names begin alike, up to the first
 * dot, `(1)` or `-edited` in whatever language, and as far as Takeout writes them out.
 */
export function* sessionsOf(files, filesAtOnce = mostFiles) {
  const together = grouped(files, (file) => (
    `${folderOf(file)}/${file.name.split('.')[0].replace(/(-[\p{L}\p{M} ]+|\(\d+\))+$/u, '').slice(0, 40)}`));
  let some = [];
  for (const group of together.values()) {
    if (some.length > 0 && some.length + group.length > filesAtOnce) {
      yield some;
      some = [];
    }
    if (group.length <= filesAtOnce) some.push(...group);
    else yield* parts(group, filesAtOnce);
  }
  if (some.length > 0) yield some;
}

/** Files whose names begin alike all, as `2019.06.12 0001.jpg` do: sidecars stand behind their photos when they are sorted. */
function* parts(files, filesAtOnce) {
  let part = [];
  let stem;
  for (const file of files.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (stem === undefined || !file.name.startsWith(stem) || part.length >= 2 * filesAtOnce) {
      if (part.length >= filesAtOnce) {
        yield part;
        part = [];
      }
      stem = file.name.replace(/\.[^.]*$/, '');
    }
    part.push(file);
  }
  yield part;
}
