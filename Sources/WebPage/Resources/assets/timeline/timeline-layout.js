// Where each tile of a list is, for a width and a size of tiles, without there being tiles.
//
// Months stand below each other, and months of few photos side by side; inside a month days do, and small days beside each
// other as long as the row has room. A day of many photos is laid out in pieces of some rows each, which fill the width: a
// piece whose photos have been read has its rows as they stay, whatever is read before or behind it; one whose photos have
// not is as high as its photos' number and the usual proportions make it. So a day of a hundred thousand photos is as
// quick as one of a hundred, and what one looks at depends on nothing that is not seen.
//
// Rejected: the proportions of all photos with the months. It would be exact, and the first view of a million photos would
// wait for a megabyte of them.
//
// Heights here are as large as they come: 40 million pixels for a million photos on a phone. No element is ever that
// high, see `PhotoTimeline`.

import { Grid, Rows, gridOf, lastAtMost } from './timeline-rows.js';

/** Least widths of a square, in CSS pixels. */
export const tileSizes = [84, 112, 150, 210, 300];
/** How high a row is for that: a picture of the usual proportions is as large as the square then. */
const rowShare = Math.sqrt(3 / 4);
/** The part of the width that a row is high at most. */
const highest = 0.7;

const monthHeading = 56;
const dayHeading = 36;
const belowDay = 12;
/** Between two days in one row. */
const besideDay = 16;
/** The names of a day and a month need some room, also over one small picture. */
const leastDay = 124;
const leastMonth = 152;
/** How much lower than wanted a row of several days may be, so that one more finds room, and how much higher. */
const [lowestRow, highestRow] = [0.8, 1.3];
/** Months in one group at most: what is read of one lays out all of it anew. */
const monthsTogether = 12;
/** Rows in a piece of a day, nearly; photos in one at least and at most. */
const rowsInPiece = 8;
const photosInPiece = [40, 240];

export class TimelineLayout {
  #list;
  #isSquare;
  #grid;
  /** `{months, first}`: a month of many photos alone, or several of few. */
  #groups = [];
  #tops = [];
  #blocks = new Map();
  #pieces = new Map();
  #pieceSize;
  /** What is assumed of photos whose proportions are not known, as long as this layout holds. */
  #usual;

  /**
   * @param {PhotoList} list whose months and proportions it reads
   * @param {object} size in CSS pixels: the width there is, one of `tileSizes`, the space between two pictures, the height that is
   *   kept free above all; `isSquare` for squares
   */
  constructor(list, { width, tile, gap, isSquare = false, lead = 0 }) {
    this.#list = list;
    this.#usual = list.usualProportion;
    this.#isSquare = isSquare;
    this.width = width;
    this.gap = gap;
    this.target = Math.round(Math.min(tile * rowShare, width * highest));
    if (isSquare) {
      const columns = Math.max(2, Math.floor((width + gap) / (tile + gap)));
      const side = (width - gap * (columns - 1)) / columns;
      this.#grid = { columns, width: side, height: Math.round(side), gap };
    } else {
      this.#grid = { ...gridOf({ width, gap }, this.#usual, this.target), gap };
    }
    const [least, most] = photosInPiece;
    this.#pieceSize = Math.max(least, Math.min(most, this.#grid.columns * rowsInPiece));
    this.#group();
    this.#tops[0] = lead;
    this.#measure(0);
  }

