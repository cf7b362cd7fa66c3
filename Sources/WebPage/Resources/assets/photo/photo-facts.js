// What is known about a photo, and what a parent may change: caption, category, date; and, only when they ask, the
// sealed fields.

import { ask } from '../core/daemon.js';
import { Component, element, icon, textButton } from '../core/dom.js';
import { showDialog } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { address } from '../core/router.js';
import { session } from '../core/session.js';
import { bytes, moment, number, photoTime, runningTime, t } from '../core/text.js';
import { attempt, toast } from '../core/toasts.js';
import { download, moveTo } from '../timeline/photo-actions.js';

const sealedFields = ['childName', 'childAge', 'milestone', 'location', 'tags', 'notes', 'metadata'];

/** Events: `slides` when somebody wants a slideshow, `turn` with degrees clockwise as `detail` when the photo is to be turned. */
class PhotoFacts extends Component {
  #photo;
  #categories = [];
  #sealed = element('div', { class: 'sealed' });
  #caption = element('textarea', { name: 'caption', maxlength: '2000', rows: '2' });
  #category = element('select', {});
  #facts = element('dl');
  #turns = session.may('photo.rotate')
    ? [[-90, 'photo.turnLeft'], [90, 'photo.turnRight']].map(([detail, name]) => textButton(
      t(name), () => this.dispatchEvent(new CustomEvent('turn', { detail })), { icon: detail > 0 ? 'turn' : 'turn-left' }))
    : [];

