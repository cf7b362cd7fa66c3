// What keeps a device at its work while files are being sent: a screen that stays on, where the browser lets a page say so, and a
// question before the page is left.

/** Leaving the page ends the sending; the browser asks. */
export const mayLeave = (event) => event.preventDefault();

/**
 * Keeps the screen on: a phone that locks stops the page. Browsers take the lock away with every look at another page, so that it is
 * asked for again.
 *
 * @returns {() => void} what lets it go
 */
export function keepAwake() {
  let lock;
  let isOver = false;
  const take = async () => {
    if (isOver || document.visibilityState !== 'visible' || (lock && !lock.released)) return;
    try {
      lock = await navigator.wakeLock?.request('screen');
      if (isOver) lock?.release();
    } catch {
      // A battery that is low: the screen goes off, and what is missing is sent when it is on again.
    }
  };
  document.addEventListener('visibilitychange', take);
  take();
  return () => {
    isOver = true;
    document.removeEventListener('visibilitychange', take);
    lock?.release();
  };
}
