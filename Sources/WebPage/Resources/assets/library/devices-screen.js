// The browsers that are paired: whom each is for, when it was last here, and the way to forget one, which ends what it has open at
// once. And who else looks: by links, and from other machines.

import { ask, newest } from '../core/daemon.js';
import { Component, element, iconButton, textButton } from '../core/dom.js';
import { confirmed, describe, showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { session } from '../core/session.js';
import { moment, relative, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import '../review/review-machines.js';
import { roleFields, roleText } from './device-role.js';
import { copied, handedOver, reachable } from './handed-over.js';
import './made-links.js';

class DevicesScreen extends Component {
  #list = element('ul', { class: 'stack' }, element('li', { class: 'quiet' }, t('state.loading')));
  #read = newest(
    () => Promise.all([ask('device.list'), ask('category.list')]), ([{ devices }, { categories }]) => this.#show(devices, categories),
    (error) => this.#fail(error));

  connectedCallback() {
    this.classList.add('screen');
    this.append(
      element(
        'header', { class: 'screen-header' }, element('h1', { tabindex: '-1' }, t('screen.devices')),
        session.offers('device.invite') && textButton(t('devices.add'), () => attempt(() => this.#invite()), { icon: 'plus', class: 'button primary' })),
      element('p', { class: 'quiet' }, t('devices.help')),
      this.#list, element('made-links'), element('review-machines'));
    if (session.offers('device.observe')) {
      // It tells which devices there are, and not what a parent may know of them.
      this.during(observe('device.observe', {}, this.#read, (error) => this.#fail(error)));
    } else {
      this.#read();
    }
  }

  #fail(error) {
    // What was shown stays; what is away comes back with an event.
    if (error.retryable) return;
    this.#list.replaceChildren(element('li', { class: 'fault' }, describe(error)));
  }

  #show(devices, categories) {
    this.#list.replaceChildren(...devices.map((device) => {
      return element(
        'li', { class: 'card device' },
        element(
          'div', {}, element('h2', {}, device.name),
          element('p', { class: 'quiet small' }, [
            t('devices.paired', { time: moment(device.createdAt) }), t('devices.seen', { time: relative(device.lastSeenAt) })].join(' · ')),
          device.role && element('p', { class: 'small' }, roleText(device, categories)),
          device.hasPassword && element('p', { class: 'small' }, t('devices.program.has')),
          session.offers('device.makePassword') && device.role === 'parent' && element(
            'p', { class: 'device-apps' },
            textButton(
              t(device.hasPassword ? 'devices.program.again' : 'devices.program.make'), () => attempt(() => this.#program(device)), {
                class: 'button small', 'aria-label': t(device.hasPassword ? 'devices.program.againFor' : 'devices.program.for', { name: device.name }) }),
            device.hasPassword && textButton(
              t('devices.program.end'), () => this.#endProgram(device), {
                class: 'button small', 'aria-label': t('devices.program.endFor', { name: device.name }) }))),
        session.may('device.setRole') && iconButton('caption', t('devices.change', { name: device.name }), () => this.#change(device, categories)),
        iconButton('trash', t('devices.forget', { name: device.name }), () => this.#forget(device)));
    }));
  }

  #change(device, categories) {
    const { fields, read } = roleFields(categories, device);
    showDialog({
      title: t('devices.change', { name: device.name }), action: t('action.save'), body: fields,
      act: async (form) => {
        const changed = await ask('device.setRole', { id: device.id, ...read(form) });
        toast(`${changed.name}: ${roleText(changed, categories)}`);
        if (!session.offers('device.observe')) await this.#read();
      },
    });
  }

  /** The password of a device's programs is shown once, with where it is entered. */
  async #program(device) {
    const { origin, isOnlyHere } = await reachable();
    const { user, password } = await ask('device.makePassword', { id: device.id });
    await this.#read();
    await showDialog({
      title: t('devices.program.for', { name: device.name }),
      body: [
        element('p', {}, t('devices.program.help')),
        isOnlyHere && element('p', { class: 'attention' }, t('devices.onlyHere')),
        element('h3', {}, t('devices.program.address')), ...copied(`${origin}/dav/`),
        element('h3', {}, t('devices.program.user')), element('pre', { class: 'wrap' }, user),
        element('h3', {}, t('devices.program.password')), ...copied(password),
        element('p', { class: 'quiet small' }, t('devices.program.once'))].filter(Boolean),
    });
  }

  #endProgram(device) {
    confirmed({
      title: t('devices.program.endFor', { name: device.name }), text: t('devices.program.endHelp'), action: t('devices.program.end'), danger: true,
      act: async () => {
        await ask('device.endPassword', { id: device.id });
        await this.#read();
      },
    });
  }

  #forget(device) {
    confirmed({
      title: t('devices.forget', { name: device.name }), text: t('devices.forgetHelp'), action: t('devices.forgetAction'), danger: true,
      act: async () => {
        await ask('device.forget', { id: device.id });
        toast(t('devices.forgotten', { name: device.name }));
        if (!session.offers('device.observe')) await this.#read();
      },
    });
  }

  /** First whom it is for, where the daemon tells devices apart. */
  async #invite() {
    let invitation;
    if (session.may('device.setRole')) {
      const { categories } = await ask('category.list');
      const { fields, read } = roleFields(categories);
      invitation = await showDialog({
        title: t('devices.add'), action: t('devices.addNext'), body: fields, act: (form) => ask('device.invite', read(form)),
      });
      if (!invitation) return;
    }
    const { code, expiresAt } = invitation ?? await ask('device.invite');
    const { origin, door, fingerprint, isOnlyHere } = await reachable();
    await showDialog({
      title: t('devices.add'),
      body: [
        isOnlyHere && !door && element('p', { class: 'attention' }, t(fingerprint ? 'devices.noNetwork' : 'devices.onlyHere')),
        door && element('p', {}, t('devices.doorFirst')), door && element('pre', { class: 'wrap' }, door),
        door && element('p', { class: 'quiet small' }, t('devices.fingerprint', { fingerprint })),
        element('p', {}, t(door ? 'devices.inviteThen' : 'devices.inviteHelp', { time: relative(expiresAt) })),
        ...await handedOver(`${origin}/#pair=${code}`, t('devices.qrCode'))].filter(Boolean),
    });
  }
}

customElements.define('devices-screen', DevicesScreen);
