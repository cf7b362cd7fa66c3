// What of a timeline is elements now: the tiles of a part of a list, and the headings above them.

import { fillTile, makeSection, makeTile, markSection, markTile, placeSection, placeTile } from './timeline-tiles.js';

export class TimelineDrawing {
  #canvas;
  #sections = new Map();
  #tiles = new Map();
  #spare = [];
  #counts;
  list;
  selection;
  linkTo;
  /** The position whose tile Tab comes to. */
  active = 0;

  constructor(canvas) {
    this.#canvas = canvas;
  }

  tileAt(position) {
    return this.#tiles.get(position);
  }

  /** Takes all away, and begins with another list. */
  begin(list, selection, linkTo) {
    for (const tile of this.#tiles.values()) this.#free(tile);
    this.#tiles.clear();
    Object.assign(this, { list, selection, linkTo, active: 0 });
    this.#counts = selection.counts;
  }

  /** Shows the photos that the list has at their positions now. */
  refill() {
    for (const tile of this.#tiles.values()) this.#fill(tile, this.list.photoAt(tile.position));
  }

  /** Shows what is selected now. */
  mark() {
    this.#counts = this.selection.counts;
    for (const tile of this.#tiles.values()) this.#mark(tile);
    for (const section of this.#sections.values()) markSection(section, this.#counts);
  }

  /**
   * Draws what touches the heights from `top` to `bottom` of a layout, on a canvas that begins at `origin`.
   *
   * @param {boolean} fast whether it will be gone with the next frame: tiles stay without pictures then
   * @returns {[number, number]|undefined} the positions from the first to before the last
   */
  draw(layout, { top, bottom, origin, fast }) {
    const [seen, used] = [new Set(), new Set()];
    let [first, last] = [Infinity, 0];
    for (let group = layout.groupAt(top); group < layout.groupCount && layout.top(group) < bottom; group += 1) {
      const groupTop = layout.top(group);
      if (!fast) for (const month of layout.monthsOf(group)) if (!month.days) this.list.readDays(month);
      for (const block of layout.blocks(group)) {
        if (groupTop + block.bottom < top || groupTop + block.monthTop > bottom) continue;
        const section = this.#section(block, used);
        if (section.block !== block) {
          section.block = block;
          markSection(section, this.#counts);
        }
        placeSection(section, block, groupTop - origin);
        let next = section.tiles.firstElementChild;
        for (const { first: start, top: pieceTop, rows } of block.pieces) {
          const y = groupTop + block.top + pieceTop;
          if (y > bottom || y + rows.height < top) continue;
          const [from, to] = rows.between(top - y, bottom - y);
          if (from >= to) continue;
          [first, last] = [Math.min(first, start + from), Math.max(last, start + to)];
          for (let offset = from; offset < to; offset += 1) {
            const tile = this.#tile(start + offset, fast);
            const place = rows.place(offset);
            placeTile(tile, { ...place, x: block.x + place.x, y: y + place.y - origin });
            seen.add(start + offset);
            // A list is in the order of its positions for who hears it.
            if (next === tile) next = next.nextElementSibling;
            else section.tiles.insertBefore(tile, next);
          }
        }
      }
    }
    this.#removeAllBut(seen, used);
    return first < last ? [first, last] : undefined;
  }

  #removeAllBut(seen, used) {
    for (const [position, tile] of this.#tiles) {
      if (seen.has(position)) continue;
      this.#tiles.delete(position);
      this.#free(tile);
    }
    for (const [key, section] of this.#sections) {
      if (used.has(key)) continue;
      section.remove();
      this.#sections.delete(key);
    }
  }

  #section(block, used) {
    const key = `${block.day ?? block.entry.month} ${block.count} ${block.isShared}`;
    used.add(key);
    let section = this.#sections.get(key);
    if (!section) {
      section = makeSection(block);
      this.#sections.set(key, section);
      this.#canvas.append(section);
    }
    return section;
  }

  #tile(position, fast) {
    let tile = this.#tiles.get(position);
    if (!tile) {
      tile = this.#spare.pop() ?? makeTile();
      tile.position = position;
      this.#tiles.set(position, tile);
    }
    if (!fast) {
      const photo = this.list.photoAt(position);
      if (photo !== tile.photo) this.#fill(tile, photo);
    }
    return tile;
  }

  #free(tile) {
    tile.remove();
    // What size it has next is not known before it stands somewhere.
    tile.isPlaced = false;
    this.#fill(tile, undefined);
    this.#spare.push(tile);
  }

  #fill(tile, photo) {
    fillTile(tile, photo, photo && this.linkTo(photo));
    tile.link.tabIndex = photo && tile.position === this.active ? 0 : -1;
    this.#mark(tile);
  }

  #mark(tile) {
    markTile(tile, Boolean(tile.photo && this.selection.has(tile.photo.id)));
  }
}
