// Choosing among the folders that the daemon offers for backups.

import { element } from '../core/dom.js';
import { bytes, t } from '../core/text.js';

/** What a folder is called: what a person knows of it, where it is, and what it has room for. */
const called = ({ path, kind, freeBytes, isOnLibraryDisk }) => [
  kind === 'library' ? t('backup.place.library') : path,
  isOnLibraryDisk && kind !== 'library' && t('backup.sameDisk'), freeBytes !== undefined && t('backup.free', { size: bytes(freeBytes) }),
].filter(Boolean).join(' · ');

/**
 * A field that chooses one of the folders that backups can be written to.
 * @param {{folders: object[]}} places the reply of `backup.places`
 * @param {string} name of the field
 * @param {string} chosen the folder that is chosen now, also where it is away
 */
export const folderChoice = ({ folders }, name, chosen = '') => {
  const there = folders.filter(({ isWritable }) => isWritable);
  const all = chosen && !there.some(({ path }) => path === chosen) ? [{ path: chosen, kind: 'schedule' }, ...there] : there;
  return element('select', { name, required: true }, all.map((folder) => (
    element('option', { value: folder.path, selected: folder.path === chosen }, called(folder)))));
};
