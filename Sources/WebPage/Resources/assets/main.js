// The beginning: the language, then the frame, which asks the daemon who is looking.

import { loadLanguage } from './core/text.js';

await loadLanguage();
// Elements write their texts as they are defined and made; not before there are sentences.
await import('./shell/app-shell.js');
document.body.append(document.createElement('app-shell'));

if ('serviceWorker' in navigator && window.isSecureContext) {
  // Without one the page works the same, but for the offline notice and its place among the apps.
  navigator.serviceWorker.register('/service-worker.js').catch(() => {});
}