  connectedCallback() {
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', t('photo.facts'));
    this.#caption.addEventListener('change', () => this.#writeCaption());
    this.#category.addEventListener('change', () => this.#move());
    this.append(...[
      element('h2', {}, t('photo.facts')),
      session.may('photo.caption') && element('label', {}, t('photo.caption'), this.#caption),
      session.may('photo.move') && element('label', {}, t('photo.category'), this.#category),
      this.#facts,
      element(
        'div', { class: 'buttons' },
        session.may('photo.edit') && textButton(t('photo.editDate'), () => this.#editDate(), { icon: 'calendar' }),
        ...this.#turns,
        textButton(t('slides.begin'), () => this.dispatchEvent(new Event('slides')), { icon: 'slides' }),
        textButton(t('photo.downloadPhoto'), () => download(this.#photo, 'photo'), { icon: 'download' }),
        textButton(t('photo.downloadOriginal'), () => download(this.#photo, 'original'), { icon: 'download' }),
        session.may('link.create') && textButton(t('link.make'), () => attempt(async () => {
          const { makeLink } = await import('../library/make-link.js');
          await makeLink({ photos: [this.#photo] });
        }), { icon: 'link' })),
      session.may('photo.detail') && this.#sealed,
    ].filter(Boolean));
    this.during(observe('category.observe', {}, ({ categories }) => {
      this.#categories = categories;
      this.#draw();
    }));
  }

  set photo(photo) {
    // What was unsealed belongs to one photo, and leaves the page with it.
    if (photo?.id !== this.#photo?.id) this.#closeSealed();
    this.#photo = photo;
    this.#draw();
  }

  #draw() {
    const photo = this.#photo;
    if (!photo || !this.isConnected) return;
    if (document.activeElement !== this.#caption) this.#caption.value = photo.caption ?? '';
    this.#category.replaceChildren(...this.#categories.map(({ id, displayName }) => element('option', { value: String(id) }, displayName)));
    this.#category.value = String(photo.categoryId);
    for (const button of this.#turns) button.hidden = photo.kind === 'film' || Boolean(photo.unseenBy);
    const source = photo.dateSource && t(`dateSource.${photo.dateSource}`);
    // Only of one that was renamed: else the name says it.
    const sourceName = photo.sourceName?.startsWith(photo.name) ? undefined : photo.sourceName;
    const rows = [
      // Where they cannot be changed, they stand among the facts.
      !session.may('photo.caption') && photo.caption && [t('photo.caption'), photo.caption],
      !session.may('photo.move') && [t('photo.category'), this.#categories.find(({ id }) => id === photo.categoryId)?.displayName],
      [t('photo.date'), photo.takenAt ? photoTime(photo) : moment(photo.createdAt), source],
      [t('photo.size'), `${number(photo.width)} × ${number(photo.height)}`, bytes(photo.fileSize)],
      photo.kind === 'film' && [t('photo.film'), photo.duration === undefined ? t('film.unknownLength') : runningTime(photo.duration), photo.codecs?.replace(' ', ', ')],
      photo.camera && [t('photo.camera'), element('a', { href: address('photos', { parameters: { camera: photo.camera } }) }, photo.camera)],
      [t('photo.file'), photo.name, [sourceName, photo.path].filter(Boolean).join(' · ')],
      [t('photo.original'), this.#original(photo)],
      [t('photo.added'), moment(photo.createdAt)],
      photo.lastDecision && [t('photo.lastDecision'), t(`decision.${photo.lastDecision}`)],
    ];
    this.#facts.replaceChildren(...rows.filter(Boolean).flatMap(([name, value, more]) => [
      element('dt', {}, name), element('dd', {}, value, more && element('span', { class: 'quiet small' }, more))]));
  }

  #original(photo) {
    if (!photo.originalPath) return t('photo.originalNone');
    return photo.originalPath === photo.path ? t('photo.originalSame') : t('photo.originalKept', { kind: photo.originalPath.split('.').at(-1).toUpperCase() });
  }

  #writeCaption() {
    const { id, caption: before } = this.#photo;
    const text = this.#caption.value.trim();
    const write = (caption) => ask('photo.caption', caption ? { id, caption } : { id });
    attempt(async () => {
      await write(text);
      toast(t('action.captioned', { count: 1 }), () => write(before));
    });
  }

  #move() {
    const category = this.#categories.find(({ id }) => String(id) === this.#category.value);
    attempt(() => moveTo([this.#photo], category));
  }

  #editDate() {
    const photo = this.#photo;
    const field = element('input', { type: 'datetime-local', step: '1', value: (photo.takenAt ?? photo.createdAt).slice(0, 19), required: true });
    const known = ['second', 'day', 'month', 'year'].map((precision) => element(
      'option', { value: precision, selected: precision === photo.datePrecision }, t(`photo.known.${precision}`)));
    const precision = element('select', {}, ...known);
    showDialog({
      title: t('photo.editDate'),
      action: t('action.save'),
      body: [element('label', {}, t('photo.dateHelp'), field), element('label', {}, t('photo.known'), precision)],
      act: async () => {
        await ask('photo.edit', { id: photo.id, takenAt: field.value, datePrecision: precision.value });
        const { id, takenAt, datePrecision = 'second' } = photo;
        if (takenAt) toast(t('action.dated'), () => ask('photo.edit', { id, takenAt, datePrecision }));
      },
    });
  }

  // The sealed fields are read when a parent asks, are in this element alone, and go with it.

  #closeSealed() {
    this.#sealed.replaceChildren(textButton(t('sealed.show'), () => attempt(() => this.#openSealed()), { icon: 'locked' }));
  }

  async #openSealed() {
    const { id } = this.#photo;
    const detail = await ask('photo.detail', { id });
    if (id !== this.#photo.id) return;
    const fields = sealedFields.map((name) => {
      const text = Array.isArray(detail[name]) ? detail[name].join(', ') : detail[name] ?? '';
      const long = name === 'notes' || name === 'metadata';
      const unreadable = detail.unreadable.includes(name);
      const field = element(long ? 'textarea' : 'input', { name, value: text, autocomplete: 'off', disabled: unreadable });
      return element('label', {}, t(`sealed.${name}`), field, unreadable && element('span', { class: 'fault small' }, t('sealed.unreadable')));
    });
    const save = async (event) => {
      event.preventDefault();
      const entries = [...new FormData(event.target)].map(([name, text]) => [name, text.trim()]);
      const clear = entries.filter(([name, text]) => !text && detail[name]).map(([name]) => name);
      const set = entries.filter(([, text]) => text).map(([name, text]) => (
        [name, name === 'tags' ? text.split(',').map((tag) => tag.trim()).filter(Boolean) : text]));
      await attempt(async () => {
        await ask('photo.setDetail', { id, ...Object.fromEntries(set), ...(clear.length > 0 && { clear }) });
        toast(t('sealed.saved'));
        this.#closeSealed();
      });
    };
    this.#sealed.replaceChildren(element(
      'form', { onsubmit: save },
      element('h3', {}, icon('unlocked'), t('sealed.title')),
      element('p', { class: 'quiet small' }, t('sealed.help')),
      fields,
      element(
        'div', { class: 'buttons' },
        element('button', { type: 'submit', class: 'button primary' }, t('action.save')),
        textButton(t('sealed.hide'), () => this.#closeSealed()))));
    this.#sealed.querySelector('input, textarea')?.focus();
  }
}

customElements.define('photo-facts', PhotoFacts);
