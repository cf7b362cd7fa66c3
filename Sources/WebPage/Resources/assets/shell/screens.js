// Every screen: its element, the module that defines it, and its place in the navigation. Modules are loaded when a
// screen is first opened, but for the timeline, which is the first view.

import { styles } from '../core/dom.js';
import '../timeline/timeline-screen.js';

/** A module and the style sheets of what it shows: a screen is put on the page with its looks. */
const load = (module, ...sheets) => Promise.all([module, ...sheets.map((name) => styles(`/assets/${name}.css`))]);

/**
 * `main` are in the navigation always, the others under "More" on a phone. `needs` is the message without which a screen
 * can do nothing; where the daemon does not take it from this browser, the screen is not offered.
 */
export const screens = {
  photos: { tag: 'timeline-screen', icon: 'photos', main: true },
  categories: {
    tag: 'categories-screen', icon: 'categories', main: true, load: () => load(import('../categories/categories-screen.js'), 'categories/categories'),
  },
  review: { tag: 'review-screen', icon: 'review', main: true, needs: 'swipe.start', load: () => load(import('../review/review-screen.js'), 'review/review') },
  import: { tag: 'import-screen', icon: 'import', main: true, needs: 'library.importUploads', load: () => load(import('../import/import-screen.js'), 'library/library', 'import/import') },
  groups: {
    tag: 'groups-screen', icon: 'groups', needs: 'group.list',
    load: () => load(import('../groups/groups-screen.js'), 'library/library', 'photo/photo', 'groups/groups'),
  },
  trash: { tag: 'trash-screen', icon: 'trash', needs: 'trash.list', load: () => load(import('../library/trash-screen.js'), 'library/library') },
  jobs: { tag: 'jobs-screen', icon: 'jobs', needs: 'job.list', load: () => load(import('../library/jobs-screen.js'), 'library/library') },
  backup: { tag: 'backup-screen', icon: 'backup', needs: 'backup.create', load: () => load(import('../backup/backup-screen.js'), 'library/library') },
  storage: { tag: 'storage-screen', icon: 'storage', needs: 'storage.usage', load: () => load(import('../library/storage-screen.js'), 'library/library') },
  devices: {
    tag: 'devices-screen', icon: 'devices', needs: 'device.list', load: () => load(import('../library/devices-screen.js'), 'library/library'),
  },
  settings: { tag: 'settings-screen', icon: 'settings', load: () => load(import('../library/settings-screen.js'), 'library/library') },
};
