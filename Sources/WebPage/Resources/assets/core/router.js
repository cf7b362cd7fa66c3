// Where the reader is. The address is the part after `#`, which a browser sends to nobody: what a family looks for
// stays out of every log. `#/photos?category=3&favorites=1`, `#/photo/UUID?category=3`, `#/trash`. Filters live in it,
// so that back, reload and a shared link work.

/** Of the filters of lists: name in the address, name in messages, how its text becomes a value. */
const filterNames = [
  ['text', 'text', String],
  ['category', 'categoryId', Number],
  ['from', 'from', String],
  // A day alone is its first moment, and the last day of a range is meant whole.
  ['to', 'to', (day) => (day.length === 10 ? `${day}T23:59:59.999` : day)],
  ['favorites', 'favoritesOnly', (text) => text === '1'],
  ['reviewed', 'reviewed', (text) => text === 'yes'],
  ['camera', 'camera', String],
  ['kind', 'kind', String],
];

/** The place that an address names: `{screen, id, parameters}`. */
export function parse(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen, id] = path.split('/');
  return { screen: screen || 'photos', id: id && safeDecode(id), parameters: new URLSearchParams(query) };
}

function safeDecode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const current = () => parse(location.hash);

/** The address of a place. Parameters that are empty are left out. */
export function address(screen, { id, parameters = {} } = {}) {
  const given = parameters instanceof URLSearchParams ? [...parameters] : Object.entries(parameters);
  const query = new URLSearchParams(given.filter(([, value]) => value !== '' && value !== undefined && value !== null));
  const text = query.toString();
  return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ''}${text ? `?${text}` : ''}`;
}

/** What a list of photos is filtered by, as the messages take it. */
export function photoFilter(parameters) {
  const filter = {};
  for (const [name, field, value] of filterNames) {
    const text = parameters.get(name);
    if (text) filter[field] = value(text);
  }
  if (Number.isNaN(filter.categoryId)) delete filter.categoryId;
  return filter;
}

/** The parameters of the address that filter, without the others. */
export function filterParameters(parameters) {
  return new URLSearchParams(filterNames.flatMap(([name]) => (parameters.get(name) ? [[name, parameters.get(name)]] : [])));
}

/** Goes to an address. `replace` where the step is none that "back" should undo: each letter of a search. */
export function go(to, { replace = false } = {}) {
  if (leaving) {
    leaving.then(() => go(to, { replace }));
    return;
  }
  if (to === location.hash) return;
  if (replace) history.replaceState(history.state, '', to);
  else history.pushState({ depth: (history.state?.depth ?? 0) + 1 }, '', to);
  // Neither call tells anybody.
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Back, where the page has a step to go back to; else to `fallback`: the address came from outside. */
export function back(fallback) {
  if (history.state?.depth > 0) history.back();
  else go(fallback, { replace: true });
}

/** What is open above the page, the lowest first: `{close, step}`, the step being its name in the history once it has one. */
const above = new Set();
let steps = 0;
/** A step back that this page has asked for and that has not come yet: what is added to the history before would go with it. */
let leaving;

/** Milliseconds after which a browser that was asked to step back has not done it, and will not. */
const longestStep = 1000;

function stepBack() {
  const step = new Promise((resolve) => {
    window.addEventListener('popstate', () => resolve(), { once: true });
    setTimeout(resolve, longestStep);
  });
  leaving = step;
  step.then(() => {
    if (leaving === step) leaving = undefined;
  });
  history.back();
  return step;
}

/**
 * Makes a step in the history for something that opens above the page, so that Back closes it and leaves the page as it is.
 *
 * @param {() => void} close
 * @returns {() => Promise<void>} to be called once it has closed, however that came: it takes the step away. What goes elsewhere
 *   afterwards waits for it.
 */
export function openAbove(close) {
  const one = { close };
  above.add(one);
  const begin = () => {
    if (!above.has(one)) return;
    if (leaving) {
      leaving.then(begin);
      return;
    }
    // Unlike any of before the page was loaded anew.
    one.step = `${performance.timeOrigin} ${(steps += 1)}`;
    history.pushState({ depth: (history.state?.depth ?? 0) + 1, above: one.step }, '');
  };
  begin();
  return () => {
    above.delete(one);
    // Where one has gone on from there, the step stays below, and is passed over on the way back.
    return one.step && history.state?.above === one.step ? stepBack() : Promise.resolve();
  };
}

window.addEventListener('popstate', () => {
  const here = history.state?.above;
  const open = [...above].filter(({ step }) => step);
  const first = open.findIndex(({ step }) => step === here) + 1;
  for (const { close } of open.slice(first).reverse()) close();
  // Something was open there, and one has gone on from it.
  if (here && first === 0) stepBack();
});

/** Calls with the current place after each change of it. Returns what ends it. */
export function onChange(listener) {
  let last = location.hash;
  const changed = () => {
    // One step back is told twice, as a step in the history and as a change of the fragment.
    if (location.hash === last) return;
    last = location.hash;
    listener(current());
  };
  window.addEventListener('hashchange', changed);
  window.addEventListener('popstate', changed);
  return () => {
    window.removeEventListener('hashchange', changed);
    window.removeEventListener('popstate', changed);
  };
}

// A click on a link of the page is a step that knows how deep it is; with a key held it is the browser's (a new tab).
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest?.('a[href^="#/"]');
  if (!link) return;
  event.preventDefault();
  go(link.getAttribute('href'));
});
