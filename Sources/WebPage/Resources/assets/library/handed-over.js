// An address with a secret in it, as one hands it to another device or another family: a code for a camera, the text, and a
// way to copy it. Nothing keeps it: it is gone with the dialog that shows it.

import { element, textButton } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { t } from '../core/text.js';
import { qrCode } from './qr-code.js';

/** Whether an address with this name means the same machine on every machine: itself. */
export const isOwnMachine = (hostname) => /^(localhost$|127\.|\[::1\]$)/.test(hostname);

/**
 * A text with a button that copies it. What came of that is said beside the button: a message at the window's edge would be
 * behind the dialog, where nobody reads it.
 */
export function copied(text) {
  const said = element('span', { class: 'quiet small', role: 'status' });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = t('devices.copied');
    } catch (error) {
      said.textContent = describe(error);
    }
  };
  return [
    element('pre', { class: 'wrap' }, text),
    // Browsers give the clipboard to pages of this machine and of HTTPS.
    navigator.clipboard && element('div', { class: 'copying' }, textButton(t('devices.copy'), copy), said)].filter(Boolean);
}

/**
 * @param {string} address
 * @param {string} label what the code is, for a screen reader
 * @returns {Promise<Node[]>} for the body of a dialog
 */
export async function handedOver(address, label) {
  // Whoever cannot have the picture still has the address.
  const picture = await qrCode(address, label).catch(() => null);
  return [picture, ...copied(address)].filter(Boolean);
}
