// An address with a secret in it, as one hands it to another device or another family: a code for a camera, the text, and a
// way to copy it. Nothing keeps it: it is gone with the dialog that shows it.

import { fetched } from '../core/daemon.js';
import { element, textButton } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { t } from '../core/text.js';
import { qrCode } from './qr-code.js';

/** Whether an address with this name means the same machine on every machine: itself. */
export const isOwnMachine = (hostname) => /^(localhost$|127\.|\[::1\]$)/.test(hostname);

/**
 * Where another device reaches this page: not by this device's own address, where that is one which leads every device to itself.
 *
 * @returns {Promise<{ origin: string, door?: string, fingerprint?: string, isOnlyHere: boolean }>} the door is where a device first gets a
 *   certificate of this home's own
 */
export async function reachable() {
  // A server from before has no such address to ask, and then this device's own has to do.
  const { addresses = [], doors = [], fingerprint } = await fetched('/whereabouts').then((reply) => reply.json()).catch(() => ({}));
  const isOwn = isOwnMachine(location.hostname);
  const origin = isOwn ? addresses[0] ?? location.origin : location.origin;
  return { origin, door: doors[Math.max(0, addresses.indexOf(origin))], fingerprint, isOnlyHere: isOwnMachine(new URL(origin).hostname) };
}

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
