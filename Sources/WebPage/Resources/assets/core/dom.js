// Making elements without markup: texts of photos, files and people are only ever text nodes here, so that a caption
// like `<img onerror=…>` is a caption. Nothing in this page assigns innerHTML.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element with properties, listeners and children.
 *
 * @param {string} tag
 * @param {object} properties `onclick` and the like are listeners; `css` are custom properties and styles, set through the
 *   CSSOM because the content security policy takes no style attributes; `data` is the dataset; what is undefined, null or
 *   false is left out; the rest are attributes.
 * @param {...(Node|string|number|null|undefined|false|Array)} children
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'css') for (const [key, text] of Object.entries(value)) made.style.setProperty(key, text);
    else if (name === 'data') Object.assign(made.dataset, value);
    else if (name === 'value' || name === 'checked' || name === 'selected' || name === 'indeterminate') made[name] = value;
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

/**
 * A picture of the sprite `icons.svg`. It says nothing to a screen reader: what it stands for is in its button's name.
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `/assets/icons.svg#${name}`);
  svg.append(use);
  return svg;
}

/** A button with an icon alone; `label` is its name and its tip. */
export function iconButton(name, label, onclick, properties = {}) {
  return element(
    'button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick, ...properties },
    icon(name));
}

/** A button with a text, and an icon before it where one is named. */
export function textButton(label, onclick, { icon: name, ...properties } = {}) {
  return element('button', { type: 'button', class: 'button', onclick, ...properties }, name && icon(name), label);
}

const sheets = new Map();

/** Loads a style sheet once, and resolves when its rules hold. Screens that open later bring their own. */
export function styles(path) {
  if (!sheets.has(path)) {
    sheets.set(path, new Promise((resolve) => {
      // A sheet that cannot be loaded costs looks, not the screen.
      document.head.append(element('link', { rel: 'stylesheet', href: path, onload: resolve, onerror: resolve }));
    }));
  }
  return sheets.get(path);
}

/**
 * A custom element whose listeners end with it. What a screen follows while it is on the page it gives to `during`; when it
 * leaves the page, each of these is called.
 */
export class Component extends HTMLElement {
  #ends = [];

  /** Has `end` called when the element leaves the page. */
  during(end) {
    this.#ends.push(end);
  }

  /** Listens until the element leaves the page. */
  listen(target, type, listener, options) {
    target.addEventListener(type, listener, options);
    this.during(() => target.removeEventListener(type, listener, options));
  }

  disconnectedCallback() {
    for (const end of this.#ends.splice(0)) end();
  }
}
