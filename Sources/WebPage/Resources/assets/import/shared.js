// Sends what other apps have shared with the page.

import { Refusal } from '../core/dialog.js';
import { remembered } from '../core/preferences.js';
import { address, current } from '../core/router.js';
import { t } from '../core/text.js';
import { toast, toastError } from '../core/toasts.js';
import './shared-files.js';
import { uploads } from './uploads.js';

/** Keys of files that this page is sending. */
const taken = new Set();

/** Sends what was shared and is not on its way; says how much that is. */
export async function sendShared() {
  // The service worker could not keep it, and has nobody whom it could tell.
  if (current().parameters.get('shared') === 'failed') {
    toastError(new Refusal(t('upload.shareFailed')));
    history.replaceState(history.state, '', address('import'));
  }
  let found;
  try {
    found = (await self.sharedFiles.kept()).filter(({ key }) => !taken.has(key));
  } catch (error) {
    // Some private windows have no database, and then nothing was shared with them.
    if (error.name !== 'InvalidStateError' && error.name !== 'SecurityError') toastError(error);
    return;
  }
  if (found.length === 0) return;
  const keys = new Map(found.map(({ key, file }) => [file, key]));
  for (const key of keys.values()) taken.add(key);
  toast(t('upload.shared', { count: found.length }));
  uploads.add([...keys.keys()], Number(remembered('import.category')) || undefined, (file) => self.sharedFiles.forget(keys.get(file)));
}
