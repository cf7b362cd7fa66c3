// A list of photos of any length, newest first, read where it is looked at.
//
// `photo.timeline` says how many photos each month has, where in the list it begins, and with which cursor a page that
// begins there is asked for (`photo.search`); of one month it says the same of its days, with cursors a thousand photos
// apart inside big days. So a position in a million photos is never further than a few pages from a known cursor.
//
// When the library changes, the list is read anew beside what is shown, and takes its place whole: positions and photos
// are always of one reading.

import { grouped } from '../core/collections.js';
import { ask } from '../core/daemon.js';

/** Photos between two anchors of a day, as the daemon says. */
const anchorDistance = 1000;
/** Photos asked for at once. */
const pageSize = 200;
/** Photos kept in memory, those that were read longest ago going first: some 10 MB. */
const keptPhotos = 20_000;
/**
 * Milliseconds from the beginning of one reading after a change to the next one: an import changes the list all the
 * time.
 */
const betweenReadings = 500;

/** A month of so many photos at most has its days told by them, once they are read: many such months are seen at once. */
const fewPhotos = 24;

/** The clock that lists sort by and that people see: the camera's, else when the photo came into the library. */
export const shownAt = (photo) => photo.takenAt ?? photo.createdAt.replace(/Z$/, '');

/** What tiles need of a photo. A million whole ones would be most of a browser's memory. */
function slim(photo) {
  const {
    id, uuid, contentDigest, name, caption, categoryId, isFavorite, unseenBy, kind, duration, width, height, rotation, datePrecision,
    takenOffset,
  } = photo;
  return {
    id, uuid, contentDigest, name, caption, categoryId, isFavorite, unseenBy, kind, duration, width, height, rotation, datePrecision,
    takenOffset, shownAt: shownAt(photo),
  };
}

/** Width by height, within what a row of pictures takes: of what is wider or higher, a part is shown. */
const proportionOf = ({ width, height }) => (width > 0 && height > 0 ? Math.max(0.4, Math.min(4, width / height)) : 1);
/** Proportions are kept as whole numbers, a million of them in two megabytes; 0 is one that is not known. */
const proportionUnit = 1000;

/** One reading of the list. */
class Reading {
  months = [];
  total = 0;
  /** Where the list has turned out to end: before its total, where photos went after the months were counted. */
  end = Infinity;
  #filter;
  #told;
  #photos = new Map();
  /** Of every photo that has been read, also of those that are not kept: rows that have been laid out stay as they are. */
  #proportions = new Uint16Array(0);
  /** Where pages can begin: `{position, cursor}` by position. */
  #starts = [{ position: 0 }];

  /** @param {(reading: Reading, month: object) => void} told when the days of a month have become known */
  constructor(filter, told) {
    this.#filter = filter;
    this.#told = told;
  }

  /** Reads the months. `before` is the reading that this one takes the place of. */
  async open(before) {
    const { months } = await ask('photo.timeline', this.#filter);
    this.months = months.map(({ date, count, offset, after }) => ({ month: date, count, position: offset, cursor: after }));
    this.total = months.reduce((sum, { count }) => sum + count, 0);
    for (const month of this.months) this.#know(month);
    this.#proportions = new Uint16Array(this.total);
    if (before) this.#takeProportions(before);
    for (const [position, photo] of this.#photos) this.#proportions[position] = Math.round(proportionOf(photo) * proportionUnit);
    return this;
  }

  /** A month of as many photos as before has the same, nearly always; where it has others, those are read when it is seen. */
  #takeProportions(before) {
    const known = before.#proportions;
    const old = new Map(before.months.map((month) => [month.month, month]));
    for (const { month, count, position } of this.months) {
      const same = old.get(month);
      if (same?.count === count) this.#proportions.set(known.subarray(same.position, same.position + count), position);
    }
  }

  proportionAt(position) {
    return this.#proportions[position] / proportionUnit;
  }

  /** The mean of the photos that have been read first. */
  get usualProportion() {
    const some = [...this.#photos.values()].slice(0, pageSize);
    return some.length > 0 ? some.reduce((sum, photo) => sum + proportionOf(photo), 0) / some.length : 4 / 3;
  }

  #know({ position, cursor }) {
    const at = this.#startAt(position);
    if (this.#starts[at].position !== position) this.#starts.splice(at + 1, 0, { position, cursor });
  }

  /** The index of the last known start at or before a position. */
  #startAt(position) {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle].position <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  monthAt(position) {
    let [low, high] = [0, this.months.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.months[middle].position <= position) low = middle;
      else high = middle - 1;
    }
    return this.months[low];
  }

