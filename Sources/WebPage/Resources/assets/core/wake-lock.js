// A screen that stays on while something goes on that nobody touches, where the browser lets a page say so.

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
      // A battery that is low: the screen goes off, and it goes on when somebody looks again.
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
