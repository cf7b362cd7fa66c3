// Who this browser is for the daemon: paired or not, with which role, and what can be asked. The page shows what the
// role may do; what it may do is decided in the daemon.

import { ask, way, fetched } from './daemon.js';
import { reopen } from './observations.js';

/** In rising order. */
const roles = ['nobody', 'kid', 'looker', 'parent'];

/** `changed` after every change of `state` or `unlocked`. */
class Session extends EventTarget {
  /**
   * `starting`, `unpaired`, `away` (nothing is known yet because nobody answers), or the role: `parent`, `looker` (who sees, marks
   * favourites and downloads) or `kid`.
   */
  state = 'starting';
  /** The highest role that the PIN gives this browser: a parent has said whom its device is for. */
  ceiling = 'parent';
  /** What can be asked, and the least role that may. */
  #methods = new Map();
  /** Whether the role was got with a PIN, and falls again. */
  unlocked = false;
  #version;
  #running;

  /** Whether the daemon takes a message. As long as its table is not known, nothing is held to be missing. */
  offers(method) {
    return this.#methods.size === 0 || this.#methods.has(method);
  }

  /** Whether this browser may send a message, and there is one: what it may not is not offered. */
  may(method) {
    return this.#methods.size === 0 ? this.state === 'parent' : roles.indexOf(this.#methods.get(method)) <= roles.indexOf(this.state) && this.offers(method);
  }

  /** Asks the daemon who we are. Several who ask at once get one answer. */
  refresh() {
    this.#running ??= this.#ask().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #ask() {
    try {
      let [hello, { mode }] = await Promise.all([ask('rpc.hello'), ask('mode.get')]);
      // Kids mode has ended elsewhere. Our connection to the daemon stays a child's for as long as it lasts.
      if (mode === 'parent' && hello.role === 'kid' && hello.ceiling !== 'kid') {
        await fetched('/reconnect', { method: 'POST' });
        hello = await ask('rpc.hello');
      }
      this.ceiling = hello.ceiling ?? 'parent';
      // The table is large, and the first view does not wait for it, unless what is offered depends on it.
      if (hello.methodsVersion !== this.#version) {
        const discovery = this.#discover(hello.methodsVersion);
        if (hello.role === 'looker') await discovery;
      }
      this.#become(hello.role, mode === 'kids' && hello.role !== 'kid');
    } catch (error) {
      if (error.status === 'unauthenticated') this.#become('unpaired');
      else if (this.state === 'starting') this.#become('away');
    }
  }

  async #discover(version) {
    try {
      const { methods } = await ask('rpc.discover');
      this.#methods = new Map(methods.map(({ name, role }) => [name, role]));
      this.#version = version;
      this.dispatchEvent(new Event('changed'));
    } catch {
      // Asked again with the next refresh.
    }
  }

  #become(state, unlocked = false) {
    const changed = state !== this.state;
    const isNews = changed || unlocked !== this.unlocked;
    this.state = state;
    this.unlocked = unlocked;
    // Observations that were refused to a kid are asked for again as a parent.
    if (changed && roles.includes(state)) reopen();
    if (isNews) this.dispatchEvent(new Event('changed'));
  }

  /** Makes this browser known with a one-time code. */
  async pair(code, name) {
    const headers = { 'Content-Type': 'application/json' };
    await fetched('/pair', { method: 'POST', headers, body: JSON.stringify({ code, name }) });
    await this.refresh();
  }

  /** Forgets this browser, here and in the daemon. */
  async unpair() {
    await fetched('/unpair', { method: 'POST' });
    this.forgotten();
  }

  /** Somebody has forgotten this browser, or it was never known. */
  forgotten() {
    this.#become('unpaired');
  }

  /** @returns which devices have guessed since the last right PIN */
  async unlock(pin) {
    const { guesses = [] } = await ask('pin.unlock', { pin });
    await this.refresh();
    return guesses;
  }

  async lock() {
    await ask('pin.lock');
    await this.refresh();
  }
}

export const session = new Session();

way.addEventListener('unpaired', () => session.forgotten());
// A role that has fallen, because its time is over or kids mode began elsewhere.
way.addEventListener('refused', () => session.refresh());
