// One job: what it is, how far it is, what can be done about it, and its receipt when it has ended.

import { ask } from '../core/daemon.js';
import { Component, element, icon, textButton } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { bytes, duration, has, moment, number, percent, t } from '../core/text.js';
import { attempt } from '../core/toasts.js';

const linesAtOnce = 200;
/** What needs nobody's attention in a receipt. */
const fine = new Set(['imported', 'completed', 'duplicate', 'known', 'beside', 'passed_over', 'restored', 'kept', 'added', 'verified', 'sent', 'fetched']);

/** The job's name for a person; of one that this page does not know, the daemon's own. */
export const jobName = (method) => (has(`job.${method}`) ? t(`job.${method}`) : method);

const outcomeName = (outcome) => (has(`outcome.${outcome}`) ? t(`outcome.${outcome}`) : outcome.replaceAll('_', ' '));

class JobCard extends Component {
  #job;
  #title = element('h2');
  #state = element('p', { class: 'quiet', role: 'status' });
  #progress = element('progress', { max: '1' });
  #figures = element('p', { class: 'small quiet number' });
  #outcomes = element('ul', { class: 'outcomes' });
  #sumText = element('ul', { class: 'small quiet sum' });
  #fault = element('p', { class: 'fault' });
  #buttons = element('div', { class: 'buttons' });

