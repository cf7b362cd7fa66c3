// The tools for what is selected; in the place of the filters as long as something is.

import { Component, element, iconButton } from '../core/dom.js';
import { session } from '../core/session.js';
import { number, t } from '../core/text.js';
import { attempt } from '../core/toasts.js';
import { chooseCategory, moveToTrash, setFavourite, turn, writeCaption } from './photo-actions.js';

class SelectionBar extends Component {
  #count = element('strong', { class: 'number', role: 'status' });
  #favourite;

  connectedCallback() {
    this.setAttribute('role', 'toolbar');
    this.setAttribute('aria-label', t('selection.tools'));
    const { selection } = this;
    /** What is done with the photos; afterwards nothing is selected, because what was is done. */
    const then = (work) => () => attempt(async () => {
      if ((await work(selection.photos)) !== undefined) selection.clear();
    });
    this.#favourite = iconButton('heart', t('selection.favourite'), then(async (photos) => {
      await setFavourite(photos, !photos.every(({ isFavorite }) => isFavorite));
      return true;
    }));
    const mayTrash = session.may('photo.delete');
    this.append(...[
      iconButton('cross', t('selection.clear'), () => selection.clear()),
      this.#count,
      session.may('photo.favorite') && this.#favourite,
      session.may('photo.move') && iconButton('move', t('selection.move'), then(chooseCategory)),
      // What is turned stays selected: half a turn is two of these.
      session.may('photo.rotate') && iconButton('turn', t('selection.turn'), () => attempt(() => turn(selection.photos, 90, (turned) => this.#follow(turned)))),
      session.may('photo.caption') && iconButton('caption', t('selection.caption'), then(writeCaption)),
      iconButton('download', t('selection.download'), then(async (photos) => {
        const { downloadTogether } = await import('./zip-download.js');
        return downloadTogether(photos);
      })),
      session.may('link.create') && iconButton('link', t('link.make'), then(async (photos) => {
        const { makeLink } = await import('../library/make-link.js');
        return makeLink({ photos });
      })),
      mayTrash && iconButton('trash', t('selection.trash'), then(async (photos) => {
        await moveToTrash(photos);
        return true;
      })),
    ].filter(Boolean));
    this.listen(selection, 'changed', () => this.#show());
    this.listen(document, 'keydown', (event) => {
      if (event.key !== 'Delete' || !mayTrash || selection.size === 0 || event.target.closest?.('input, textarea, dialog')) return;
      attempt(async () => {
        await moveToTrash(selection.photos);
        selection.clear();
      });
    });
    this.#show();
  }

  /** Photos that are turned are selected as they are now: the next turn begins there. */
  #follow(turned) {
    const now = new Map(turned.map((photo) => [photo.id, photo]));
    this.selection.add(this.selection.photos.filter(({ id }) => now.has(id)).map((photo) => {
      const { rotation, width, height } = now.get(photo.id);
      return { ...photo, rotation, width, height };
    }));
  }

  #show() {
    const { selection } = this;
    this.#count.replaceChildren(
      element('span', { class: 'words' }, t('selection.count', { count: selection.size })),
      element('span', { class: 'short', 'aria-hidden': 'true' }, number(selection.size)));
    const all = selection.size > 0 && selection.photos.every(({ isFavorite }) => isFavorite);
    this.#favourite.setAttribute('aria-pressed', String(all));
  }
}

customElements.define('selection-bar', SelectionBar);
