// Joining: what another family has handed over lets this library into the groups that their machine keeps.

import { ask } from '../core/daemon.js';
import { element } from '../core/dom.js';
import { Refusal, showDialog } from '../core/dialog.js';
import { list, t } from '../core/text.js';
import { toast } from '../core/toasts.js';
import { explained, listGroups } from './groups.js';
import { isForReviews, isPlain, readInvitation } from './invitation.js';

const refusals = { unauthenticated: 'groups.joinOver', invalid_argument: 'groups.joinWrong', resource_exhausted: 'groups.joinMany' };

/**
 * Asks for an invitation, and joins.
 *
 * @returns {Promise<{groups: object[], joined: object[]} | undefined>} all groups there are then, and those of that machine
 */
export async function joinGroup() {
  const field = element('input', {
    name: 'invitation', required: true, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', placeholder: 'https://…/#join=…',
  });
  const allow = element('input', { type: 'checkbox' });
  const plain = element('label', { class: 'choice', hidden: true }, allow, t('groups.joinPlain'));
  const joined = await showDialog({
    title: t('groups.join'), action: t('groups.joinNow'),
    body: [
      element('label', {}, t('groups.invitation'), field), plain,
      element('p', { class: 'quiet small' }, t('groups.joinHelp'))],
    act: async () => {
      const invitation = readInvitation(field.value);
      if (!invitation) throw new Refusal(t(isForReviews(field.value) ? 'groups.joinReviews' : 'groups.joinWrong'));
      const { address, token, url } = invitation;
      plain.hidden = !isPlain(url);
      // Said before anything is sent: the token would be read with it.
      if (isPlain(url) && !allow.checked) throw new Refusal(t('groups.joinUnsafe'));
      const hub = await explained(
        () => ask('group.join', { address, token, ...(isPlain(url) && { allowsPlainHTTP: true }) }), refusals);
      const groups = await listGroups();
      return { hub, groups, joined: groups.filter((group) => group.hub === hub.address) };
    },
  });
  if (!joined) return undefined;
  const names = list(joined.joined.map(({ name }) => t('groups.nameOf', { name })));
  toast(names ? t('groups.joinDone', { names }) : t('groups.joinEmpty', { address: joined.hub.address }));
  return joined;
}
