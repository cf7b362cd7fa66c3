// Rows of tiles: which photo stands where in a piece of a day, without there being tiles.
//
// There are two kinds with the same members. `Grid` has tiles of one size: squares, and what stands in for photos whose
// proportions are not known yet. `Rows` has photos in their own proportions, each row as wide as there is room.
//
// Heights and places are whole pixels, so that the gaps between pictures are equal to the eye.

/** `{columns, width, height}`: how many tiles of one size fill a width, and how wide they are then. */
export function gridOf({ width, gap }, proportion, target) {
  const columns = Math.max(1, Math.round((width + gap) / (target * proportion + gap)));
  return { columns, width: (width - gap * (columns - 1)) / columns, height: target };
}

/** Tiles of one size. */
export class Grid {
  #columns;
  #tile;
  #gap;
  #pitch;

  constructor(count, { columns, width, height, gap }) {
    this.count = count;
    this.#columns = columns;
    this.#tile = { width, height };
    this.#gap = gap;
    this.#pitch = height + gap;
  }

  get rowCount() {
    return Math.ceil(this.count / this.#columns);
  }

  /** With the gap below its last row. */
  get height() {
    return this.rowCount * this.#pitch;
  }

  rowOf(offset) {
    return Math.floor(offset / this.#columns);
  }

  place(offset) {
    const column = offset % this.#columns;
    const step = this.#tile.width + this.#gap;
    const x = Math.round(column * step);
    return {
      x, y: this.rowOf(offset) * this.#pitch,
      width: Math.round(column * step + this.#tile.width) - x, height: this.#tile.height,
    };
  }

  /** The photos whose rows touch the heights from `top` to `bottom`: `[from, to]`, without the last. */
  between(top, bottom) {
    const from = Math.max(0, Math.floor(top / this.#pitch)) * this.#columns;
    const to = Math.max(0, Math.ceil(bottom / this.#pitch)) * this.#columns;
    return [Math.min(from, this.count), Math.min(to, this.count)];
  }

  /** The photo of a row that is nearest to a place from left to right. */
  nearest(row, x) {
    const column = Math.max(0, Math.min(this.#columns - 1, Math.floor(x / (this.#tile.width + this.#gap))));
    return Math.min(row * this.#columns + column, this.count - 1);
  }
}

/** Photos in their own proportions. */
export class Rows {
  /** The first photo of each row, and their number after the last one. */
  #starts = [0];
  #tops = [0];
  #lefts;
  #widths;
  #gap;

  /**
   * @param {number[]} proportions width by height of each photo
   * @param {number[]} ends of rows: the number of photos until there
   * @param {(row: number, sum: number, count: number) => {width: number, height: number}} size of a row whose photos'
   *   proportions have that sum
   */
  constructor(proportions, ends, gap, size) {
    this.#gap = gap;
    this.#lefts = new Int32Array(proportions.length);
    this.#widths = new Int32Array(proportions.length);
    ends.forEach((end, row) => {
      const start = this.#starts[row];
      let sum = 0;
      for (let offset = start; offset < end; offset += 1) sum += proportions[offset];
      const { width, height } = size(row, sum, end - start);
      const pictures = width - gap * (end - start - 1);
      let before = 0;
      for (let offset = start; offset < end; offset += 1) {
        const between = gap * (offset - start);
        const left = Math.round((pictures * before) / sum) + between;
        before += proportions[offset];
        this.#lefts[offset] = left;
        this.#widths[offset] = Math.round((pictures * before) / sum) + between - left;
      }
      this.#starts.push(end);
      this.#tops.push(this.#tops[row] + Math.round(height) + gap);
    });
  }

  /** Rows that fill a width, all but the last of a day, where it would be much higher than the others. */
  static filling(proportions, { width, target, gap, isLast }) {
    const ends = endsOfRows(proportions, { width, target, gap, isLast });
    return new Rows(proportions, ends, gap, (row, sum, count) => {
      const height = (width - gap * (count - 1)) / sum;
      const isShort = isLast && row === ends.length - 1 && height > target * tallestLast;
      return isShort ? { height: target, width: target * sum + gap * (count - 1) } : { height, width };
    });
  }

  /** One row of a given height. */
  static single(proportions, height, gap) {
    const sum = proportions.reduce((all, one) => all + one, 0);
    return new Rows(proportions, [proportions.length], gap, () => ({ height, width: height * sum + gap * (proportions.length - 1) }));
  }

  get count() {
    return this.#lefts.length;
  }

  get rowCount() {
    return this.#starts.length - 1;
  }

  get height() {
    return this.#tops.at(-1);
  }

  rowOf(offset) {
    return lastAtMost(this.#starts, offset, this.rowCount - 1);
  }

  place(offset) {
    const row = this.rowOf(offset);
    return {
      x: this.#lefts[offset], y: this.#tops[row],
      width: this.#widths[offset], height: this.#tops[row + 1] - this.#tops[row] - this.#gap,
    };
  }

  between(top, bottom) {
    if (bottom <= 0 || top >= this.height) return [this.count, this.count];
    const [first, last] = [top, bottom].map((y) => lastAtMost(this.#tops, y, this.rowCount - 1));
    return [this.#starts[first], this.#starts[last + 1]];
  }

  nearest(row, x) {
    const [start, end] = [this.#starts[row], this.#starts[row + 1]];
    for (let offset = start; offset < end; offset += 1) {
      if (x < this.#lefts[offset] + this.#widths[offset] + this.#gap) return offset;
    }
    return end - 1;
  }
}

/** The last index up to `last` whose value in a growing list is at most `value`, else 0. */
export function lastAtMost(values, value, last = values.length - 1) {
  let [low, high] = [0, Math.max(0, last)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** How much higher than the others the last row of a day may be to fill the width. */
const tallestLast = 1.3;
/** How much lower a row may be than wanted; such a row has more photos than any that is chosen. */
const lowest = 0.5;
/** What it costs to leave a part of the last row of a day unfilled: from as much as a row that is an eighth too high on. */
const unfilled = (part) => costOf(9 / 8) * (1 + 8 * part ** 2);

/** How far a row's height is from the one that is wanted: as much for twice as high as for half. */
function costOf(ratio) {
  return ratio + 1 / ratio - 2;
}

/**
 * Where rows end, so that all are as near the wanted height as can be together: a row is not left with one huge picture
 * because those before took as many as they could.
 *
 * Rejected: rows that are filled one after the other. They are a little cheaper, and their last row is often alone with a
 * picture of twice the height.
 */
function endsOfRows(proportions, { width, target, gap, isLast }) {
  const count = proportions.length;
  const costs = [0];
  const starts = [0];
  for (let end = 1; end <= count; end += 1) {
    let best = Infinity;
    let sum = 0;
    for (let start = end - 1; start >= 0; start -= 1) {
      sum += proportions[start];
      const height = (width - gap * (end - start - 1)) / sum;
      if (height < target * lowest && start < end - 1) break;
      const isShort = isLast && end === count && height > target * tallestLast;
      const cost = costs[start] + (isShort ? unfilled(1 - target / height) : costOf(height / target));
      if (cost < best) [best, starts[end]] = [cost, start];
    }
    costs[end] = best;
  }
  const ends = [];
  for (let end = count; end > 0; end = starts[end]) ends.unshift(end);
  return ends;
}
