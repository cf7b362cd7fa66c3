// One file of a session on its way to the daemon, in pieces: a connection that is cut, a phone that sleeps, a server that starts
// again cost the piece that was under way and nothing else. The server says how many bytes it has, and the next piece
// begins there.

import { DaemonError, fetched } from '../core/daemon.js';

/**
 * Bytes of a piece. Small enough that one is soon sent again over a poor connection, large enough that their number
 * costs nothing.
 */
const pieceSize = 4 << 20;
/** Seconds between two tries; the last one is repeated. */
const waits = [1, 2, 4, 8, 15];
/** After so many cuts without a byte of progress, while the daemon answers, a file is given up. */
const mostCuts = 20;

// Where a file is from, as a folder's path: of a chosen folder the browser says so, of a dropped one whoever has read it.
const folders = new WeakMap();
export const remember = (file, folder) => (folders.set(file, folder), file);
export const folderOf = (file) => folders.get(file) ?? file.webkitRelativePath?.split('/').slice(0, -1).join('/') ?? '';

/** A file as `upload.announce` takes it. */
export function announced(file) {
  const folder = folderOf(file);
  // What is no time, or one to come, says nothing.
  const isTime = file.lastModified > 0 && file.lastModified <= Date.now();
  return {
    name: file.name, size: file.size, ...(folder && { folder }), ...(isTime && { modifiedAt: new Date(file.lastModified).toISOString() }),
  };
}

/**
 * Sends a file that a session has announced, for as long as it takes: an hour without a network is no failure.
 *
 * @param {File} file
 * @param {{session: string, number: number}} place
 * @param {(sent: number) => void} progress bytes that have arrived
 * @param {AbortSignal} signal
 * @param {(error?: DaemonError) => void} waiting told why it waits, and with nothing when it goes on
 * @throws what the file is refused with (`not_found`: the session has ended), or why this device cannot read it
 */
export async function upload(file, { session, number }, progress, signal, waiting = () => {}) {
  const headers = { 'Upload-Session': session, 'Upload-File': String(number) };
  let address;
  let offset = 0;
  let cuts = 0;
  for (let tries = 1; ;) {
    try {
      if (address === undefined) {
        const reply = await fetched('/upload', { method: 'POST', headers, signal });
        const { upload: id, offset: there } = await reply.json();
        address = `/upload/${encodeURIComponent(id)}`;
        offset = there;
      }
      waiting();
      while (offset < file.size) {
        const piece = file.slice(offset, offset + pieceSize);
        const reply = await fetched(address, { method: 'PATCH', headers: { 'Upload-Offset': String(offset) }, body: piece, signal });
        offset = offsetOf(reply) ?? offset + piece.size;
        tries = 1;
        cuts = 0;
        progress(offset);
      }
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      // Another tab of this page has sent it, or a reply was lost.
      if (address === undefined && error.status === 'already_exists') return;
      // A file that has gone from this device, or may not be read any more, fails as if the way were cut.
      if (!(await isReadable(file, offset))) throw new DaemonError({ message: '', data: { status: 'not_readable' } });
      const isGone = error.status === 'not_found' && address !== undefined;
      if (!isPassing(error) && !isGone && error.status !== 'failed_precondition' && error.status !== 'cancelled') throw error;
      if (!isPassing(error) && ++cuts > mostCuts) throw error;
      if (isPassing(error)) waiting(error);
      await pause(tries, signal);
      tries += 1;
      // Where it goes on the server says.
      address = undefined;
    }
  }
}

/** Whether the bytes from a place on can still be read, of which the first is enough. */
async function isReadable(file, offset) {
  try {
    await file.slice(offset, offset + 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

const offsetOf = (reply) => {
  const text = reply.headers.get('Upload-Offset');
  return text === null ? undefined : Number(text);
};

/** A cut, a daemon that is away or has much to do, a full disk: another try may find it otherwise. */
export const isPassing = (error) => (
  !(error instanceof DaemonError) || error.retryable || error.status === 'unavailable' || ['no_space', 'too_many'].includes(error.details?.reason));

/** Does something until it succeeds, or is refused. */
export async function persistently(work, signal, waiting = () => {}) {
  for (let tries = 1; ; tries += 1) {
    try {
      const done = await work();
      waiting();
      return done;
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      waiting(error);
      await pause(tries, signal);
    }
  }
}

/** A while, the longer the more tries there were; less where the network comes back, or somebody looks at the page again. */
export function pause(tries, signal) {
  return new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', ended);
      window.removeEventListener('online', over);
      document.removeEventListener('visibilitychange', seen);
      resolve();
    };
    const seen = () => document.visibilityState === 'visible' && over();
    const ended = () => {
      over();
      reject(signal.reason);
    };
    const timer = setTimeout(over, 1000 * waits[Math.min(tries, waits.length) - 1]);
    // Back in reach, or awake: no reason to wait to the end.
    window.addEventListener('online', over);
    document.addEventListener('visibilitychange', seen);
    signal.addEventListener('abort', ended);
  });
}
