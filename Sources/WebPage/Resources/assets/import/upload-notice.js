// Uploads in the frame of every screen: how far they are, what an upload that was broken off misses, and the way to the receipt.

import { Component, element, iconButton } from '../core/dom.js';
import { observe } from '../core/observations.js';
import { address, current, onChange } from '../core/router.js';
import { t } from '../core/text.js';
import { sendShared } from './shared.js';
import { uploads } from './uploads.js';

class UploadNotice extends Component {
  #progress = element('progress', { max: '1', 'aria-label': t('import.sending') });
  #text = element('span', {});
  #way = element('a', { href: address('import') });
  #dismiss = iconButton('cross', t('toast.dismiss'), () => this.#settle());
  /** The job whose end is to be told, and what is known of it. */
  #job;
  #observed;
  #stopObserving;

  connectedCallback() {
    this.hidden = true;
    this.append(element('p', { role: 'status' }, this.#text), this.#progress, this.#way, this.#dismiss);
    this.listen(uploads, 'changed', () => this.#draw());
    this.during(onChange(() => this.#draw()));
    // Whatever was shared while the page was not looked at.
    this.listen(document, 'visibilitychange', () => document.visibilityState === 'visible' && this.#look());
    // What was begun before this was there.
    this.#draw();
    this.#look();
  }

  disconnectedCallback() {
    super.disconnectedCallback?.();
    this.#settle();
  }

  async #look() {
    if (!uploads.isBusy) await uploads.look();
    await sendShared();
  }

  #draw() {
    const { state, files, filesSent, bytes, bytesSent, unfinished, jobs } = uploads;
    if (state === 'sending' && jobs[0] !== this.#job && jobs[0]) this.#follow(jobs[0]);
    // The screen itself says more.
    const isThere = current().screen === 'import';
    if (isThere && this.#observed && this.#hasEnded) this.#settle();
    const missing = unfinished.reduce((sum, one) => sum + one.missing, 0);
    const isSending = state === 'sending';
    this.hidden = isThere || (!isSending && !this.#observed && missing === 0);
    this.#dismiss.hidden = isSending || !this.#observed || !this.#hasEnded;
    this.#progress.hidden = !isSending && (!this.#observed || this.#hasEnded);
    if (isSending) {
      this.#progress.value = bytes > 0 ? bytesSent / bytes : 0;
      this.#say(t('upload.sending', { done: filesSent, count: files }), t('upload.show'));
    } else if (this.#observed && !this.#hasEnded) {
      const { itemsDone = 0, itemsTotal = 0 } = this.#observed.progress;
      this.#progress.value = itemsTotal > 0 ? itemsDone / itemsTotal : 0;
      this.#say(t('upload.importing', { done: itemsDone, count: itemsTotal }), t('upload.show'));
    } else if (this.#observed) {
      const { outcomes, needsAttention } = this.#observed;
      const count = outcomes.imported ?? 0;
      this.#say(t(needsAttention ? 'upload.thereBut' : 'upload.there', { count }), t('job.receipt'));
    } else if (missing > 0) {
      this.#say(t('upload.missing', { missing, count: unfinished.reduce((sum, one) => sum + one.files, 0) }), t('upload.chooseAgain'));
    }
  }

  get #hasEnded() {
    return ['finished', 'failed', 'cancelled'].includes(this.#observed?.state);
  }

  #say(sentence, way) {
    // Read aloud when it changes, and only then.
    if (this.#text.textContent !== sentence) this.#text.textContent = sentence;
    if (this.#way.textContent !== way) this.#way.textContent = way;
  }

  #follow(job) {
    this.#job = job;
    this.#stop();
    this.#observed = undefined;
    this.#stopObserving = observe('job.observe', {}, ({ jobs }) => {
      const found = jobs.find(({ id }) => id === job);
      // What waits for files that nobody sends here is told by what is missing.
      if (!found || (found.state === 'waiting' && !uploads.isBusy)) return uploads.isBusy || this.#settle();
      this.#observed = found;
      if (this.#hasEnded) this.#stop();
      return this.#draw();
    });
  }

  #stop() {
    this.#stopObserving?.();
    this.#stopObserving = undefined;
  }

  /** Forgets the job that was followed. */
  #settle() {
    this.#stop();
    this.#observed = undefined;
    if (this.isConnected) this.#draw();
  }
}

customElements.define('upload-notice', UploadNotice);
