// What is done to photos, one or many, wherever they are selected: each says what it did, and takes it back when asked
// to.

import { grouped } from '../core/collections.js';
import { ask, pictureAddress } from '../core/daemon.js';
import { element } from '../core/dom.js';
import { Refusal, showDialog } from '../core/dialog.js';
import { t } from '../core/text.js';
import { toast } from '../core/toasts.js';
import { categoryLooks } from '../categories/category-picker.js';

/**
 * A message is one transaction of the library, in which nobody else changes anything: so it has as many photos as the ones
 * before it say can be done in this time.
 */
const aim = 8; // ms
const fewestAtOnce = 20;
const mostAtOnce = 500;

/** What the parts changed together. */
async function inParts(ids, work, most = mostAtOnce) {
  let changed = 0;
  let size = 2 * fewestAtOnce;
  for (let done = 0; done < ids.length;) {
    const part = ids.slice(done, done + size);
    const start = performance.now();
    const { count = 0 } = await work(part) ?? {};
    changed += count;
    done += part.length;
    const possible = Math.floor(part.length * aim / Math.max(performance.now() - start, 0.1));
    // Half as many or twice as many at most: one message that had to wait for something else says little of the next.
    const wanted = Math.min(Math.max(possible, Math.floor(part.length / 2)), 2 * part.length);
    size = Math.min(most, Math.max(fewestAtOnce, wanted));
  }
  return changed;
}

const idsOf = (photos) => photos.map(({ id }) => id);

// A selection may be older than the last change: what somebody else has deleted meanwhile is passed over, and counted in
// nothing that is said.

export async function moveToTrash(photos) {
  const ids = idsOf(photos);
  const count = await inParts(ids, (part) => ask('photo.delete', { ids: part, ignoreMissing: true }));
  // Those that were in the trash before are not ours to take out.
  toast(t('action.trashed', { count }), count === ids.length ? () => inParts(ids, (part) => ask('trash.restore', { ids: part })) : undefined);
}

/** Marks photos as favourites, or takes the marks away. Undoing changes back those that were changed. */
export async function setFavourite(photos, isFavorite) {
  const ids = idsOf(photos.filter((photo) => photo.isFavorite !== isFavorite));
  const set = (value) => inParts(ids, (part) => ask('photo.favorite', { ids: part, isFavorite: value, ignoreMissing: true }));
  const missing = ids.length - await set(isFavorite);
  toast(t(isFavorite ? 'action.favoured' : 'action.unfavoured', { count: photos.length - missing }), () => set(!isFavorite));
}

/** So many photos are turned at once: each of their pictures is decoded. */
const mostTurned = 100;

/**
 * Turns photos by degrees clockwise, from where they are seen now; films stay as they are, and what somebody else has turned elsewhere
 * stays as it is. Undoing turns back what was turned here, but for a photo that somebody has turned since.
 *
 * @param {Function} follow gets the photos as they are, after the turn and after it was undone
 * @returns {Promise<Array>} the photos as they are now
 */
export async function turn(photos, degrees, follow = () => {}) {
  const turns = photos.filter(({ kind, unseenBy }) => kind !== 'film' && !unseenBy).map(
    ({ id, rotation = 0 }) => ({ id, from: rotation, to: (rotation + degrees + 360) % 360 }));
  if (turns.length === 0) {
    toast(t('action.notTurned'));
    return [];
  }
  const send = async (ones) => {
    const now = [];
    const turned = new Set();
    await inParts(ones, async (part) => {
      const reply = await ask('photo.rotate', { turns: part, ignoreOthers: true });
      now.push(...reply.photos);
      reply.turned.forEach((id) => turned.add(id));
      follow(reply.photos);
      return reply;
    }, mostTurned);
    return { now, turned };
  };
  const { now, turned } = await send(turns);
  const ends = new Map(turns.map(({ id, to }) => [id, to]));
  // What another device had turned so before is not ours to turn back.
  const back = turns.filter(({ id }) => turned.has(id)).map(({ id, from, to }) => ({ id, from: to, to: from }));
  toast(
    t('action.turned', { count: now.filter(({ id, rotation = 0 }) => rotation === ends.get(id)).length }),
    back.length ? () => send(back) : undefined);
  return now;
}

/** Moves photos to a category. Undoing brings each back to where it was. */
export async function moveTo(photos, category) {
  const moved = photos.filter(({ categoryId }) => categoryId !== category.id);
  const move = (ones, categoryId) => inParts(idsOf(ones), (part) => ask('photo.move', { ids: part, categoryId, ignoreMissing: true }));
  const missing = moved.length - await move(moved, category.id);
  const before = grouped(moved, ({ categoryId }) => categoryId);
  toast(t('action.moved', { count: photos.length - missing, category: category.displayName }), async () => {
    for (const [categoryId, ones] of before) await move(ones, categoryId);
  });
}

/** Asks for a category, and moves there. Resolves with whether it did. */
export async function chooseCategory(photos) {
  const { categories } = await ask('category.list');
  const present = new Set(photos.map(({ categoryId }) => categoryId));
  return showDialog({
    title: t('action.moveTitle', { count: photos.length }),
    action: t('action.move'),
    body: [element(
      'fieldset', { class: 'categories-choice' }, element('legend', { class: 'unseen' }, t('filter.category')),
      categories.map((category) => element(
        'label', { class: 'choice' },
        element('input', { type: 'radio', name: 'category', value: String(category.id), checked: present.size === 1 && present.has(category.id) }),
        categoryLooks(category))))],
    act: async (form) => {
      const category = categories.find(({ id }) => String(id) === new FormData(form).get('category'));
      if (!category) throw new Refusal(t('action.chooseCategory'));
      await moveTo(photos, category);
      return true;
    },
  });
}

/** Asks for a caption, and writes it under every one of the photos. Undoing writes each old one again. */
export async function writeCaption(photos) {
  const same = photos.every(({ caption }) => caption === photos[0].caption);
  const field = element('textarea', { name: 'caption', maxlength: '2000', value: same ? photos[0].caption ?? '' : '' });
  return showDialog({
    title: t('action.captionTitle', { count: photos.length }),
    action: t('action.save'),
    body: [element('label', {}, t('photo.caption'), field)],
    act: async () => {
      const caption = field.value.trim();
      const write = async (texts) => {
        for (const { id, text } of texts) await ask('photo.caption', text ? { id, caption: text } : { id });
      };
      await write(photos.map(({ id }) => ({ id, text: caption })));
      toast(
        t('action.captioned', { count: photos.length }),
        () => write(photos.map(({ id, caption: text }) => ({ id, text }))));
      return true;
    },
  });
}

/** Saves one picture as a file. */
export function download(photo, kind) {
  const link = element('a', { href: pictureAddress(photo, kind, { download: '1' }), download: '' });
  link.click();
}
