// Keys that work wherever the focus is on the timeline's screen.

import { remembered } from '../core/preferences.js';
import { current } from '../core/router.js';
import { attempt } from '../core/toasts.js';

/**
 * Whether keys without Ctrl do something wherever the focus is. Who speaks to a computer, or presses keys by mistake, can switch
 * them off (WCAG 2.1.4).
 */
export const singleKeys = () => remembered('singleKeys') !== 'off';

/** Follows the keys until the screen leaves the page. `search` puts the focus into the field of the search. */
export function followShortcuts(screen, { timeline, selection, search }) {
  screen.listen(document, 'keydown', (event) => {
    if (event.defaultPrevented || event.altKey || document.querySelector('dialog[open]')) return;
    const isHeld = event.ctrlKey || event.metaKey;
    const isWritten = event.target.closest?.('input:not([type="checkbox"], [type="radio"], [type="range"]), textarea, select');
    const isHere = current().screen === 'photos';
    if (event.key === 'Escape' && isHere) {
      selection.clear();
    } else if (isWritten) {
      return;
    } else if (event.key === 'a' && isHeld && isHere && !event.shiftKey) {
      event.preventDefault();
      timeline.selectEverything();
    } else if (event.key === '/' && !isHeld && isHere && singleKeys()) {
      event.preventDefault();
      search();
    } else if (event.key === '?' && !isHeld && singleKeys()) {
      event.preventDefault();
      attempt(async () => (await import('./timeline-dialogs.js')).showKeys());
    }
  });
}
