// The links that were made: until when each is good, how often it was opened, and the way to end it at once.

import { ask, newest } from '../core/daemon.js';
import { Component, element, iconButton } from '../core/dom.js';
import { confirmed, describe } from '../core/dialog.js';
import { observe } from '../core/observations.js';
import { session } from '../core/session.js';
import { list, moment, relative, t } from '../core/text.js';
import { toast } from '../core/toasts.js';

class MadeLinks extends Component {
  #list = element('ul', { class: 'stack' }, element('li', { class: 'quiet' }, t('state.loading')));
  #read = newest(
    () => Promise.all([ask('link.list'), ask('category.list')]),
    ([{ links }, { categories }]) => this.#show([...links].reverse(), categories), (error) => this.#fail(error));

  connectedCallback() {
    this.classList.add('stack');
    this.hidden = !session.may('link.list');
    if (this.hidden) return;
    this.replaceChildren(element('h2', {}, t('links.title')), element('p', { class: 'quiet' }, t('links.help')), this.#list);
    // It tells which links are open, and not what a parent may know of them; openings are read when the screen is.
    this.during(observe('link.observe', {}, this.#read, (error) => this.#fail(error)));
  }

  #fail(error) {
    if (error.retryable) return;
    this.#list.replaceChildren(element('li', { class: 'fault' }, describe(error)));
  }

  #show(links, categories) {
    const names = new Map(categories.map(({ id, displayName }) => [id, displayName]));
    this.#list.replaceChildren(...links.map((link) => this.#card(link, names)));
    if (links.length === 0) this.#list.append(element('li', { class: 'quiet' }, t('links.none')));
  }

  #card(link, names) {
    const { id, title, state, categoryIds, photoCount, openings, lastOpenedAt, expiresAt, hasPassword, givesDetails, givesOriginals } = link;
    const shown = categoryIds.length > 0 ? list(categoryIds.map((category) => names.get(category)).filter(Boolean)) : t('category.photos', { count: photoCount });
    const name = title ?? shown;
    const facts = [
      title && shown,
      state === 'open' ? t('links.until', { time: moment(expiresAt) }) : t(`links.${state}`),
      t('links.opened', { count: openings }), lastOpenedAt && relative(lastOpenedAt),
      hasPassword && t('links.password'), givesDetails && t('links.details'), givesOriginals && t('links.originals')];
    return element(
      'li', { class: 'card device', data: { id } },
      element('div', {}, element('h3', {}, name), element('p', { class: 'quiet small' }, facts.filter(Boolean).join(' · '))),
      state === 'open' && iconButton('trash', t('links.end', { name }), () => this.#end(id, name)));
  }

  #end(id, name) {
    confirmed({
      title: t('links.end', { name }), text: t('links.endHelp'), action: t('links.endAction'), danger: true,
      act: async () => {
        await ask('link.revoke', { id });
        toast(t('links.ended', { name }));
      },
    });
  }
}

customElements.define('made-links', MadeLinks);
