// Messages to the daemon: `POST /rpc`, one at a time, each with one reply. What can be asked is in the daemon's own
// table (`rpc.discover`), what it refuses is a DaemonError whose sentence says what to do next.

/** A refusal, by the daemon or on the way to it. `status` is one of gRPC's names. */
export class DaemonError extends Error {
  constructor({ message, data = {} }) {
    super(message);
    const { status = 'internal', retryable = false, ...details } = data;
    this.status = status;
    this.retryable = retryable;
    this.details = details;
  }
}

/**
 * Tells what every reply says about the way to the daemon: `unpaired` (this browser is not known), `away` (the daemon is not
 * running, or this page's server is not), `reached`, and `refused` (a role that has fallen).
 */
export const way = new EventTarget();

const tell = (type) => way.dispatchEvent(new Event(type));
let requests = 0;

/**
 * Sends a message.
 *
 * @param {string} method `photo.search`
 * @param {object} params
 * @param {AbortSignal} [signal] Whoever does not want the reply any more.
 * @returns {Promise<any>} the result
 * @throws {DaemonError}
 */
export async function ask(method, params = {}, signal) {
  const request = JSON.stringify({ jsonrpc: '2.0', id: ++requests, method, params });
  const reply = await fetched('/rpc', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: request, signal });
  const { result, error } = await reply.json();
  if (error) {
    if (error.data?.status === 'permission_denied') tell('refused');
    throw new DaemonError(error);
  }
  return result;
}

/** `fetch`, whose failures are DaemonErrors, and which says how the way is. */
export async function fetched(path, options = {}) {
  let reply;
  try {
    reply = await fetch(path, { credentials: 'same-origin', ...options });
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    tell('away');
    throw new DaemonError({ message: '', data: { status: 'unavailable', retryable: true } });
  }
  tell(reply.status === 503 ? 'away' : 'reached');
  if (reply.ok) return reply;
  const told = await reply.json().catch(() => null);
  if (reply.status === 401) tell('unpaired');
  // A reply to HEAD has no body that could say so.
  const mayComeBack = [429, 502, 503, 504].includes(reply.status);
  throw new DaemonError(told?.error ?? {
    message: `${reply.status} ${reply.statusText}`, ...(mayComeBack && { data: { status: 'unavailable', retryable: true } }),
  });
}

/**
 * A function that reads, and shows what it has read unless it was called again meanwhile: of two replies, the older may
 * come last.
 *
 * @param {() => Promise<any>} read
 * @param {(found: any) => void} show
 * @param {(error: DaemonError) => void} fail
 */
export function newest(read, show, fail) {
  let turns = 0;
  return async () => {
    turns += 1;
    const turn = turns;
    try {
      const found = await read();
      if (turn === turns) show(found);
    } catch (error) {
      if (turn === turns) fail(error);
    }
  };
}

/** What changes whenever what is shown of a photo does: its file, and how far it is turned. */
export const pictureVersion = ({ contentDigest, rotation }) => (rotation ? `${contentDigest}r${rotation}` : contentDigest);

/**
 * The address of a picture. With the version of what is shown it may be kept for ever: other content has another
 * address.
 */
export function pictureAddress(photo, kind, parameters = {}) {
  const query = new URLSearchParams({ v: pictureVersion(photo), ...parameters });
  return `/photos/${photo.uuid}/${kind}?${query}`;
}

/** The address of a picture of a photo in the trash. Without the version, so that a browser asks each time whether it is there. */
export const trashedPictureAddress = (photo, kind) => `/trash/${photo.uuid}/${kind}`;
