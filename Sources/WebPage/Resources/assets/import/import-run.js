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

  get isBusy() {
    return this.state !== 'idle';
  }

  /**
   * Sends files and begins to import them.
   *
   * @param {File[]} files
   * @param {number} [categoryId]
   * @param {object[]} [faults] of files that were to be sent before, to be told still
   */
  async start(files, categoryId, faults = []) {
    const ending = new AbortController();
    this.#ending = ending;
    Object.assign(this, {
      state: 'sending', files: files.length, filesSent: 0, bytes: files.reduce((sum, { size }) => sum + size, 0), bytesSent: 0, faults,
    });
    this.#changed();
    window.addEventListener('beforeunload', warn);
    try {
      for (const some of importsOf(files)) await this.#import(some, categoryId, ending.signal);
    } catch (error) {
      if (!ending.signal.aborted) this.faults.push({ name: '', reason: describe(error) });
    } finally {
      window.removeEventListener('beforeunload', warn);
      this.state = 'idle';
      this.#changed();
    }
  }

  async #import(files, categoryId, signal) {
    this.state = 'sending';
    const uploads = await this.#send(files, signal);
    if (uploads.length === 0) return;
    this.state = 'starting';
    this.#changed();
    // Hours of sending are not lost because the daemon is away at the end of it.
    const { job } = await persistently(() => ask('library.import', { uploads, ...(categoryId && { categoryId }) }), signal, isAway);
    this.jobs.unshift(job);
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
 * Files in the order that they came, in imports. A photo and its sidecars come into the same one: files of one folder whose names
 * begin alike, up to the first dot, `(1)` or `-edited`, and as far as Takeout writes them out.
 */
export function* importsOf(files) {
  const together = grouped(files, (file) => (
    `${folderOf(file)}/${file.name.split('.')[0].replace(/(-edited|\(\d+\))+$/, '').slice(0, 40)}`));
  let some = [];
  for (const group of together.values()) {
    // Whose names begin alike all, as `2019.06.12 0001.jpg` do, belong together no more than others.
    if (some.length >= filesAtOnce || some.length + group.length > 2 * filesAtOnce) {
      if (some.length > 0) yield some;
      some = [];
    }
    some.push(...group.splice(0, filesAtOnce));
    for (; group.length > 0; some = group.splice(0, filesAtOnce)) yield some;
  }
  if (some.length > 0) yield some;
}

/** Leaving the page would end the sending; the browser asks. */
const warn = (event) => event.preventDefault();

export const importRun = new ImportRun();
