// A text as a picture that a phone's camera reads. The page's server computes it, from the body of a request, because what it
// says may be a secret that belongs into no address and no cache.

import { fetched } from '../core/daemon.js';

const SVG = 'http://www.w3.org/2000/svg';
/** Modules of light around the code, which readers look for. */
const margin = 4;

function shape(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The runs of dark modules of a row, each a rectangle of the path. */
const runs = (row, y) => [...row.matchAll(/1+/g)].map(({ index, 0: { length } }) => `M${index + margin} ${y + margin}h${length}v1h-${length}z`);

/**
 * Dark on white in both themes: many readers take no other.
 *
 * @param {string} text
 * @param {string} label what it is, for a screen reader
 * @returns {Promise<SVGElement>}
 * @throws {DaemonError}
 */
export async function qrCode(text, label) {
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetched('/qr', { method: 'POST', headers, body: JSON.stringify({ text }), cache: 'no-store' });
  const { rows } = await reply.json();
  const side = rows.length + 2 * margin;
  return shape(
    'svg', { class: 'qr-code', viewBox: `0 0 ${side} ${side}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' },
    shape('rect', { width: side, height: side, fill: '#ffffff' }),
    shape('path', { d: rows.flatMap(runs).join(''), fill: '#000000' }));
}
