// Files of this device on their way into the library. A session (`library.importUploads`) gets them: the daemon imports each when
// it is there, and one receipt names all. What this page does not know any more after a reload, or a night, the daemon
// knows: which files are missing. It goes on while other screens are shown; it is of the page and not of a screen.

import { ask } from '../core/daemon.js';
import { describe } from '../core/dialog.js';
import { remember, remembered } from '../core/preferences.js';
import { t } from '../core/text.js';
import { keepAwake } from '../core/wake-lock.js';
import { sessionsOf } from './session-files.js';
import { announced, isPassing, pause, persistently, upload } from './upload.js';

/** Files of one request. */
const announcedAtOnce = 500;
/** Files under way at once: over a slow network the second one uses the time in which the first waits for its answer. */
const lanes = 2;
/** Jobs whose receipts are shown after a reload, unless somebody has seen them. */
const keptJobs = 5;

/** Leaving the page ends the sending; the browser asks. */
const mayLeave = (event) => event.preventDefault();

/** Events: `changed`. */
class Uploads extends EventTarget {
  /** `idle` or `sending`. */
  state = 'idle';
  files = 0;
  filesSent = 0;
  bytes = 0;
  bytesSent = 0;
  /** Files that could not be sent: `{name, reason}`. */
  faults = [];
  /** Why it waits at the moment: a sentence. */
  waitsFor = '';
  /** The ids of the jobs of this page, and of those whose end nobody has seen in this browser, the latest first. */
  jobs = unseen();
  /** Sessions of which files are missing that this page does not have: `{session, job, files, missing}`. */
  unfinished = [];
  #ending;
  /** Sessions that are being sent here. */
  #own = new Set();
  /** What came while something was being sent: `{files, categoryId, sent}`. */
  #waiting = [];

  get isBusy() {
    return this.state !== 'idle';
  }

  /**
   * Sends files; after what is being sent.
   *
   * @param {File[]} files
   * @param {number} [categoryId]
   * @param {(file: File) => void} [sent] told of each file that the daemon has, or does not take
   */
  add(files, categoryId, sent = () => {}) {
    this.#waiting.push({ files, categoryId, sent });
    if (!this.isBusy) this.#run();
  }

