// What other apps of this device have shared with the page: the service worker keeps the files until the daemon has them, also while
// it is away or the page is not paired yet. In the browser's own database, of which nothing leaves this device but to the library.
//
// A script and no module: service workers load it too (`importScripts`), and not every browser lets them load modules.

self.sharedFiles = (() => {
  const store = 'files';

  const open = () => new Promise((resolve, reject) => {
    const request = indexedDB.open('shared', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store, { autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  async function run(mode, body) {
    const database = await open();
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction(store, mode);
        const found = body(transaction.objectStore(store));
        transaction.oncomplete = () => resolve(found?.result);
        transaction.onabort = () => reject(transaction.error);
      });
    } finally {
      database.close();
    }
  }

  return {
    /** Keeps files, all or none. */
    keep: (files) => run('readwrite', (all) => files.forEach((file) => all.add(file))),

    /** The files that are kept, each with its key: `{key, file}`. */
    async kept() {
      const keys = await run('readonly', (all) => all.getAllKeys());
      const files = await Promise.all(keys.map((key) => run('readonly', (all) => all.get(key))));
      return keys.map((key, index) => ({ key, file: files[index] })).filter(({ file }) => file);
    },

    forget: (key) => run('readwrite', (all) => void all.delete(key)),
  };
})();
