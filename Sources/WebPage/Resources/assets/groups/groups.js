// What the screen of groups and the sending of a photo have in common.

import { ask } from '../core/daemon.js';
import { hours, list, minutes, t } from '../core/text.js';

/** Minutes that this browser's clock is ahead of UTC: whose day it is for "one a day". */
export const utcOffset = () => -new Date().getTimezoneOffset();

export const listGroups = async () => (await ask('group.list', { utcOffset: utcOffset() })).groups;

/** The address of a group's photo: never kept by a browser, because a photo is gone after two days. */
export const groupPictureAddress = ({ id }) => `/group-photos/${id}`;

/** Oneself among the members, who may send; undefined where one is not in it. */
export const ownMember = ({ members }) => members.find(({ isSelf }) => isSelf);

/** Members for whom it ends where it is deleted here: others, of a group that this machine keeps. */
export const keptFor = ({ hub, members }) => (hub ? 0 : members.filter(({ isSelf }) => !isSelf).length);

/** What is said before a group goes to which photos wait to be sent; false where there are none. */
export const waitingText = (photos) => {
  const count = photos.filter(({ isWaiting }) => isWaiting).length;
  return count > 0 && t('groups.waitingLost', { count });
};

/** Everybody's first name in one sentence. */
export const memberNames = ({ members }) => list(members.map(({ firstName, isSelf }) => (
  isSelf ? t('groups.nameOfYou', { name: firstName }) : t('groups.nameOf', { name: firstName }))));

/** How long a photo is still there, as it is said on it. Whether it is gone is the daemon's to say, whose clock it goes by. */
export function timeLeft({ expiresAt }) {
  const left = (new Date(expiresAt) - Date.now()) / 60_000;
  if (left < 1) return t('groups.goneSoon');
  return t('groups.goneIn', { time: left < 60 ? minutes(Math.floor(left)) : hours(Math.round(left / 60)) });
}

/** Whether it is in its last hour. */
export const isLate = ({ expiresAt }) => new Date(expiresAt) - Date.now() < 3_600_000;