  #group() {
    const few = Math.max(1, Math.floor(this.#grid.columns * 0.6));
    for (const month of this.#list.months) {
      const last = this.#groups.at(-1);
      const isSparse = month.count <= few;
      if (isSparse && last?.isSparse && last.months.length < monthsTogether) last.months.push(month);
      else this.#groups.push({ months: [month], first: month.position, isSparse });
    }
  }

  get height() {
    return this.#groups.length > 0 ? this.#tops.at(-1) : 0;
  }

  /** How high a row is, nearly. */
  get rowHeight() {
    return this.#grid.height + this.gap;
  }

  get groupCount() {
    return this.#groups.length;
  }

  monthsOf(group) {
    return this.#groups[group].months;
  }

  top(group) {
    return this.#tops[group];
  }

  /** The group at a height. */
  groupAt(y) {
    return lastAtMost(this.#tops, y, this.#groups.length - 1);
  }

  #measure(from) {
    for (let group = from; group < this.#groups.length; group += 1) {
      this.#tops[group + 1] = this.#tops[group] + (this.blocks(group).at(-1)?.bottom ?? 0);
    }
  }

  /** Lays out anew what follows a month whose days have become known. */
  daysRead(month) {
    const group = this.#groupOf(month.position);
    this.#blocks.delete(group);
    this.#measure(group);
  }

  /** The same for photos whose proportions have. */
  photosRead(from, to) {
    if (this.#isSquare || this.#groups.length === 0) return;
    const [first, last] = [this.#groupOf(from), this.#groupOf(to - 1)];
    for (let group = first; group <= last; group += 1) {
      for (const { pieces } of this.#blocks.get(group) ?? []) {
        for (const { key, first: start, rows } of pieces) if (start < to && start + rows.count > from) this.#pieces.delete(key);
      }
      this.#blocks.delete(group);
    }
    this.#measure(first);
  }

  /**
   * The days of a group: `{entry, day, first, count, isFirst, isShared, x, width, monthTop, monthWidth, headingTop, top, bottom, band,
   * pieces}`, the heights relative to the group's top. `entry` is the month, `first` a position in the list, `isFirst` whether it is
   * the first of its month, `isShared` whether other months may stand beside it, `band` the number of the row of days that it stands
   * in. `pieces` are `{first, top, rows}`, with the top relative to the day's.
   */
  blocks(group) {
    const known = this.#blocks.get(group);
    if (known) return known;
    const blocks = this.#pack(this.#groups[group].months);
    this.#blocks.set(group, blocks);
    return blocks;
  }

  #pack(months) {
    const blocks = [];
    let days = [];
    const close = () => {
      if (days.length > 0) blocks.push(...this.#band(days, blocks.at(-1)));
      days = [];
    };
    for (const entry of months) {
      const known = entry.days ?? [{ count: entry.count, position: entry.position }];
      const own = known.map((one, index) => this.#day(entry, one, index === 0, months.length > 1));
      // A month stays together where it can.
      if (!this.#fits([...days, ...own])) close();
      for (const day of own) {
        if (!this.#fits([...days, day])) close();
        days.push(day);
      }
    }
    close();
    return blocks;
  }

  /** What is to be known of a day to find its place. `sum` is of its photos' proportions. */
  #day(entry, { day, count, position }, isFirst, isShared) {
    const { columns, width } = this.#grid;
    const isLarge = this.#isSquare ? count > columns : count > columns * 3;
    let least = Math.min(this.width, isFirst && isShared ? leastMonth : leastDay);
    let sum = 0;
    if (this.#isSquare) least = Math.ceil((least + this.gap) / (width + this.gap) - 0.01) * (width + this.gap) - this.gap;
    else if (!isLarge) for (let offset = 0; offset < count; offset += 1) sum += this.#proportion(position + offset);
    const row = this.#isSquare ? Math.min(count, columns) * (width + this.gap) - this.gap : sum * this.target + this.gap * (count - 1);
    return { entry, day, count, first: position, isFirst, isShared, least, sum, row, isLarge: isLarge || row > this.width + 1 };
  }

  #proportion(position) {
    return this.#list.proportionAt(position) || this.#usual;
  }

  #fits(days) {
    if (days.length < 2) return true;
    if (days.some(({ isLarge }) => isLarge)) return false;
    const between = (this.#isSquare ? this.gap : besideDay) * (days.length - 1);
    const wanted = days.reduce((all, { row, least }) => all + Math.max(row, least), between);
    return wanted <= this.width + 1 || (!this.#isSquare && this.#heightOfBand(days) >= this.target * lowestRow);
  }

  /** How high the pictures of several days are that fill the width together. */
  #heightOfBand(days) {
    const narrow = new Set();
    for (;;) {
      let pictures = this.width - besideDay * (days.length - 1);
      let sum = 0;
      for (const day of days) {
        pictures -= narrow.has(day) ? day.least : this.gap * (day.count - 1);
        if (!narrow.has(day)) sum += day.sum;
      }
      if (sum === 0) return pictures >= 0 ? this.target : 0;
      const height = pictures / sum;
      const found = days.filter((day) => !narrow.has(day) && day.sum * height + this.gap * (day.count - 1) < day.least);
      if (found.length === 0) return height;
      for (const day of found) narrow.add(day);
    }
  }

  /** Puts days beside each other, below those before. */
  #band(days, before) {
    const monthTop = before?.bottom ?? 0;
    const headingTop = monthTop + (days.some(({ isFirst }) => isFirst) ? monthHeading : 0);
    const top = headingTop + dayHeading;
    const filling = this.#isSquare ? this.#grid.height : this.#heightOfBand(days);
    const height = filling > this.target * highestRow ? this.target : filling;
    let x = 0;
    const blocks = days.map(({ entry, day, count, first, isFirst, isShared, least, sum, row, isLarge }) => {
      const pieces = isLarge ? this.#piecesOf(first, count) : [{ first, top: 0, rows: this.#rowOf(first, count, height) }];
      const natural = this.#isSquare || isLarge ? row : sum * height + this.gap * (count - 1);
      const width = isLarge ? this.width : Math.max(natural, least);
      const block = {
        entry, day, first, count, isFirst, isShared, x: Math.round(x), width, monthTop, headingTop, top, pieces, band: (before?.band ?? -1) + 1,
      };
      x += width + (this.#isSquare ? this.gap : besideDay);
      return block;
    });
    const bottom = top + Math.max(...blocks.map(({ pieces }) => pieces.at(-1).top + pieces.at(-1).rows.height)) + belowDay;
    let end = this.width;
    for (const block of [...blocks].reverse()) {
      block.bottom = bottom;
      block.monthWidth = end - block.x;
      if (block.isFirst) end = block.x - besideDay;
    }
    return blocks;
  }

  /** A day that stands in one row. */
  #rowOf(first, count, height) {
    if (this.#isSquare) return new Grid(count, this.#grid);
    const proportions = Array.from({ length: count }, (_, offset) => this.#proportion(first + offset));
    return Rows.single(proportions, height, this.gap);
  }

  #piecesOf(first, count) {
    if (this.#isSquare) return [{ first, top: 0, rows: new Grid(count, this.#grid) }];
    const number = Math.max(1, Math.round(count / this.#pieceSize));
    const pieces = [];
    let top = 0;
    for (let index = 0; index < number; index += 1) {
      const isLast = index === number - 1;
      const start = first + index * this.#pieceSize;
      const length = isLast ? first + count - start : this.#pieceSize;
      // Its number says whether it is the same piece: the last of a day before its month's days were known may be none now.
      const key = `${start} ${length} ${isLast}`;
      const rows = this.#piece(key, start, length, isLast);
      pieces.push({ key, first: start, top, rows });
      top += rows.height;
    }
    return pieces;
  }

  #piece(key, first, count, isLast) {
    const known = this.#pieces.get(key);
    if (known) return known;
    const proportions = [];
    for (let offset = 0; offset < count; offset += 1) {
      const proportion = this.#list.proportionAt(first + offset);
      if (!proportion) return new Grid(count, this.#grid);
      proportions.push(proportion);
    }
    const rows = Rows.filling(proportions, { width: this.width, target: this.target, gap: this.gap, isLast });
    this.#pieces.set(key, rows);
    return rows;
  }

  // From a position to a place and back

  #groupOf(position) {
    let [low, high] = [0, Math.max(0, this.#groups.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#groups[middle].first <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #find(position) {
    const group = this.#groupOf(position);
    const blocks = this.blocks(group);
    const block = blocks.findLast(({ first }) => first <= position) ?? blocks[0];
    const piece = block.pieces[Math.min(block.pieces.length - 1, Math.floor((position - block.first) / this.#pieceSize))];
    return { group, block, piece };
  }

  /** Where a tile is: `{x, y, width, height, block, group, isFirstRow}`. */
  place(position) {
    const { group, block, piece } = this.#find(position);
    const { x, y, width, height } = piece.rows.place(position - piece.first);
    return {
      group, block, width, height, x: block.x + x, y: this.#tops[group] + block.top + piece.top + y,
      isFirstRow: piece.top + y === 0,
    };
  }

  /** The first position whose tile ends below a height: what one sees at the top there. */
  positionAt(y) {
    const group = this.groupAt(y);
    const inside = y - this.#tops[group];
    const blocks = this.blocks(group);
    const block = blocks.find(({ bottom }) => bottom > inside) ?? blocks.at(-1);
    if (!block) return 0;
    const { first, top, rows } = block.pieces.findLast(({ top: start }) => block.top + start <= inside) ?? block.pieces[0];
    const height = Math.max(0, Math.min(inside - block.top - top, rows.height - 1));
    return Math.min(first + rows.between(height, height + 1)[0], first + rows.count - 1);
  }

  /** The position a row above (-1) or below (1), as near the same place as there is one. */
  vertical(position, step) {
    const { group, block, piece } = this.#find(position);
    const row = piece.rows.rowOf(position - piece.first) + step;
    const { x, width } = this.place(position);
    const middle = x + width / 2;
    if (row >= 0 && row < piece.rows.rowCount) return piece.first + piece.rows.nearest(row, middle - block.x);
    const beside = block.pieces[block.pieces.indexOf(piece) + step];
    const band = beside ? undefined : this.#bandBeside(group, block.band, step);
    if (!beside && !band) return position;
    const target = beside ? block : band.findLast((one) => one.x <= middle) ?? band[0];
    const { first, rows } = beside ?? target.pieces.at(step > 0 ? 0 : -1);
    return first + rows.nearest(step > 0 ? 0 : rows.rowCount - 1, middle - target.x);
  }

  #bandBeside(group, band, step) {
    const here = this.blocks(group).filter((one) => one.band === band + step);
    if (here.length > 0) return here;
    const other = group + step;
    if (other < 0 || other >= this.#groups.length) return undefined;
    const blocks = this.blocks(other);
    const wanted = step > 0 ? 0 : blocks.at(-1).band;
    return blocks.filter((one) => one.band === wanted);
  }
}
