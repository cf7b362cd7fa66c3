// Files of this device on their way into the library: sent one after the other, then one import job for all of them, so
// that there is one receipt. It goes on while other screens are shown; it is of the page and not of a screen.

import { ask } from '../core/daemon.js';
import { describe } from '../core/dialog.js';
import { isAway, persistently, upload } from './upload.js';

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
      const uploads = await this.#send(files, ending.signal);
      if (uploads.length === 0) return;
      this.state = 'starting';
      this.#changed();
      // Hours of sending are not lost because the daemon is away at the end of it.
      const { job } = await persistently(() => ask('library.import', { uploads, ...(categoryId && { categoryId }) }), ending.signal, isAway);
      this.jobs.unshift(job);
    } catch (error) {
      if (!ending.signal.aborted) this.faults.push({ name: '', reason: describe(error) });
    } finally {
      window.removeEventListener('beforeunload', warn);
      this.state = 'idle';
      this.#changed();
    }
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

/** Leaving the page would end the sending; the browser asks. */
const warn = (event) => event.preventDefault();

export const importRun = new ImportRun();
