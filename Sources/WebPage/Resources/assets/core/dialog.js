// Dialogs, all of them the browser's own <dialog>: it holds the focus, closes with Escape, and gives the focus back. Back
// closes it too.

import { DaemonError } from './daemon.js';
import { element, iconButton } from './dom.js';
import { openAbove } from './router.js';
import { t } from './text.js';

/** What a person typed and can put right, in a sentence. */
export class Refusal extends Error {}

/**
 * Shows a dialog and resolves when it closes: with what its action gave, or undefined where it was dismissed.
 *
 * @param {object} parts
 * @param {string} parts.title
 * @param {Array<Node|string>} parts.body
 * @param {string} [parts.action] the button that does it; without one there is only a cross
 * @param {boolean} [parts.danger] whether it cannot be taken back
 * @param {(form: HTMLFormElement) => any} [parts.act] what the button does; where it throws, the dialog stays and says why
 * @param {(dialog: HTMLDialogElement) => void} [parts.opened]
 * @param {string} [parts.kind] a class for its looks
 */
export function showDialog({ title, body, action, danger = false, act = () => true, opened, kind = '' }) {
  return new Promise((resolve) => {
    let result;
    const fault = element('p', { class: 'fault', role: 'alert', hidden: true });
    const cancel = element('button', { type: 'button', class: 'button', onclick: () => dialog.close() }, t('dialog.cancel'));
    const button = action && element('button', { type: 'submit', class: danger ? 'button danger' : 'button primary' }, action);
    const form = element(
      'form', { onsubmit: submit, novalidate: true },
      element('header', {}, element('h2', { id: 'dialog-title' }, title), iconButton('cross', t('dialog.close'), () => dialog.close())),
      element('div', { class: 'dialog-body' }, body, fault),
      action && element('footer', {}, cancel, button));
    const dialog = element('dialog', { class: kind, 'aria-labelledby': 'dialog-title' }, form);

    async function submit(event) {
      event.preventDefault();
      if (button?.disabled) return;
      if (button) button.disabled = true;
      fault.hidden = true;
      try {
        result = await act(form);
        dialog.close();
      } catch (error) {
        fault.textContent = describe(error);
        fault.hidden = false;
      } finally {
        if (button) button.disabled = false;
      }
    }

    // A click on what is around the dialog is one on the <dialog> itself.
    dialog.addEventListener('pointerdown', (event) => event.target === dialog && dialog.close());
    dialog.addEventListener('close', async () => {
      dialog.remove();
      await hasClosed();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    const hasClosed = openAbove(() => dialog.close());
    // Where there is nothing to fill in, Enter does what is meant; where that cannot be taken back, it does nothing.
    const field = dialog.querySelector('.dialog-body :is(input, select, textarea):not(:disabled)');
    (field ?? (danger ? cancel : button))?.focus();
    opened?.(dialog);
  });
}

/** Asks before something is done. Resolves with whether it was. */
export async function confirmed({ title, text, action, danger, act }) {
  const result = await showDialog({ title, body: [element('p', {}, text)], action, danger, act: async () => (await act?.(), true) });
  return result === true;
}

/** What went wrong, as a sentence for a person. */
export function describe(error) {
  if (error instanceof DaemonError) return error.message || t('error.unreachable');
  if (error instanceof Refusal) return error.message;
  console.error(error);
  return t('error.unexpected', { message: error.message });
}

/**
 * Does something, and says why it was refused in the page's own sentence where it has one for that status: the daemon's name
 * commands, which are for whoever knows a terminal.
 *
 * @param {() => Promise<any>} work
 * @param {object} sentences keys of sentences by status
 */
export async function explained(work, sentences) {
  try {
    return await work();
  } catch (error) {
    const key = sentences[error.status];
    throw key ? new Refusal(t(key)) : error;
  }
}
