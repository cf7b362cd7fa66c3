// Short messages at the edge of the window: what was done, with a way to undo it, and what went wrong.

import { describe } from './dialog.js';
import { Component, element, iconButton } from './dom.js';
import { t } from './text.js';

/** How long a message stays, in milliseconds; as long as the pointer or the focus is on it, longer. */
const stay = 8000;

class ToastList extends Component {
  #latestUndo;

  connectedCallback() {
    this.setAttribute('role', 'status');
    this.setAttribute('aria-live', 'polite');
    this.listen(document, 'keydown', (event) => {
      // There the browser takes back what was typed.
      const typing = event.target.closest?.('input:not([type="checkbox"], [type="radio"], [type="range"]), textarea');
      if (!typing && this.#latestUndo && (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === 'z') {
        event.preventDefault();
        this.#latestUndo();
      }
    });
  }

  show(text, { undo, fault = false } = {}) {
    let timer;
    const remove = () => {
      clearTimeout(timer);
      if (this.#latestUndo === takeBack) this.#latestUndo = undefined;
      shown.remove();
    };
    const takeBack = undo && (async () => {
      remove();
      try {
        await undo();
        this.show(t('toast.undone'));
      } catch (error) {
        this.show(describe(error), { fault: true });
      }
    });
    const shown = element(
      'div', { class: fault ? 'toast fault' : 'toast' },
      element('span', {}, text),
      takeBack && element('button', { type: 'button', class: 'button', onclick: takeBack }, t('toast.undo')),
      iconButton('cross', t('toast.dismiss'), remove));
    // What went wrong stays until it has been read.
    const wait = () => !fault && (timer = setTimeout(remove, stay));
    for (const type of ['pointerenter', 'focusin']) shown.addEventListener(type, () => clearTimeout(timer));
    for (const type of ['pointerleave', 'focusout']) shown.addEventListener(type, wait);
    if (takeBack) this.#latestUndo = takeBack;
    while (this.children.length > 1) this.firstElementChild.remove();
    this.append(shown);
    wait();
  }
}

customElements.define('toast-list', ToastList);

const list = () => document.querySelector('toast-list');

/** Says what was done. `undo` takes it back, by the button or by Ctrl-Z. */
export const toast = (text, undo) => list()?.show(text, { undo });

/** Says what went wrong. */
export const toastError = (error) => list()?.show(describe(error), { fault: true });

/** Does something, and says so where it fails. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name !== 'AbortError') toastError(error);
  }
}
