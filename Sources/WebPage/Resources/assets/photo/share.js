// A photo for the system's own share sheet: another person's phone, a messenger, a printer. The browser hands it over; nothing is
// sent from here.

import { fetched, pictureAddress } from '../core/daemon.js';
import { showDialog } from '../core/dialog.js';
import { element } from '../core/dom.js';
import { t } from '../core/text.js';

/** Whether this browser hands files to other apps. Only pages that came over TLS, or from this machine, may. */
export const canShare = () => {
  try {
    return navigator.canShare?.({ files: [new File([''], 'photo.jpg', { type: 'image/jpeg' })] }) ?? false;
  } catch {
    return false;
  }
};

/** Shares what is shown of a photo, in 2,048 pixels, or a film. */
export async function share(photo) {
  const isFilm = photo.kind === 'film';
  const reply = await fetched(pictureAddress(photo, isFilm ? 'film' : 'photo'));
  const body = await reply.blob();
  const file = new File([body], nameOf(photo, body.type), { type: body.type });
  try {
    await hand(file);
  } catch (error) {
    if (error.name !== 'NotAllowedError') throw error;
    // It took longer to load than a press counts: one more.
    await showDialog({ title: t('share.ready'), body: [element('p', { class: 'path' }, file.name)], action: t('share.share'), act: () => hand(file) });
  }
}

/** Nothing where somebody has looked at the sheet and closed it. */
const hand = (file) => navigator.share({ files: [file] }).catch((error) => {
  if (error.name !== 'AbortError') throw error;
});

/** The photo's name with the ending of what is shared: apps go by it. */
function nameOf(photo, type) {
  const ending = { 'image/jpeg': '.jpg', 'image/png': '.png', 'image/webp': '.webp' }[type];
  return ending ? photo.name.replace(/\.[^.]{1,5}$/, '') + ending : photo.name;
}
