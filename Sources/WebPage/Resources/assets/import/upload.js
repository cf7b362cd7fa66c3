// One file on its way to the daemon, in pieces: a connection that is cut, a phone that sleeps, a server that starts
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
/** After so many tries without a byte of progress it is given up. */
const mostTries = 20;

// Where a file is from, as a folder's path: of a chosen folder the browser says so, of a dropped one whoever has read it.
const folders = new WeakMap();
export const remember = (file, folder) => (folders.set(file, folder), file);
export const folderOf = (file) => folders.get(file) ?? file.webkitRelativePath?.split('/').slice(0, -1).join('/') ?? '';

/**
 * Sends a file and resolves with the id of the upload, which `library.import` takes.
 *
 * @param {File} file
 * @param {(sent: number) => void} progress bytes that have arrived
 * @param {AbortSignal} signal
 */
export async function upload(file, progress, signal) {
  const { name, size, lastModified } = file;
  const folder = folderOf(file);
  // What is no time, or one to come, says nothing.
  const isTime = lastModified > 0 && lastModified <= Date.now();
  const headers = {
    'Upload-Name': encodeURIComponent(name), 'Upload-Length': String(size),
    ...(folder && { 'Upload-Folder': encodeURIComponent(folder) }),
    ...(isTime && { 'Upload-Modified': new Date(lastModified).toISOString() }),
  };
  const begun = await persistently(() => fetched('/upload', { method: 'POST', headers, signal }), signal);
  const { upload: id } = await begun.json();
  const address = `/upload/${encodeURIComponent(id)}`;
  let offset = 0;
  let tries = 0;
  while (offset < file.size) {
    const piece = file.slice(offset, offset + pieceSize);
    try {
      const reply = await fetched(address, { method: 'PATCH', headers: { 'Upload-Offset': String(offset) }, body: piece, signal });
      offset = offsetOf(reply) ?? offset + piece.size;
      tries = 0;
    } catch (error) {
      if (signal?.aborted || !canBeTriedAgain(error) || ++tries > mostTries) {
        discard(address);
        throw error;
      }
      await pause(tries, signal);
      // The bytes that arrived before the cut stay.
      const state = await persistently(() => fetched(address, { method: 'HEAD', signal }), signal);
      const arrived = offsetOf(state) ?? 0;
      if (arrived > offset) tries = 0;
      offset = arrived;
    }
    progress(offset);
  }
  return id;
}

const offsetOf = (reply) => {
  const text = reply.headers.get('Upload-Offset');
  return text === null ? undefined : Number(text);
};

/** A cut, a daemon that is away, another opinion of the offset; not a refusal. */
const canBeTriedAgain = (error) => !(error instanceof DaemonError) || isAway(error) || error.status === 'failed_precondition';

export const isAway = (error) => error.retryable || error.status === 'unavailable';

/** Does something until it succeeds, is refused, or cannot be hoped for any more. */
export async function persistently(work, signal, mayTryAgain = canBeTriedAgain) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted || !mayTryAgain(error) || tries > mostTries) throw error;
      await pause(tries, signal);
    }
  }
}

function pause(tries, signal) {
  return new Promise((resolve, reject) => {
    const ended = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', ended);
      resolve();
    }, 1000 * waits[Math.min(tries, waits.length) - 1]);
    // Back in reach: no reason to wait to the end.
    window.addEventListener('online', () => (clearTimeout(timer), resolve()), { once: true });
    signal?.addEventListener('abort', ended, { once: true });
  });
}

/** Nobody waits for it: what is left over is swept by the daemon. */
function discard(address) {
  fetch(address, { method: 'DELETE', keepalive: true }).catch(() => {});
}
