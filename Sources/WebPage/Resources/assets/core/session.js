// Who this browser is for the daemon: paired or not, with which role, and what can be asked. The page shows what the
// role may do; what it may do is decided in the daemon.

import { ask, way, fetched } from './daemon.js';
import { reopen } from './observations.js';

/** `changed` after every change of `state` or `unlocked`. */
class Session extends EventTarget {
  /** `starting`, `unpaired`, `away` (nothing is known yet because nobody answers), `parent` or `kid`. */
  state = 'starting';
  #methods = new Set();
  /** Whether the role was got with a PIN, and falls again. */
  unlocked = false;
  #version;
  #running;

  /** Whether the daemon takes a message. As long as its table is not known, nothing is held to be missing. */
  offers(method) {
    return this.#methods.size === 0 || this.#methods.has(method);
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
      if (mode === 'parent' && hello.role === 'kid') {
        await fetched('/reconnect', { method: 'POST' });
        hello = await ask('rpc.hello');
      }
      // The table is large, and the first view does not wait for it.
      if (hello.methodsVersion !== this.#version) this.#discover(hello.methodsVersion);
      this.#become(hello.role, mode === 'kids' && hello.role === 'parent');
    } catch (error) {
      if (error.status === 'unauthenticated') this.#become('unpaired');
      else if (this.state === 'starting') this.#become('away');
    }
  }

  async #discover(version) {
    try {
      const { methods } = await ask('rpc.discover');
      this.#methods = new Set(methods.map(({ name }) => name));
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
    if (changed && (state === 'parent' || state === 'kid')) reopen();
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
