// Inviting: somebody gets into a group that this machine keeps.

import { ask } from '../core/daemon.js';
import { element } from '../core/dom.js';
import { Refusal, confirmed, explained, showDialog } from '../core/dialog.js';
import { session } from '../core/session.js';
import { t } from '../core/text.js';
import { toast } from '../core/toasts.js';
import { showInvitation } from '../library/invitations.js';
import { listGroups } from './groups.js';

const refusals = { not_found: 'groups.inviteGone', resource_exhausted: 'groups.inviteFull', already_exists: 'groups.inviteKnown' };

/** Whether this page may invite: a group of another machine's is that one's to fill. */
export const mayInvite = (group) => !group.hub && session.offers('group.invite');

/** Asks for somebody, takes them in, and shows their invitation. */
export async function invite(group) {
  const others = (await listGroups()).filter(({ hub }) => !hub).flatMap(({ members }) => members);
  const isIn = ({ userId }) => group.members.some((member) => member.userId === userId);
  const known = new Map(others.filter((one) => !one.isSelf && !isIn(one)).map((one) => [one.userId, one]));
  const field = element('input', { name: 'firstName', required: true, autocomplete: 'off' });
  const name = element(
    'div', { class: 'stack' },
    element('label', {}, t('groups.inviteName'), field), element('p', { class: 'quiet small' }, t('groups.inviteHelp')));
  const who = element(
    'select', { onchange: () => (name.hidden = who.value !== '') },
    element('option', { value: '' }, t('groups.inviteNew')),
    [...known.values()].map(({ userId, firstName }) => element('option', { value: userId }, firstName)));
  const invitation = await showDialog({
    title: t('groups.inviteTo', { name: group.name }), action: t('groups.inviteNow'),
    body: [known.size > 0 && element('label', {}, t('groups.inviteWho'), who), name].filter(Boolean),
    act: () => {
      const member = who.value ? { userId: who.value } : { firstName: field.value };
      if (!who.value && !field.value.trim()) throw new Refusal(t('groups.inviteMissing'));
      return explained(() => ask('group.invite', { groupId: group.id, ...member }), refusals);
    },
  });
  if (invitation) await show(invitation, group);
}

/** A new invitation for a member who has lost theirs, which ends with it. */
export async function inviteAgain(group, { userId, firstName }) {
  let invitation;
  await confirmed({
    title: t('groups.againTitle', { name: firstName }), text: t('groups.againHelp', { name: firstName }), action: t('groups.againNow'), danger: true,
    act: async () => {
      invitation = await explained(() => ask('group.invite', { groupId: group.id, userId, newToken: true }), refusals);
    },
  });
  if (invitation) await show(invitation, group);
}

async function show({ member: { firstName: name }, token }, group) {
  // Who has one of another group keeps it.
  if (!token) return toast(t('groups.invitedBefore', { name, group: group.name }));
  await showInvitation({
    purpose: 'join', token, title: t('groups.invitationFor', { name }), help: t('groups.invitationHelp', { name }),
    there: t('groups.invitationThere', { name }), end: t('groups.invitationEnd', { name }),
  });
}