  async #run() {
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    Object.assign(this, { state: 'sending', files: 0, filesSent: 0, bytes: 0, bytesSent: 0, faults: [], waitsFor: '' });
    window.addEventListener('beforeunload', mayLeave);
    const release = keepAwake();
    while (this.#waiting.length > 0 && !signal.aborted) {
      const { files, categoryId, sent } = this.#waiting.shift();
      this.files += files.length;
      this.bytes += sizeOf(files);
      this.#changed();
      try {
        await this.#send(files, categoryId, sent, signal);
      } catch (error) {
        if (!signal.aborted) this.faults.push({ name: '', reason: describe(error) });
      }
    }
    this.#waiting = [];
    release();
    window.removeEventListener('beforeunload', mayLeave);
    Object.assign(this, { state: 'idle', waitsFor: '' });
    await this.look();
  }

  /** What sessions miss already goes there; the rest into new ones. */
  async #send(files, categoryId, sent, signal) {
    let rest = files;
    for (const { session, job } of await this.#sessions(signal)) {
      const found = await this.#announce(session, rest, { onlyKnown: true }, signal).catch((error) => {
        // It has ended since it was listed.
        if (error.status !== 'not_found') throw error;
      });
      rest = found?.unknown ?? rest;
      if (found?.known.length > 0) await this.#fill(session, job, found.known, sent, signal);
    }
    for (const some of sessionsOf(rest)) {
      const session = crypto.randomUUID?.() ?? randomUUID();
      this.#own.add(session);
      const job = await this.#begin(session, categoryId, signal);
      this.#know(job);
      const { known } = await this.#announce(session, some, {}, signal);
      await this.#fill(session, job, known, sent, signal);
    }
  }

  /** Resolves with the job; with nothing where it has ended meanwhile. */
  async #begin(session, categoryId, signal) {
    for (let tries = 1; ; tries += 1) {
      try {
        return (await this.#persistently(
          () => ask('library.importUploads', { session, ...(categoryId && { categoryId }) }, signal), signal)).job;
      } catch (error) {
        if (error.status !== 'already_exists') throw error;
        // It was the reply that was lost. Or the request was cut before there was a job, and in a moment may be made once more.
        const begun = (await this.#sessions(signal)).find((one) => one.session === session);
        if (!begun || begun.job) return begun?.job;
        await pause(tries, signal);
      }
    }
  }

  async #sessions(signal) {
    return (await this.#persistently(() => ask('upload.sessions', {}, signal), signal)).sessions;
  }

  /** Resolves with the files that the session has, each with its number and whether it is missing, and with the others. */
  async #announce(session, files, { onlyKnown = false }, signal) {
    const known = [];
    const unknown = [];
    for (let start = 0; start < files.length; start += announcedAtOnce) {
      const some = files.slice(start, start + announcedAtOnce);
      const more = start + announcedAtOnce < files.length;
      const request = { session, files: some.map(announced), ...(onlyKnown ? { onlyKnown } : more && { more }) };
      const { files: places } = await this.#persistently(() => ask('upload.announce', request, signal), signal);
      places.forEach(({ file: number, isMissing }, index) => (
        number === undefined ? unknown.push(some[index]) : known.push({ file: some[index], number, isMissing })));
    }
    return { known, unknown };
  }

  /** Sends what is missing. What this device cannot send is not waited for. */
  async #fill(session, job, known, sent, signal) {
    this.#own.add(session);
    this.#know(job);
    const faults = this.faults.length;
    const missing = known.filter(({ isMissing }) => isMissing);
    for (const { file, isMissing } of known) if (!isMissing) this.#count(file, sent);
    const next = missing.values();
    try {
      await Promise.all(Array.from({ length: lanes }, async () => {
        for (const { file, number } of next) await this.#sendOne(file, { session, number }, sent, signal);
      }));
    } catch (error) {
      // Somebody has called the import off, or ended the session, on this device or at the machine: its receipt names the rest.
      if (error.status !== 'not_found') throw error;
      for (const { file } of next) this.#count(file, sent);
    } finally {
      // Of whoever calls it off too: what has arrived is imported, and the receipt names what was left.
      if (signal.aborted || this.faults.length > faults) await this.leaveOut(session).catch(() => {});
      this.#own.delete(session);
    }
  }

  async #sendOne(file, place, sent, signal) {
    let before = 0;
    const progress = (arrived) => {
      this.bytesSent += arrived - before;
      before = arrived;
      this.#changed();
    };
    try {
      await upload(file, place, progress, signal, (error) => this.#waits(error));
    } catch (error) {
      // A session that has ended, a role that has fallen: what is left waits for its time.
      if (signal.aborted || ['not_found', 'permission_denied', 'unauthenticated'].includes(error.status)) throw error;
      // One file that cannot be sent does not stop the others.
      this.faults.push({ name: file.name, reason: error.status === 'not_readable' ? t('import.notReadable') : describe(error) });
    }
    progress(0);
    this.#count(file, sent);
  }

  #count(file, sent) {
    this.filesSent += 1;
    this.bytesSent += file.size;
    sent(file);
    this.#changed();
  }

  #persistently(work, signal) {
    return persistently(work, signal, (error) => this.#waits(error));
  }

  #waits(error) {
    const sentence = error ? describe(error) : '';
    if (sentence === this.waitsFor) return;
    this.waitsFor = sentence;
    this.#changed();
  }

  #know(job) {
    if (!job || this.jobs[0] === job) return;
    this.jobs = [job, ...this.jobs.filter((one) => one !== job)];
    keep([job, ...unseen().filter((one) => one !== job)].slice(0, keptJobs));
    this.#changed();
  }

  /** Somebody has seen how a job ended, or its receipt is not kept any more: another page need not show it. */
  saw(job) {
    const left = unseen();
    if (left.includes(job)) keep(left.filter((one) => one !== job));
  }

  /** Asks which sessions of this device miss files that nobody here is sending. */
  async look() {
    try {
      const { sessions } = await ask('upload.sessions');
      this.unfinished = sessions.filter(({ session, missing }) => missing > 0 && !this.#own.has(session));
      for (const { job } of this.unfinished) if (job && !this.jobs.includes(job)) this.#know(job);
      // One whose page went while it was announced: nobody will say more of it.
      for (const { session, files, missing } of sessions) {
        if (files > 0 && missing === 0 && !this.#own.has(session)) await ask('upload.announce', { session, files: [] });
      }
    } catch (error) {
      // Asked again with the next occasion; an older daemon has no sessions, and a device that is forgotten is told so by the page.
      if (!isPassing(error) && !['unimplemented', 'not_found', 'unauthenticated'].includes(error.status)) console.error(error);
    }
    this.#changed();
  }

  /** Ends a session without what it misses. */
  async leaveOut(session) {
    await ask('upload.endSession', { session });
    this.unfinished = this.unfinished.filter((one) => one.session !== session);
    this.#changed();
  }

  cancel() {
    this.#ending?.abort();
  }

  #changed() {
    this.dispatchEvent(new Event('changed'));
  }
}

const unseen = () => JSON.parse(remembered('import.jobs') ?? '[]');
const keep = (jobs) => remember('import.jobs', JSON.stringify(jobs));

const sizeOf = (files) => files.reduce((sum, { size }) => sum + size, 0);

/** Over plain HTTP browsers have no `randomUUID`. */
function randomUUID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export const uploads = new Uploads();
