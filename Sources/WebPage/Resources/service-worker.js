// Keeps the page itself, its style and its scripts, so that it opens as an app does, and says that the photos are out
// of reach where the machine is. No photo and no answer of the daemon is ever kept here: whoever finds a phone finds no
// album on it. What another app of the phone shares with the page is kept until the daemon has it.
//
// The server is asked first each time, so that a new version is there at once; what was kept is for when nobody
// answers.

importScripts('/assets/import/shared-files.js');

const shell = 'shell';

/**
 * What the page names nowhere in its first lines and needs all the same. Other screens are kept when they were first
 * opened.
 */
const besides = ['/', '/assets/icons.svg', '/assets/text/en.js', '/assets/text/de.js'];

const isShell = ({ pathname }) => pathname === '/' || pathname.startsWith('/assets/') || pathname === '/manifest.webmanifest';

self.addEventListener('install', (event) => {
  event.waitUntil(keepShell());
  self.skipWaiting();
});

/** Keeps the page and what it names itself, so that no second list of its files has to be kept up to date. */
async function keepShell() {
  const page = await (await fetch('/')).text();
  const named = [...page.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path]) => path);
  const cache = await caches.open(shell);
  await cache.addAll([...new Set([...besides, ...named])]);
}

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (request.method === 'POST' && address.origin === location.origin && address.pathname === '/share') {
    event.respondWith(takeShared(request));
    return;
  }
  if (request.method !== 'GET' || address.origin !== location.origin || !isShell(address)) return;
  event.respondWith(answer(request));
});

async function answer(request) {
  const cache = await caches.open(shell);
  try {
    const reply = await fetch(request);
    if (reply.status === 200) cache.put(request, reply.clone());
    return reply;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

/** Keeps the files of the phone's share sheet, also while nobody answers, and opens the page, which sends them. */
async function takeShared(request) {
  try {
    const form = await request.formData();
    await self.sharedFiles.keep(form.getAll('files').filter((file) => file instanceof File));
    return Response.redirect('/#/import', 303);
  } catch {
    // More than the browser keeps: the page says so.
    return Response.redirect('/#/import?shared=failed', 303);
  }
}
