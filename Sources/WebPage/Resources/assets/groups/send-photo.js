// Sending one of the library's photos to a group.

import { ask } from '../core/daemon.js';
import { element } from '../core/dom.js';
import { Refusal, explained, showDialog } from '../core/dialog.js';
import { address } from '../core/router.js';
import { t } from '../core/text.js';
import { toast } from '../core/toasts.js';
import { listGroups, memberNames, ownMember, utcOffset } from './groups.js';

const refusals = {
  already_exists: 'groups.sentAlready', failed_precondition: 'groups.cannotSend', not_found: 'groups.notThere',
  data_loss: 'groups.cannotRead', resource_exhausted: 'groups.noRoom',
};

/** Asks for a group, and sends there. Those that have had today's photo are shown, and cannot be chosen. */
export async function sendToGroup(photo) {
  const groups = await listGroups();
  const open = groups.filter((group) => ownMember(group) && !group.hasSentToday);
  if (groups.length === 0) {
    return showDialog({
      title: t('groups.send'),
      body: [
        element('p', {}, t('groups.sendNone')),
        element('a', { class: 'button primary', href: address('groups'), onclick: ({ target }) => target.closest('dialog').close() }, t('groups.toGroups'))],
    });
  }
  const choice = (group) => {
    const { id, name, hasSentToday } = group;
    const why = !ownMember(group) ? t('groups.notIn') : hasSentToday ? t('groups.sentAlready') : memberNames(group);
    const isOpen = open.includes(group);
    return element(
      'label', { class: 'choice' },
      element('input', { type: 'radio', name: 'group', value: id, disabled: !isOpen, checked: isOpen && open.length === 1 }),
      element('span', { class: 'group-choice' }, element('span', {}, name), ' ', element('span', { class: 'quiet small' }, why)));
  };
  return showDialog({
    title: t('groups.send'), action: open.length > 0 ? t('groups.sendNow') : undefined,
    body: [
      element('fieldset', {}, element('legend', { class: 'unseen' }, t('groups.which')), groups.map(choice)),
      element('p', { class: 'quiet small' }, t('groups.sendHelp'))],
    act: async (form) => {
      const group = groups.find(({ id }) => id === new FormData(form).get('group'));
      if (!group) throw new Refusal(t('groups.chooseOne'));
      await explained(() => ask('group.send', { groupId: group.id, uuid: photo.uuid, utcOffset: utcOffset() }), refusals);
      toast(t('groups.sentTo', { name: group.name }));
    },
  });
}
