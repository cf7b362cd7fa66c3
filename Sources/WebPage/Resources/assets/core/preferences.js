// What this browser remembers about how it shows things. What belongs to the library is a setting of the daemon.

/** The text that was kept, or undefined. */
export function remembered(name) {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    // Some private windows refuse storage. The page works the same until it is closed.
    return undefined;
  }
}

/** Keeps a text; undefined forgets it. */
export function remember(name, text) {
  try {
    if (text === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // As above.
  }
}
