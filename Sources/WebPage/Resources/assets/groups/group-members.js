// Who is in a group, and where this machine keeps it, the ways in and out for others.

import { ask } from '../core/daemon.js';
import { Component, element, iconButton, textButton } from '../core/dom.js';
import { confirmed, explained } from '../core/dialog.js';
import { session } from '../core/session.js';
import { moment, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { invite, inviteAgain, mayInvite } from './invitation.js';

class GroupMembers extends Component {
  #group;
  #title = element('h2', { tabindex: '-1' }, t('groups.members'));
  #invite = textButton(t('groups.invite'), () => attempt(() => invite(this.#group)), { icon: 'plus' });
  #list = element('ul', { class: 'member-list' });

  connectedCallback() {
    this.classList.add('stack');
    this.append(element('div', { class: 'section-header' }, this.#title, this.#invite), this.#list);
  }

  set group(group) {
    this.#group = group;
    this.#invite.hidden = !mayInvite(group);
    const rows = new Map([...this.#list.children].map((row) => [row.dataset.id, row]));
    // Those that stay are the same elements, so that the focus stays too.
    const shown = group.members.map((member) => rows.get(member.userId) ?? this.#row(member));
    for (const row of rows.values()) if (!shown.includes(row)) row.remove();
    shown.forEach((row, index) => {
      const { firstName, isSelf } = group.members[index];
      row.querySelector('.name').textContent = isSelf ? t('groups.nameOfYou', { name: firstName }) : firstName;
      if (this.#list.children[index] !== row) this.#list.insertBefore(row, this.#list.children[index] ?? null);
    });
  }

  #row(member) {
    const { userId, firstName, joinedAt, isSelf } = member;
    const isGuest = !isSelf && !this.#group.hub;
    return element(
      'li', { data: { id: userId } },
      element('div', {}, element('span', { class: 'name' }), element('span', { class: 'quiet small' }, t('groups.joined', { time: moment(joinedAt) }))),
      isGuest && mayInvite(this.#group) && iconButton('send', t('groups.again', { name: firstName }), () => attempt(() => inviteAgain(this.#group, member))),
      isGuest && session.offers('group.remove') && iconButton('trash', t('groups.remove', { name: firstName }), () => this.#remove(member)));
  }

  async #remove({ userId, firstName: name }) {
    const { id, name: group } = this.#group;
    const done = await confirmed({
      title: t('groups.removeTitle', { name, group }), text: t('groups.removeHelp', { name }), action: t('groups.removeNow'), danger: true,
      act: () => explained(() => ask('group.remove', { groupId: id, userId }), { not_found: 'groups.removeGone' }),
    });
    if (!done) return;
    // The button that had the focus goes with its row.
    this.#title.focus();
    toast(t('groups.removed', { name, group }));
  }
}

customElements.define('group-members', GroupMembers);
