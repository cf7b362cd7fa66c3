// One photo of a group: the picture, who sent it and when, and how long it is still there.

import { Component, element, icon, textButton } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { onChange } from '../core/router.js';
import { moment, t } from '../core/text.js';
import '../photo/zoom-surface.js';
import { groupPictureAddress, isLate, timeLeft } from './groups.js';

/** Event: `keep` with the photo as `detail`, which bubbles. */
class GroupPhoto extends Component {
  #photo;
  isOwn = false;
  #picture = element('button', { type: 'button', class: 'picture', onclick: () => this.#open() });
  #sender = element('h3');
  #sent = element('p', { class: 'quiet small' });
  #left = element('div', { class: 'badge left' });
  #keep = textButton(t('groups.keep'), () => this.#askToKeep(), { icon: 'import' });

  connectedCallback() {
    this.append(this.#picture, element('div', { class: 'facts' }, this.#sender, this.#sent, this.#left), this.#keep);
  }

  set photo(photo) {
    const isAnother = ['id', 'localPath', 'isComing'].some((name) => photo[name] !== this.#photo?.[name]);
    this.#photo = photo;
    const { senderName, createdAt, localPath, isWaiting } = photo;
    this.#sender.textContent = this.isOwn ? t('groups.nameOfYou', { name: senderName }) : senderName;
    this.#sent.textContent = [t('groups.sent', { time: moment(createdAt) }), isWaiting && t('groups.waits')].filter(Boolean).join(' · ');
    this.#picture.setAttribute('aria-label', t('groups.enlarge', { name: senderName, time: moment(createdAt) }));
    this.#keep.setAttribute('aria-label', t('groups.keepOne', { name: senderName, time: moment(createdAt) }));
    this.tick();
    if (!isAnother) return;
    if (!localPath) return this.#lose();
    this.#picture.disabled = this.#keep.disabled = false;
    this.#picture.replaceChildren(element('img', { src: groupPictureAddress(photo), alt: '', loading: 'lazy', onerror: () => this.#lose() }));
  }

  /** The row of a photo outlives its file where others needed the room, and comes before it from another machine. */
  #lose() {
    const { isComing, width } = this.#photo;
    this.#picture.replaceChildren(icon('photos'), element('span', {}, t(isComing ? 'groups.fileToCome' : width ? 'groups.fileGone' : 'groups.fileUnfetched')));
    this.#picture.removeAttribute('aria-label');
    this.#picture.disabled = this.#keep.disabled = true;
  }

  /** Time has passed. */
  tick() {
    const text = timeLeft(this.#photo);
    if (this.#left.textContent !== text) this.#left.textContent = text;
    this.#left.classList.toggle('attention', isLate(this.#photo));
  }

  #askToKeep() {
    this.dispatchEvent(new CustomEvent('keep', { bubbles: true, detail: this.#photo }));
  }

  /** The picture as large as the window lets it be; nearer by wheel, fingers and keys. */
  async #open() {
    const photo = this.#photo;
    const { id, senderName, createdAt, width, height } = photo;
    const surface = element('zoom-surface');
    let stop;
    let wantsIt = false;
    const keep = textButton(t('groups.keep'), ({ target }) => {
      wantsIt = true;
      target.closest('dialog').close();
    }, { icon: 'import' });
    await showDialog({
      title: t('groups.photoFrom', { name: senderName }), kind: 'large',
      body: [
        element('div', { class: 'group-stage' }, surface),
        element(
          'div', { class: 'below' },
          element('p', { class: 'quiet small' }, [t('groups.sent', { time: moment(createdAt) }), timeLeft(photo)].join(' · ')), keep)],
      opened: (dialog) => {
        const address = groupPictureAddress(photo);
        surface.show({ key: id, pictures: () => [address], width, height, description: t('groups.photoFrom', { name: senderName }) });
        stop = onChange(() => dialog.close());
        const keys = {
          '+': () => surface.zoom(1.4), '=': () => surface.zoom(1.4), '-': () => surface.zoom(1 / 1.4), 0: () => surface.fit(),
          ArrowLeft: () => surface.pan(80, 0), ArrowRight: () => surface.pan(-80, 0), ArrowUp: () => surface.pan(0, 80), ArrowDown: () => surface.pan(0, -80),
        };
        dialog.addEventListener('keydown', (event) => {
          if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          keys[event.key]();
        });
      },
    });
    stop?.();
    if (wantsIt) this.#askToKeep();
  }
}

customElements.define('group-photo', GroupPhoto);
