// A review: which photo comes next, and what was decided. The daemon remembers all of it: a decision is on its disk
// before it counts here, and what is left is what it says has not been reviewed. So a reload, a phone that dies, or a
// second device loses nothing and shows nothing twice.

import { ask } from '../core/daemon.js';
import { remember, remembered } from '../core/preferences.js';

/** Photos waiting below the one that is shown. */
const ahead = 30;

/** Events: `changed` when another photo is on top or the numbers are others; `failed` with the error as `detail`. */
export class ReviewSession extends EventTarget {
  #filter;
  #sessionID = remembered('reviewSession');
  #queue = [];
  #decided = new Set();
  #sending = Promise.resolve();
  /** How many photos are left, the one on top among them. */
  remaining = 0;
  /** How many were decided in this session. */
  done = 0;
  #refills = 0;
  /** Decisions, and decisions taken back, that the daemon has. */
  #recorded = 0;

  constructor(filter) {
    super();
    this.#filter = { ...filter, reviewed: false };
  }

  get top() {
    return this.#queue[0];
  }

  get next() {
    return this.#queue.slice(1, 4);
  }

  get sessionID() {
    return this.#sessionID;
  }

  /** Goes on with the session of this browser, where it has one that is not finished. */
  async open() {
    await this.#resume();
    await this.refill();
    return this;
  }

  async #resume() {
    if (!this.#sessionID) return;
    const { sessions } = await ask('swipe.sessions', { limit: 100 });
    const session = sessions.find(({ sessionID }) => sessionID === this.#sessionID);
    // With what was decided since and is still on its way.
    if (session && !session.endTime) this.done = session.photosProcessed + this.#decided.size;
    else this.#forget();
  }

  #forget() {
    this.#sessionID = undefined;
    this.done = this.#decided.size;
    remember('reviewSession', undefined);
  }

  /** Reads what is left: after decisions, here or on another device. */
  async refill() {
    this.#refills += 1;
    const refill = this.#refills;
    let recorded, photos, count;
    do {
      recorded = this.#recorded;
      [{ photos }, { count }] = await Promise.all([
        ask('photo.search', { ...this.#filter, limit: ahead + this.#decided.size }), ask('photo.count', this.#filter)]);
      // Another one, which was asked later, shows what is left.
      if (refill !== this.#refills) return;
      // What was recorded meanwhile is still in this reply, and no longer among what is on its way.
    } while (recorded !== this.#recorded);
    // What was decided here is perhaps still on its way.
    const left = photos.filter(({ uuid }) => !this.#decided.has(uuid));
    const { top } = this;
    const kept = top && left.find(({ uuid }) => uuid === top.uuid);
    this.#queue = kept ? [kept, ...left.filter((photo) => photo !== kept)] : left;
    this.remaining = Math.max(this.#queue.length, count - this.#decided.size);
    this.#changed();
  }

  /** Decides about the photo on top: `favorite`, `trash` or `keep`. The next one is there at once. */
  decide(action) {
    const photo = this.#queue.shift();
    if (!photo) return;
    this.#decided.add(photo.uuid);
    this.done += 1;
    this.remaining -= 1;
    this.#send(async () => {
      try {
        await this.#begin();
        await ask('swipe.record', {
          sessionID: this.#sessionID, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action,
        });
        this.#recorded += 1;
      } catch (error) {
        this.done = Math.max(0, this.done - 1);
        if (error.status === 'not_found' || error.status === 'failed_precondition') {
          // Its photo has gone, or has changed, or another tab has ended the session: it is no use to show it again as it was.
          this.#decided.delete(photo.uuid);
          await this.#resume();
          await this.refill();
        } else {
          this.#queue.unshift(photo);
          this.remaining += 1;
          this.#changed();
        }
        throw error;
      } finally {
        this.#decided.delete(photo.uuid);
      }
      if (this.#queue.length < 5 && this.remaining > this.#queue.length) await this.refill();
    });
    // Now that it is being sent: after the last one, what is shown waits for all that is.
    this.#changed();
  }

  /** Takes the last decision back; its photo is on top again. */
  undo() {
    if (!this.#sessionID && this.done === 0) return;
    this.#send(async () => {
      const { actions: [action] } = await ask('swipe.undo', { sessionID: this.#sessionID });
      this.#recorded += 1;
      if (!action) return;
      const photo = await ask('photo.get', { uuid: action.photoIdentifier });
      this.#queue = [photo, ...this.#queue.filter(({ uuid }) => uuid !== photo.uuid)];
      this.done = Math.max(0, this.done - 1);
      this.remaining += 1;
      this.#changed();
    });
  }

  async #begin() {
    if (this.#sessionID) return;
    const { sessionID } = await ask('swipe.start');
    this.#sessionID = sessionID;
    remember('reviewSession', sessionID);
  }

  /** One after the other: an undo must not overtake the decision that it takes back. */
  #send(work) {
    this.#sending = this.#sending.then(work).catch((error) => (
      this.dispatchEvent(new CustomEvent('failed', { detail: error }))));
  }

  /** What is decided and not applied, the latest decision of each photo, by action. */
  async pending() {
    await this.#sending;
    const latest = new Map();
    for (let after; ; ) {
      const { actions } = await ask('swipe.pending', {
        limit: 500, ...(this.#sessionID && { sessionID: this.#sessionID }), ...(after !== undefined && { after }),
      });
      for (const action of actions) latest.set(action.photoIdentifier, action);
      if (actions.length < 500) break;
      after = actions.at(-1).id;
    }
    const groups = { favorite: [], trash: [], keep: [] };
    for (const action of latest.values()) groups[action.action].push(action);
    return groups;
  }

  /**
   * Ends the review and applies what was decided. Resolves with how many became favourites, went to the trash, and
   * stayed.
   */
  async apply() {
    await this.#sending;
    const sessionID = this.#sessionID;
    const { processed } = sessionID ? await ask('swipe.finish', { sessionID }) : {};
    const rest = await ask('swipe.process', sessionID ? { sessionID } : {});
    this.#forget();
    const sum = (name) => (processed?.[name] ?? 0) + rest[name];
    return { favorited: sum('favorited'), trashed: sum('trashed'), kept: sum('kept'), outdated: sum('outdated') };
  }

  #changed() {
    this.dispatchEvent(new Event('changed'));
  }
}
