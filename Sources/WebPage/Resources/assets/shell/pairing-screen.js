// Making this browser known. `smilepile web` prints an address with a one-time code in its fragment; whoever opens the
// page without one is told how to get it.

import { Component, element, icon, styles } from '../core/dom.js';
import { describe } from '../core/dialog.js';
import { session } from '../core/session.js';
import { t } from '../core/text.js';
import { copied } from '../library/handed-over.js';

/** The code of an address, or of an address that was typed or pasted whole. */
function codeOf(text) {
  return /#pair=([\w-]+)/.exec(text)?.[1] ?? text.trim();
}

/** What this device is, for the list of devices: `Chrome, Android`. A person may write something better. */
function suggestedName() {
  const agent = navigator.userAgent;
  const browser = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'].find((name) => agent.includes(name)) ?? '';
  const system = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac', 'CrOS', 'Linux'].find((name) => agent.includes(name)) ?? '';
  const names = { Edg: 'Edge', OPR: 'Opera', CrOS: 'ChromeOS', Mac: 'macOS' };
  return [browser, system].filter(Boolean).map((name) => names[name] ?? name).join(', ');
}

class PairingScreen extends Component {
  connectedCallback() {
    // An address that is opened where the page already is changes its fragment alone.
    this.listen(window, 'hashchange', () => /^#(pair|join|reviews)=/.test(location.hash) && this.#draw());
    this.#draw();
  }

  #draw() {
    if (location.hash.startsWith('#join=')) return this.#drawInvitation('pairing.invitation', 'smilepile groups join …');
    if (location.hash.startsWith('#reviews=')) return this.#drawInvitation('pairing.reviews', 'smilepile swipe join …');
    const given = location.hash.startsWith('#pair=') ? codeOf(location.hash) : '';
    // The code leaves the address and the history at once; it is good for one use, and for nobody who looks over a
    // shoulder.
    if (given) history.replaceState(null, '', '#/photos');
    const fault = element('p', { class: 'fault', role: 'alert', hidden: true });
    const button = element('button', { type: 'submit', class: 'button primary' }, t('pairing.pair'));
    const code = element('input', { name: 'code', required: true, autocomplete: 'off', spellcheck: 'false', value: given });
    const name = element('input', { name: 'name', required: true, maxlength: '100', value: suggestedName() });
    const pair = async (event) => {
      event.preventDefault();
      button.disabled = true;
      fault.hidden = true;
      try {
        await session.pair(codeOf(code.value), name.value.trim());
      } catch (error) {
        fault.textContent = describe(error);
        fault.hidden = false;
        button.disabled = false;
      }
    };
    this.replaceChildren(element(
      'form', { class: 'card', onsubmit: pair },
      element('p', { class: 'brand', 'aria-hidden': 'true' }, icon('smile'), 'SmilePile'),
      element('h1', { tabindex: '-1' }, t('pairing.title')),
      given ? element('p', {}, t('pairing.ready')) : element(
        'div', {}, element('p', {}, t('pairing.how')), element('pre', {}, 'smilepile web')),
      !given && element('label', {}, t('pairing.code'), code),
      element('label', {}, t('pairing.name'), name),
      fault, button));
    (given ? name : code).focus();
  }

  /** Somebody's camera has read an invitation, which is of no use here: it is for a SmilePile of their own, or another machine of theirs. */
  async #drawInvitation(text, command) {
    const invitation = `${location.origin}/${location.hash}`;
    // As a code for pairing does.
    history.replaceState(null, '', '#/photos');
    await styles('/assets/library/library.css');
    this.replaceChildren(element(
      'form', { class: 'card' },
      element('p', { class: 'brand', 'aria-hidden': 'true' }, icon('smile'), 'SmilePile'),
      element('h1', { tabindex: '-1' }, t(text)),
      element('p', {}, t(`${text}Help`)), ...copied(invitation),
      element('p', { class: 'quiet small' }, t(`${text}Or`)), element('pre', {}, command)));
    this.querySelector('h1').focus();
  }
}

customElements.define('pairing-screen', PairingScreen);