  connectedCallback() {
    this.classList.add('card');
    this.#progress.setAttribute('aria-label', t('job.progress'));
    // Before what others have added: a list that is put together anew connects its cards again.
    this.prepend(this.#title, this.#state, this.#progress, this.#figures, this.#outcomes, this.#sumText, this.#fault, this.#buttons);
    this.#draw();
  }

  set job(job) {
    this.#job = job;
    if (this.isConnected) this.#draw();
  }

  #draw() {
    const job = this.#job;
    if (!job) return;
    const { progress, state } = job;
    const ended = ['finished', 'failed', 'cancelled'].includes(state);
    this.#title.textContent = job.receipt?.isDryRun ? t('job.trial', { job: jobName(job.method) }) : jobName(job.method);
    this.#state.textContent = ended
      ? t(`jobState.${state}`, { time: moment(job.endedAt ?? job.startedAt) }) : t(`jobState.${state}`, { time: moment(job.startedAt) });
    this.#progress.hidden = this.#figures.hidden = ended;
    const share = progress.bytesTotal ? progress.bytesDone / progress.bytesTotal : progress.itemsTotal ? progress.itemsDone / progress.itemsTotal : undefined;
    if (share === undefined) this.#progress.removeAttribute('value');
    else this.#progress.value = share;
    this.#figures.textContent = [
      share !== undefined && percent(share),
      progress.itemsTotal && t('job.items', { done: progress.itemsDone, count: progress.itemsTotal }),
      state === 'running' && progress.bytesTotal && progress.rate > 0 && t('job.rate', { rate: bytes(progress.rate) }),
      state === 'running' && progress.secondsLeft > 0 && t('job.left', { time: duration(progress.secondsLeft) }),
    ].filter(Boolean).join(' · ');
    this.#outcomes.replaceChildren(...Object.entries(job.outcomes).map(([outcome, count]) => element(
      'li', { class: fine.has(outcome) ? '' : 'attention' }, `${number(count)} ${outcomeName(outcome)}`)));
    const sum = ended ? this.#sum(job) : [];
    this.#sumText.hidden = sum.length === 0;
    this.#sumText.replaceChildren(...sum.map((line) => element('li', {}, line)));
    // That files are still to come is no fault: the import screen asks for them.
    const fault = job.error ?? (job.method === 'library.importUploads' ? undefined : job.obstacle);
    this.#fault.hidden = !fault;
    this.#fault.textContent = fault?.message ?? '';
    this.#drawButtons(state, ended);
  }

  /** What the receipt says of all of it, in sentences. */
  #sum({ method, receipt }) {
    if (!receipt) return [];
    if (method === 'backup.create') {
      return [
        t('job.backedUp', { count: receipt.photos, size: bytes(receipt.bytes) }), receipt.path,
        receipt.damaged > 0 && t('job.backupDamaged', { count: receipt.damaged })].filter(Boolean);
    }
    if (method === 'backup.verify') return [t('job.verified', { count: receipt.entries, size: bytes(receipt.bytes) })];
    if (method === 'group.sync' || method === 'swipe.sync') {
      return [
        t(method === 'group.sync' ? 'job.synced' : 'job.reviewsSynced', { sent: receipt.sent, fetched: receipt.fetched }),
        receipt.lost > 0 && t('job.syncLost', { count: receipt.lost }),
        receipt.failed > 0 && t('job.syncFailed', { count: receipt.failed })].filter(Boolean);
    }
    if (method !== 'library.import' && method !== 'library.importUploads') return [];
    const kind = (name) => (has(`passedOver.${name}`) ? name : 'other');
    return [
      receipt.files === 0 && t('job.noPictures'),
      receipt.elsewhere > 0 && t('job.elsewhere', { count: receipt.elsewhere }),
      receipt.reduced > 0 && t('job.reduced', { count: receipt.reduced }),
      ...Object.entries(receipt.passedOver ?? {}).map(([name, count]) => t(`passedOver.${kind(name)}`, { count })),
    ].filter(Boolean);
  }

  #drawButtons(state, ended) {
    // Not drawn anew with every step of the progress: a button that is being pressed stays.
    if (this.drawnState === state) return;
    this.drawnState = state;
    const { id } = this.#job;
    const send = (method) => () => attempt(() => ask(method, { job: id }));
    this.#buttons.replaceChildren(...[
      state === 'running' && textButton(t('job.pause'), send('job.pause'), { icon: 'pause' }),
      ['paused', 'interrupted', 'waiting'].includes(state) && textButton(t('job.resume'), send('job.resume'), { icon: 'play' }),
      !ended && textButton(t('job.cancel'), send('job.cancel'), { icon: 'cross' }),
      ended && textButton(t('job.receipt'), () => attempt(() => this.#showReceipt())),
    ].filter(Boolean));
  }

  /** Every file of the job, those that need attention first as far as they have been read. */
  async #showReceipt() {
    const { id, method } = this.#job;
    const list = element('ul', { class: 'receipt' });
    const more = textButton(t('job.moreLines'), () => attempt(read));
    let next;
    async function read() {
      const reply = await ask('job.receipt', { job: id, limit: linesAtOnce, ...(next !== undefined && { after: next }) });
      next = reply.next;
      const lines = [...reply.lines].sort((one, other) => fine.has(one.outcome) - fine.has(other.outcome));
      list.append(...lines.map(({ item, outcome, detail }) => element(
        'li', { class: fine.has(outcome) ? '' : 'attention' },
        element('span', { class: 'item' }, item), element('span', { class: 'small' }, outcomeName(outcome)),
        detail && element('span', { class: 'small quiet detail' }, detail))));
      more.hidden = next === undefined;
    }
    await read();
    if (list.children.length === 0) list.append(element('li', { class: 'quiet' }, t('job.noLines')));
    await showDialog({ title: t('job.receiptOf', { job: jobName(method) }), kind: 'wide', body: [list, more] });
  }
}

customElements.define('job-card', JobCard);

/** Keeps the cards of a list as the jobs change: those that stay are the same elements. */
export function showJobs(list, jobs) {
  const cards = new Map([...list.children].map((card) => [card.dataset.job, card]));
  const shown = jobs.map((job) => {
    const card = cards.get(job.id) ?? element('job-card', { data: { job: job.id } });
    card.job = job;
    return card;
  });
  if (shown.some((card, index) => list.children[index] !== card) || shown.length !== list.children.length) list.replaceChildren(...shown);
}

/** What one shows instead of a list that is empty. */
export const emptyNotice = (picture, title, help) => element(
  'div', { class: 'empty' }, icon(picture), element('h2', {}, title), help && element('p', { class: 'quiet' }, help));
