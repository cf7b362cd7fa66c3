// Where each tile of a list is, for a width and a size of tiles, without there being tiles.
//
// Months stand below each other; inside a month days do, and small days beside each other as long as the row has room.
// Of a month whose days are not known yet the height is a guess, which its photos' number makes nearly right.
//
// Heights here are as large as they come: 40 million pixels for a million photos on a phone. No element is ever that
// high, see `PhotoTimeline`.

const monthHeading = 60;
const dayHeading = 36;
const belowDay = 12;

export class TimelineLayout {
  #months;
  #tops = [0];
  #blocks = new Map();

  /**
   * @param {Array} months of a `PhotoList`
   * @param {object} size in CSS pixels: the width there is, the least width of a tile, the space between two
   */
  constructor(months, { width, tile, gap }) {
    this.#months = months;
    this.columns = Math.max(2, Math.floor((width + gap) / (tile + gap)));
    this.tile = Math.floor((width - gap * (this.columns - 1)) / this.columns);
    this.pitch = this.tile + gap;
    // A day's name needs some room, also over one small picture.
    this.leastColumns = Math.min(this.columns, Math.ceil(104 / this.pitch));
    this.update(0);
  }

  get height() {
    return this.#tops.at(-1);
  }

  get monthCount() {
    return this.#months.length;
  }

  /** Computes anew what follows a month whose days have become known. */
  update(from) {
    this.#blocks.delete(from);
    for (let index = from; index < this.#months.length; index += 1) {
      this.#tops[index + 1] = this.#tops[index] + this.#monthHeight(index);
    }
    this.#tops.length = this.#months.length + 1;
  }

  indexOf(month) {
    return this.#months.indexOf(month);
  }

  month(index) {
    return this.#months[index];
  }

  top(index) {
    return this.#tops[index];
  }

  #monthHeight(index) {
    const month = this.#months[index];
    if (!month.days) return monthHeading + dayHeading + Math.ceil(month.count / this.columns) * this.pitch + belowDay;
    const last = this.blocks(index).at(-1);
    return last ? last.bottom : 0;
  }

  /**
   * The days of a month: `{day, first, count, columns, column, headingTop, top, bottom, band}`, the heights relative to the month's top; `first`
   * is a position in the list, `band` the number of the row of days that it stands in.
   */
  blocks(index) {
    const known = this.#blocks.get(index);
    if (known) return known;
    const month = this.#months[index];
    const days = month.days ?? [{ count: month.count, position: month.position }];
    const blocks = [];
    let top = monthHeading;
    let column = 0;
    let band = -1;
    for (const { day, count, position } of days) {
      const columns = Math.min(count, this.columns);
      const room = Math.max(columns, this.leastColumns);
      if (blocks.length === 0 || column + room > this.columns || blocks.at(-1).count > this.columns) {
        if (blocks.length > 0) top = blocks.at(-1).bottom;
        column = 0;
        band += 1;
      }
      const rows = Math.ceil(count / columns);
      blocks.push({
        day, first: position, count, columns, room, column, band,
        headingTop: top, top: top + dayHeading, bottom: top + dayHeading + rows * this.pitch + belowDay,
      });
      column += room;
    }
    this.#blocks.set(index, blocks);
    return blocks;
  }

  /** The month at a height. */
  indexAt(y) {
    let [low, high] = [0, Math.max(0, this.#months.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #indexOfPosition(position) {
    let [low, high] = [0, Math.max(0, this.#months.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#months[middle].position <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #blockOf(position) {
    const index = this.#indexOfPosition(position);
    const blocks = this.blocks(index);
    const block = blocks.findLast(({ first }) => first <= position) ?? blocks[0];
    return { index, block };
  }

  /** Where a tile is: `{x, y, block, index}`. */
  place(position) {
    const { index, block } = this.#blockOf(position);
    const offset = position - block.first;
    return {
      index, block,
      x: (block.column + (offset % block.columns)) * this.pitch,
      y: this.#tops[index] + block.top + Math.floor(offset / block.columns) * this.pitch,
    };
  }

  /** The first position whose tile ends below a height: what one sees at the top there. */
  positionAt(y) {
    const index = this.indexAt(y);
    const inside = y - this.#tops[index];
    const blocks = this.blocks(index);
    const block = blocks.find(({ bottom }) => bottom > inside) ?? blocks.at(-1);
    if (!block) return 0;
    const row = Math.max(0, Math.floor((inside - block.top) / this.pitch));
    return Math.min(block.first + row * block.columns, block.first + block.count - 1);
  }

  /** The position a row above (-1) or below (1), as near the same column as there is one. */
  vertical(position, step) {
    const { index, block } = this.#blockOf(position);
    const offset = position - block.first;
    const row = Math.floor(offset / block.columns) + step;
    if (row >= 0 && row * block.columns < block.count) {
      return block.first + Math.min(offset + step * block.columns, block.count - 1);
    }
    const column = block.column + (offset % block.columns);
    const band = this.#bandBeside(index, block.band, step);
    if (!band) return position;
    const target = band.reduce((best, one) => (Math.abs(one.column - column) <= Math.abs(best.column - column) && one.column <= column ? one : best));
    const targetRow = step > 0 ? 0 : Math.ceil(target.count / target.columns) - 1;
    const inRow = Math.min(Math.max(0, column - target.column), target.columns - 1);
    return target.first + Math.min(targetRow * target.columns + inRow, target.count - 1);
  }

  #bandBeside(index, band, step) {
    const here = this.blocks(index).filter((one) => one.band === band + step);
    if (here.length > 0) return here;
    const other = index + step;
    if (other < 0 || other >= this.#months.length) return undefined;
    const blocks = this.blocks(other);
    const wanted = step > 0 ? 0 : blocks.at(-1)?.band;
    const found = blocks.filter((one) => one.band === wanted);
    return found.length > 0 ? found : undefined;
  }
}
