// Files of this device on their way into the library: sent one after the other, then imported, so that there is one
// receipt; of very many, a thousand at a time, because the daemon keeps only so many that wait. It goes on while other
// screens are shown; it is of the page and not of a screen.

import { grouped } from '../core/collections.js';
import { ask } from '../core/daemon.js';
import { describe } from '../core/dialog.js';
import { folderOf, isAway, persistently, upload } from './upload.js';

/** Files of one import, and a few more where they belong together. */
const filesAtOnce = 1000;

/** Events: `changed`. */
class ImportRun extends EventTarget {
  /** `idle`, `sending`, or `starting` the job. */
  state = 'idle';
  files = 0;
  filesSent = 0;
  bytes = 0;
  bytesSent = 0;
  /** Files that could not be sent: `{name, reason}`. */
  faults = [];
  /** The ids of the jobs of this page, the latest first. */
  jobs = [];
  #ending;
  /** What came while something was being sent: `{files, categoryId}`. */
  #waiting = [];

  get isBusy() {
    return this.state !== 'idle';
  }

  /**
   * Sends files and begins to import them; after what is being sent.
   *
   * @param {File[]} files
   * @param {number} [categoryId]
   */
  add(files, categoryId) {
    if (this.isBusy) this.#waiting.push({ files, categoryId });
    else this.#start(files, categoryId, []);
  }

  /** @param {object[]} faults of files that were to be sent before, to be told still */
  async #start(files, categoryId, faults) {
    const ending = new AbortController();
    this.#ending = ending;
    Object.assign(this, {
      state: 'sending', files: files.length, filesSent: 0, bytes: files.reduce((sum, { size }) => sum + size, 0), bytesSent: 0, faults,
    });
    this.#changed();
    window.addEventListener('beforeunload', warn);
    let before;
    for (const some of importsOf(files)) {
      try {
        before = await this.#import(some, categoryId, before, ending.signal) ?? before;
      } catch (error) {
        if (ending.signal.aborted) break;
        // The next ones are sent all the same.
        this.faults.push({ name: '', reason: describe(error) });
      }
    }
    window.removeEventListener('beforeunload', warn);
    this.state = 'idle';
    // Who calls it off means what waits too.
    const [next] = ending.signal.aborted ? (this.#waiting.splice(0), []) : this.#waiting.splice(0, 1);
    if (next) this.#start(next.files, next.categoryId, this.faults);
    else this.#changed();
  }

  /** Resolves with the number of the job; with nothing where there is none, or nobody knows it. */
  async #import(files, categoryId, before, signal) {
    this.state = 'sending';
    const uploads = await this.#send(files, signal);
    if (uploads.length === 0) return undefined;
    this.state = 'starting';
    this.#changed();
    // One at a time: each takes all of the machine, and the daemon keeps only so many.
    if (before !== undefined) await this.#ended(before, signal);
    const job = await this.#begin(uploads, categoryId, signal);
    if (job !== undefined) this.jobs.unshift(job);
    return job;
  }

  async #ended(job, signal) {
    try {
      await persistently(() => ask('job.wait', { job }, signal), signal, isAway);
    } catch (error) {
      // Long ended, and forgotten.
      if (error.status !== 'not_found') throw error;
    }
  }

  /** Hours of sending are not lost because the daemon is away at the end of it. */
  #begin(uploads, categoryId, signal) {
    let isAskedAgain = false;
    return persistently(async () => {
      try {
        return (await ask('library.import', { uploads, ...(categoryId && { categoryId }) })).job;
      } catch (error) {
        // It was the reply that was lost: the import has begun, and is among the jobs.
        if (isAskedAgain && error.status === 'not_found') return undefined;
        isAskedAgain = true;
        throw error;
      }
    }, signal, isAway);
  }

  async #send(files, signal) {
    const uploads = [];
    for (const file of files) {
      const before = this.bytesSent;
      try {
        uploads.push(await upload(file, (sent) => {
          this.bytesSent = before + sent;
          this.#changed();
        }, signal));
      } catch (error) {
        if (signal.aborted) throw error;
        // One file that cannot be sent does not stop the others.
        this.faults.push({ name: file.name, reason: describe(error) });
      }
      this.filesSent += 1;
      this.bytesSent = before + file.size;
      this.#changed();
    }
    return uploads;
  }

  cancel() {
    this.#ending?.abort();
  }

  #changed() {
    this.dispatchEvent(new Event('changed'));
  }
}

/**
 * Files in imports. A photo and its sidecars come into the same one: files of one folder whose names begin alike, up to the first
 * dot, `(1)` or `-edited` in whatever language, and as far as Takeout writes them out.
 */
export function* importsOf(files) {
  const together = grouped(files, (file) => (
    `${folderOf(file)}/${file.name.split('.')[0].replace(/(-[\p{L}\p{M} ]+|\(\d+\))+$/u, '').slice(0, 40)}`));
  let some = [];
  for (const group of together.values()) {
    if (some.length > 0 && some.length + group.length > filesAtOnce) {
      yield some;
      some = [];
    }
    if (group.length <= filesAtOnce) some.push(...group);
    else yield* parts(group);
  }
  if (some.length > 0) yield some;
}

/** Files whose names begin alike all, as `2019.06.12 0001.jpg` do: sidecars stand behind their photos when they are sorted. */
function* parts(files) {
  let part = [];
  let stem;
  for (const file of files.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (stem === undefined || !file.name.startsWith(stem) || part.length >= 2 * filesAtOnce) {
      if (part.length >= filesAtOnce) {
        yield part;
        part = [];
      }
      stem = file.name.replace(/\.[^.]*$/, '');
    }
    part.push(file);
  }
  yield part;
}

/** Leaving the page would end the sending; the browser asks. */
const warn = (event) => event.preventDefault();

export const importRun = new ImportRun();
