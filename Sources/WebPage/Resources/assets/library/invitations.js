// Invitations between machines, to groups and to reviews: an address with a token in its fragment, after `#join=` or `#reviews=`.
// The daemon tells a token once, and so does the page: it is in the dialog, and nowhere else.

import { element } from '../core/dom.js';
import { Refusal, explained, showDialog } from '../core/dialog.js';
import { t } from '../core/text.js';
import { handedOver, isOwnMachine, reachable } from './handed-over.js';

/** Whether what is sent there can be read on the way. */
const isPlain = ({ protocol, hostname }) => protocol === 'http:' && !isOwnMachine(hostname);

/**
 * Shows an invitation, once.
 *
 * @param {object} parts
 * @param {'join' | 'reviews'} parts.purpose
 * @param {string} parts.token
 * @param {string} parts.title
 * @param {string} parts.help whom it is for, and how long
 * @param {string} parts.there what is done with it on the other machine, but for the command
 * @param {string} parts.end what to do where this is closed too early
 */
export async function showInvitation({ purpose, token, title, help, there, end }) {
  const { origin, isOnlyHere } = await reachable();
  await showDialog({
    title, kind: 'invitation',
    body: [
      element('p', {}, help),
      isOnlyHere && element('p', { class: 'attention' }, t('invitation.onlyHere')),
      isPlain(new URL(origin)) && element('p', { class: 'attention' }, t('invitation.plainHere')),
      ...await handedOver(`${origin}/#${purpose}=${token}`, t('invitation.qrCode')),
      element('p', {}, there),
      element('pre', {}, purpose === 'join' ? 'smilepile groups join …' : 'smilepile swipe join …'),
      element('p', { class: 'quiet small' }, end)].filter(Boolean),
  });
}

/**
 * Asks for an invitation, also where more was copied with it, and does something with it. What is right about an address and a
 * token is the daemon's to say.
 *
 * @param {object} parts
 * @param {'join' | 'reviews'} parts.purpose
 * @param {string} parts.title
 * @param {string} parts.help
 * @param {string} parts.other what an invitation for the other purpose is, and where it belongs
 * @param {(request: { address: string, token: string, allowsPlainHTTP?: true }) => Promise<any>} parts.join
 * @returns {Promise<any>} what `join` gave, or undefined where the dialog was dismissed
 */
export function askForInvitation({ purpose, title, help, other, join }) {
  const field = element('input', {
    name: 'invitation', required: true, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', placeholder: `https://…/#${purpose}=…`,
  });
  const allow = element('input', { type: 'checkbox' });
  const plain = element('label', { class: 'choice', hidden: true }, allow, t('invitation.plain'));
  return showDialog({
    title, action: t('invitation.join'),
    body: [element('label', {}, t('invitation.field'), field), plain, element('p', { class: 'quiet small' }, help)],
    act: async () => {
      const [, address, found, token] = /(https?:\/\/[^\s#]+)#(join|reviews)=(\S+)/i.exec(field.value) ?? [];
      if (!address || !URL.canParse(address)) throw new Refusal(t('invitation.wrong'));
      if (found.toLowerCase() !== purpose) throw new Refusal(other);
      const url = new URL(address);
      plain.hidden = !isPlain(url);
      // Said before anything is sent: the token would be read with it.
      if (isPlain(url) && !allow.checked) throw new Refusal(t('invitation.unsafe'));
      return explained(() => join({ address, token, ...(isPlain(url) && { allowsPlainHTTP: true }) }), {
        unauthenticated: 'invitation.over', invalid_argument: 'invitation.wrong', resource_exhausted: 'invitation.many',
      });
    },
  });
}