  /** The days of a month; read once. */
  async daysOf(month) {
    this.#seeDays(month);
    month.reading ??= ask('photo.timeline', { ...this.#filter, month: month.month }).then(
      ({ days }) => {
        month.days = days.map(({ date, count, offset, after, anchors }) => {
          const starts = [after, ...(anchors ?? [])].map((cursor, index) => ({ position: offset + index * anchorDistance, cursor }));
          for (const start of starts) this.#know(start);
          return { day: date, count, position: offset, starts: starts.map(({ position }) => position) };
        });
        this.#told(this, month);
      },
      (error) => {
        month.reading = undefined;
        throw error;
      });
    await month.reading;
    return month.days;
  }

  /** The days of a month of few photos, from the photos themselves where all have been read. */
  #seeDays(month) {
    if (month.reading || month.count > pageSize || this.missingIn(month.position, month.position + month.count) !== undefined) return;
    const days = grouped(
      Array.from({ length: month.count }, (_, index) => month.position + index).filter((position) => this.#photos.has(position)),
      (position) => this.#photos.get(position).shownAt.slice(0, 10));
    // What has gone meanwhile is the daemon's to tell.
    if ([...days.values()].flat().length !== month.count) return;
    month.days = [...days].map(([day, [position, ...others]]) => ({ day, count: others.length + 1, position, starts: [position] }));
    month.reading = Promise.resolve().then(() => this.#told(this, month));
  }

  photoAt(position) {
    return this.#photos.get(position);
  }

  /**
   * Reads the page that has a position before the end, or one on the way to it.
   *
   * @returns which positions it has, and whether proportions of photos were not known before
   */
  async readTowards(position, signal) {
    let start = this.#starts[this.#startAt(position)];
    if (position - start.position > pageSize) {
      await this.daysOf(this.monthAt(position));
      start = this.#starts[this.#startAt(position)];
    }
    const { photos, next } = await ask('photo.search', { ...this.#filter, after: start.cursor, limit: pageSize }, signal);
    let isNews = false;
    photos.forEach((photo, index) => {
      const at = start.position + index;
      // Read again, it counts as new: a Map keeps its keys in the order they were set.
      this.#photos.delete(at);
      this.#photos.set(at, slim(photo));
      const proportion = Math.round(proportionOf(photo) * proportionUnit);
      isNews ||= at < this.total && this.#proportions[at] !== proportion;
      this.#proportions[at] = proportion;
    });
    const after = start.position + photos.length;
    if (next) this.#know({ position: after, cursor: next });
    else this.end = after;
    for (const oldest of this.#photos.keys()) {
      if (this.#photos.size <= keptPhotos) break;
      this.#photos.delete(oldest);
    }
    return { from: start.position, to: after, isNews };
  }

  /** The first position of a range that is there and has not been read. */
  missingIn(from, to) {
    const end = Math.min(to, this.end);
    for (let position = from; position < end; position += 1) if (!this.#photos.has(position)) return position;
    return undefined;
  }

  /** Reads all of a range. */
  async readAll(from, to, signal) {
    for (let missing; (missing = this.missingIn(from, to)) !== undefined; ) await this.readTowards(missing, signal);
  }
}

/**
 * Events: `photos` when photos were read (`detail` has the positions from `from` to before `to`, and whether there `isNews` of their
 * proportions), `days` when days were (`detail` is the month), `changed` when a new reading took the place of the old one,
 * `failed` with the error as `detail`.
 */
export class PhotoList extends EventTarget {
  #filter;
  #reading;
  #wanted = [0, 0];
  /** Of what is wanted, what is seen: it is read first. */
  #seen = [0, 0];
  #working = false;
  #readings = { running: false, again: false, began: 0 };

  constructor(filter) {
    super();
    this.#filter = filter;
    this.#reading = this.#read();
  }

  #read() {
    return new Reading(this.#filter, (reading, month) => (
      reading === this.#reading && this.dispatchEvent(new CustomEvent('days', { detail: month }))));
  }

  get filter() {
    return this.#filter;
  }

  get total() {
    return this.#reading.total;
  }

  get months() {
    return this.#reading.months;
  }

  async open() {
    // The first page needs no cursor, so nobody has to wait for the months before asking for it.
    const [reading] = await Promise.all([this.#reading.open(), this.#reading.readTowards(0)]);
    if (reading.months.length > 0) await reading.daysOf(reading.months[0]);
    return this;
  }

  /** A photo, where it has been read. */
  photoAt(position) {
    return this.#reading.photoAt(position);
  }

  monthAt(position) {
    return this.#reading.monthAt(position);
  }

  /** Reads the days of a month that is shown. */
  async readDays(month) {
    if (month.days || month.reading) return;
    const { position, count } = month;
    if (count <= fewPhotos && this.#reading.missingIn(position, position + count) !== undefined) return;
    try {
      await this.#reading.daysOf(month);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Width by height of a photo that has been read, else 0. */
  proportionAt(position) {
    return this.#reading.proportionAt(position);
  }

  /** What is assumed of those that have not. */
  get usualProportion() {
    return this.#reading.usualProportion;
  }

  /**
   * Says which positions are looked at, and which of them are `seen` now. They are read one page after the other; who scrolls on
   * is not waited for.
   */
  want(from, to, seen = [from, to]) {
    this.#wanted = [Math.max(0, from), Math.min(to, this.total)];
    this.#seen = [Math.max(0, seen[0]), Math.min(seen[1], this.total)];
    if (!this.#working) this.#work();
  }

  async #work() {
    this.#working = true;
    try {
      for (;;) {
        const reading = this.#reading;
        const missing = reading.missingIn(...this.#seen) ?? reading.missingIn(...this.#wanted);
        if (missing === undefined) return;
        const detail = await reading.readTowards(missing);
        if (reading === this.#reading) this.dispatchEvent(new CustomEvent('photos', { detail }));
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#working = false;
    }
  }

  /** The photos of a range, read where they are not. */
  async photosIn(from, to, signal) {
    const reading = this.#reading;
    const photos = [];
    // In pieces, because what is kept is bounded.
    for (let start = from; start < to; start += pageSize) {
      const end = Math.min(to, start + pageSize);
      await reading.readAll(start, end, signal);
      for (let position = start; position < end; position += 1) {
        const photo = reading.photoAt(position);
        if (photo) photos.push(photo);
      }
    }
    return photos;
  }

  /** Where a photo is in the list, or -1: its day by its date, then by halves among the anchors of the day. */
  async locate(photo) {
    const reading = this.#reading;
    const shown = photo.shownAt ?? shownAt(photo);
    const month = reading.months.find((one) => one.month === shown.slice(0, 7));
    const day = month && (await reading.daysOf(month)).find((one) => one.day === shown.slice(0, 10));
    if (!day) return -1;
    const isAfter = (other) => (other.shownAt === shown ? other.id < photo.id : other.shownAt < shown);
    const { starts } = day;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const [first] = await this.photosIn(starts[middle], starts[middle] + 1);
      if (first && !isAfter(first)) low = middle;
      else high = middle - 1;
    }
    const end = starts[low + 1] ?? day.position + day.count;
    const photos = await this.photosIn(starts[low], end);
    const index = photos.findIndex(({ id }) => id === photo.id);
    return index < 0 ? -1 : starts[low] + index;
  }

  /** The library has changed: reads the list anew, soon, and shows it when what is looked at has been read. */
  async refresh() {
    const readings = this.#readings;
    readings.again = true;
    if (readings.running) return;
    readings.running = true;
    try {
      while (readings.again) {
        const wait = readings.began + betweenReadings - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        readings.again = false;
        readings.began = performance.now();
        await this.#readAnew();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      readings.running = false;
    }
  }

  async #readAnew() {
    const old = this.#reading;
    const reading = await this.#read().open(old);
    const shown = new Set(old.months.filter(({ days }) => days).slice(-24).map(({ month }) => month));
    const [from, to] = this.#wanted;
    if (reading.total > 0) {
      const near = [reading.monthAt(from), reading.monthAt(Math.min(to, reading.total - 1))];
      for (const month of reading.months) {
        if (near.includes(month) || (shown.has(month.month) && near[0].position - month.position < 5000)) await reading.daysOf(month);
      }
      await reading.readAll(Math.min(from, reading.total), Math.min(to, reading.total));
    }
    this.#reading = reading;
    this.dispatchEvent(new Event('changed'));
  }

  #fail(error) {
    this.dispatchEvent(new CustomEvent('failed', { detail: error }));
  }
}
