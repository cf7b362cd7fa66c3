// The store: what the daemon says as it changes. Whoever shows something observes it and is given the current value at
// once, then the newest after each change; what several show is observed once.
//
// All observations of a page share one stream (`GET /events`), because a browser opens six connections to a server and
// a stream holds one. The set is in the stream's address, so that a change of it opens a new one; current values come
// first on each, and nothing is lost. A page that nobody sees holds no stream: seven hidden tabs would use up the
// connections.

import { DaemonError, way } from './daemon.js';

const observed = new Map();
let numbers = 0;
let source;
let opening;
let retryDelay;

/**
 * Observes a message until the function that is returned is called.
 *
 * @param {string} method `category.observe`
 * @param {object} params
 * @param {(value: any) => void} changed
 * @param {(error: DaemonError) => void} [failed] when the daemon ends the observation
 */
export function observe(method, params, changed, failed = () => {}) {
  const key = JSON.stringify([method, params]);
  let entry = observed.get(key);
  if (!entry) {
    entry = { id: String(++numbers), method, params, listeners: new Set() };
    observed.set(key, entry);
    reopen();
  }
  const listener = { changed, failed };
  entry.listeners.add(listener);
  if (entry.text !== undefined) queueMicrotask(() => entry.listeners.has(listener) && changed(entry.value));
  return () => {
    entry.listeners.delete(listener);
    if (entry.listeners.size === 0 && observed.get(key) === entry) {
      observed.delete(key);
      reopen();
    }
  };
}

/**
 * Has the next value of a method told even if it is the one that was told last: what is shown is another one meanwhile,
 * because somebody is changing it here.
 */
export function tellAgain(method) {
  for (const entry of observed.values()) if (entry.method === method) entry.isShownOtherwise = true;
}

/** Opens the stream anew: after a change of the role, what was refused may be allowed. */
export function reopen() {
  // Screens go and come in one turn; one new stream is enough for all of it.
  clearTimeout(opening);
  opening = setTimeout(open, 20);
}

function close() {
  clearTimeout(opening);
  source?.close();
  source = undefined;
}

function open() {
  close();
  if (observed.size === 0 || document.visibilityState === 'hidden') return;
  const query = new URLSearchParams();
  for (const { id, method, params } of observed.values()) query.append('observe', JSON.stringify({ id, method, params }));
  const opened = new EventSource(`/events?${query}`);
  source = opened;
  opened.addEventListener('change', ({ data }) => {
    retryDelay = undefined;
    way.dispatchEvent(new Event('reached'));
    change(JSON.parse(data));
  });
  // Nothing that is observed here ends by itself: it is a daemon that stops. What it says then is no value.
  opened.addEventListener('ended', () => {
    way.dispatchEvent(new Event('away'));
    openLater();
  });
  opened.addEventListener('failed', ({ data }) => fail(JSON.parse(data)));
  opened.addEventListener('away', () => way.dispatchEvent(new Event('away')));
  opened.addEventListener('back', () => way.dispatchEvent(new Event('reached')));
  opened.addEventListener('error', () => {
    if (opened !== source) return;
    way.dispatchEvent(new Event('away'));
    // The browser tries again by itself after a cut, but not after an answer such as 503.
    if (opened.readyState === EventSource.CLOSED) openLater();
  });
}

/** Opens the stream after a while, which becomes longer with every try. */
function openLater() {
  retryDelay = Math.min((retryDelay ?? 500) * 2, 10_000);
  clearTimeout(opening);
  opening = setTimeout(open, retryDelay);
}

function change({ id, value }) {
  const entry = [...observed.values()].find((one) => one.id === id);
  if (!entry) return;
  const text = JSON.stringify(value);
  // A new stream repeats the current values. Events are the exception: an empty one says that anything may have
  // changed.
  if (text === entry.text && entry.method !== 'event.subscribe' && !entry.isShownOtherwise) return;
  entry.isShownOtherwise = false;
  entry.text = text;
  entry.value = value;
  for (const { changed } of [...entry.listeners]) changed(value);
}

function fail({ id, error }) {
  const entry = [...observed.values()].find((one) => one.id === id);
  if (!entry) return;
  const failure = new DaemonError(error);
  if (failure.retryable || failure.status === 'unavailable' || failure.status === 'cancelled') {
    // A daemon that stops ends what is observed; it is asked again until it is back.
    way.dispatchEvent(new Event('away'));
    openLater();
    return;
  }
  if (failure.status === 'permission_denied') way.dispatchEvent(new Event('refused'));
  for (const { failed } of [...entry.listeners]) failed(failure);
}

// At once: a page that is left, or put aside on a phone, is stopped before any timer, and what it holds open it holds
// until it is thrown away. Six such pages would let no other connect.
document.addEventListener('visibilitychange', () => (document.visibilityState === 'hidden' ? close() : reopen()));
window.addEventListener('pagehide', close);
window.addEventListener('pageshow', ({ persisted }) => persisted && reopen());
