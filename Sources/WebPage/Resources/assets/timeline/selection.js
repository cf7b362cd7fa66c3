// Which photos are selected: their rows by id, so that the selection outlives the tiles that were scrolled away.

/** As many ids as one message may carry. */
export const mostSelected = 20_000;

/** `changed` after each change. */
export class Selection extends EventTarget {
  #photos = new Map();
  /** The position that a range begins at. */
  anchor;

  get size() {
    return this.#photos.size;
  }

  get photos() {
    return [...this.#photos.values()];
  }

  get ids() {
    return [...this.#photos.keys()];
  }

  has(id) {
    return this.#photos.has(id);
  }

  toggle(photo) {
    if (!this.#photos.delete(photo.id)) this.#photos.set(photo.id, photo);
    this.#changed();
  }

  add(photos) {
    for (const photo of photos) if (this.#photos.size < mostSelected) this.#photos.set(photo.id, photo);
    this.#changed();
  }

  remove(photos) {
    for (const { id } of photos) this.#photos.delete(id);
    this.#changed();
  }

  /** How many are selected of each day, and of each month: Maps by their names. */
  get counts() {
    const [days, months] = [new Map(), new Map()];
    const add = (counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const { shownAt } of this.#photos.values()) {
      add(days, shownAt.slice(0, 10));
      add(months, shownAt.slice(0, 7));
    }
    return { days, months };
  }

  /** Becomes another one whole: while a range is drawn, each move is a new range on top of what was there. */
  replace(photos) {
    this.#photos = new Map(photos.map((photo) => [photo.id, photo]));
    this.#changed();
  }

  clear() {
    if (this.size === 0) return;
    this.#photos.clear();
    this.anchor = undefined;
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event('changed'));
  }
}
