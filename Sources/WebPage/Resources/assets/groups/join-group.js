// Joining: what another family has handed over lets this library into the groups that their machine keeps.

import { ask } from '../core/daemon.js';
import { list, t } from '../core/text.js';
import { toast } from '../core/toasts.js';
import { askForInvitation } from '../library/invitations.js';
import { listGroups } from './groups.js';

/**
 * Asks for an invitation, and joins.
 *
 * @returns {Promise<{groups: object[], joined: object[]} | undefined>} all groups there are then, and those of that machine
 */
export async function joinGroup() {
  const joined = await askForInvitation({
    purpose: 'join', title: t('groups.join'), help: t('groups.joinHelp'), other: t('groups.joinReviews'),
    join: async (request) => {
      const hub = await ask('group.join', request);
      const groups = await listGroups();
      return { hub, groups, joined: groups.filter((group) => group.hub === hub.address) };
    },
  });
  if (!joined) return undefined;
  const names = list(joined.joined.map(({ name }) => t('groups.nameOf', { name })));
  toast(names ? t('groups.joinDone', { names }) : t('groups.joinEmpty', { address: joined.hub.address }));
  return joined;
}
