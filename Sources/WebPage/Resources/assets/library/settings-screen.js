// Settings: of the library, for everybody; of this browser; and who may do what, with the PIN and kids mode.

import { ask } from '../core/daemon.js';
import { Component, element, textButton } from '../core/dom.js';
import { Refusal, describe, showDialog } from '../core/dialog.js';
import { observe, tellAgain } from '../core/observations.js';
import { remember, remembered } from '../core/preferences.js';
import { session } from '../core/session.js';
import { languages, moment, percent, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { beginKidsMode } from '../kids/kids-mode.js';

const switches = ['keepOriginals', 'storageCleanupEnabled', 'autoProcessActions', 'enableHapticFeedback'];

class SettingsScreen extends Component {
  #library = element('div', { class: 'stack' }, element('p', { class: 'quiet', role: 'status' }, t('state.loading')));
  #access = element('div', { class: 'stack' });
  #switches = new Map();
  #threshold;

  connectedCallback() {
    this.classList.add('screen');
    // Of the browser alone, where the library's are not its to know.
    const ofLibrary = session.may('settings.set');
    this.append(...[
      element('header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.settings'))),
      ofLibrary && element('section', { class: 'card stack' }, element('h2', {}, t('settings.kids')), this.#access),
      ofLibrary && element('section', { class: 'card stack' }, element('h2', {}, t('settings.library')), this.#library),
      element('section', { class: 'card stack' }, element('h2', {}, t('settings.browser')), this.#theme(), this.#language(),
        session.may('device.forget') && element('div', { class: 'buttons' }, textButton(t('settings.unpair'), () => this.#unpair()))),
    ].filter(Boolean));
    if (ofLibrary) this.during(observe('settings.observe', {}, (settings) => this.#show(settings), (error) => {
      this.#library.replaceChildren(element('p', { class: 'fault' }, describe(error)));
    }));
  }

  #show(settings) {
    if (this.#switches.size === 0) this.#build();
    for (const [name, box] of this.#switches) box.checked = settings[name];
    if (document.activeElement !== this.#threshold) this.#threshold.value = settings.swipeThreshold;
    this.#sayThreshold();
    this.lastBackup.textContent = settings.lastBackupDate ? t('settings.lastBackup', { time: moment(settings.lastBackupDate) }) : t('settings.noBackup');
    this.#drawAccess(settings);
  }

  #build() {
    for (const name of switches) {
      this.#switches.set(name, element('input', {
        type: 'checkbox', onchange: ({ target }) => this.#change({ [name]: target.checked }, () => (target.checked = !target.checked)),
      }));
    }
    this.#threshold = element('input', {
      type: 'range', min: '0.05', max: '1', step: '0.05', oninput: () => this.#sayThreshold(),
      onchange: ({ target }) => this.#change({ swipeThreshold: Number(target.value) }),
    });
    this.thresholdText = element('output', { class: 'quiet' });
    this.lastBackup = element('p', { class: 'quiet' });
    this.#library.replaceChildren(
      ...[...this.#switches].map(([name, box]) => element('label', { class: 'choice' }, box, element('span', {}, t(`setting.${name}`)))),
      element('label', {}, t('setting.swipeThreshold'), ' ', this.thresholdText, this.#threshold),
      this.lastBackup);
  }

  #sayThreshold() {
    this.thresholdText.textContent = percent(Number(this.#threshold.value));
  }

  async #change(changes, refused) {
    tellAgain('settings.observe');
    await attempt(async () => {
      try {
        await ask('settings.set', changes);
      } catch (error) {
        refused?.();
        throw error;
      }
    });
  }

  #drawAccess({ parentalLockEnabled: hasPIN, currentAppMode: mode }) {
    this.#access.replaceChildren(
      element('p', { class: 'quiet' }, t(mode === 'kids' ? 'kids.isOn' : hasPIN ? 'kids.help' : 'kids.needsPIN')),
      element(
        'div', { class: 'buttons' },
        mode === 'kids'
          ? textButton(t('kids.leave'), () => attempt(async () => {
            await ask('mode.set', { mode: 'parent' });
            toast(t('kids.left'));
            await session.refresh();
          }), { class: 'button primary' })
          : textButton(t('kids.begin'), beginKidsMode, { class: 'button primary', disabled: !hasPIN }),
        textButton(t(hasPIN ? 'pin.change' : 'pin.set'), () => this.#setPIN(hasPIN)),
        hasPIN && textButton(t('pin.clear'), () => this.#clearPIN())));
  }

  #pinField(name, label) {
    const completion = name === 'pin' ? 'current-password' : 'new-password';
    return element('label', {}, label, element('input', { type: 'password', name, autocomplete: completion, minlength: '4', maxlength: '64', required: true }));
  }

  #setPIN(hasPIN) {
    showDialog({
      title: t(hasPIN ? 'pin.change' : 'pin.set'), action: t('action.save'),
      body: [element('p', { class: 'quiet' }, t('pin.help')), hasPIN && this.#pinField('pin', t('pin.old')),
        this.#pinField('newPIN', t('pin.new')), this.#pinField('again', t('pin.again'))].filter(Boolean),
      act: async (form) => {
        const { pin, newPIN, again } = Object.fromEntries(new FormData(form));
        if (newPIN !== again) throw new Refusal(t('pin.differ'));
        await (hasPIN ? ask('pin.change', { pin, newPIN }) : ask('pin.set', { pin: newPIN }));
        toast(t('pin.saved'));
      },
    });
  }

  #clearPIN() {
    showDialog({
      title: t('pin.clear'), action: t('pin.clear'), danger: true, body: [this.#pinField('pin', t('pin.old'))],
      act: async (form) => {
        await ask('pin.clear', { pin: new FormData(form).get('pin') });
        toast(t('pin.cleared'));
      },
    });
  }

  #theme() {
    const chosen = remembered('theme') ?? '';
    const change = ({ target }) => {
      remember('theme', target.value || undefined);
      if (target.value) document.documentElement.dataset.theme = target.value;
      else delete document.documentElement.dataset.theme;
    };
    return element('label', {}, t('settings.theme'), element('select', { onchange: change }, ['', 'light', 'dark'].map((theme) => (
      element('option', { value: theme, selected: theme === chosen }, t(`theme.${theme || 'system'}`))))));
  }

  #language() {
    const chosen = remembered('language') ?? '';
    const change = ({ target }) => {
      remember('language', target.value || undefined);
      location.reload();
    };
    return element(
      'label', {}, t('settings.language'),
      element('select', { onchange: change }, element('option', { value: '' }, t('language.browser')), Object.entries(languages).map(([tag, name]) => (
        element('option', { value: tag, lang: tag, selected: tag === chosen }, name)))));
  }

  #unpair() {
    confirmed({ title: t('settings.unpair'), text: t('settings.unpairHelp'), action: t('settings.unpair'), danger: true, act: () => session.unpair() });
  }
}

customElements.define('settings-screen', SettingsScreen);
