// The whole window takes files that are dropped on it, folders with everything in them too.

import { element, icon } from '../core/dom.js';
import { address, go } from '../core/router.js';
import { t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { remember } from './upload.js';

let shown;
/** Files that were dropped and that the import screen has not taken yet. */
export const dropped = { files: [] };

/** Shows where to drop, until something is dropped or taken away again. */
export function offerDrop() {
  if (shown) return;
  shown = element('div', { class: 'drop-target' }, icon('import'), element('p', {}, t('import.dropHere')));
  const hide = () => {
    shown?.remove();
    shown = undefined;
  };
  shown.addEventListener('dragover', (event) => {
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
  });
  shown.addEventListener('dragleave', hide);
  shown.addEventListener('drop', (event) => {
    event.preventDefault();
    // The list is only there until the first await.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
    hide();
    attempt(async () => {
      const files = (await Promise.all(entries.map(filesOf))).flat();
      if (files.length === 0) toast(t('import.nothingThere'));
      dropped.files = dropped.files.concat(files);
      go(address('import'));
      window.dispatchEvent(new Event('files-dropped'));
    });
  });
  document.body.append(shown);
}

/** The files of an entry, of a folder all that are below it. */
async function filesOf(entry) {
  if (entry instanceof File) return [entry];
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [remember(file, entry.fullPath.split('/').slice(1, -1).join('/'))];
  }
  const reader = entry.createReader();
  const files = [];
  for (;;) {
    // A reader gives a hundred at a time, and none at the end.
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return files;
    for (const inner of entries) for (const file of await filesOf(inner)) files.push(file);
  }
}
