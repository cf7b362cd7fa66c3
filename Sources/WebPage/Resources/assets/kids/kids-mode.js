// Kids mode is begun from the navigation and from the settings, in the same words.

import { ask } from '../core/daemon.js';
import { confirmed } from '../core/dialog.js';
import { session } from '../core/session.js';
import { t } from '../core/text.js';

/** Asks, and begins it on every device. */
export const beginKidsMode = () => confirmed({
  title: t('kids.beginTitle'), text: t('kids.beginHelp'), action: t('kids.begin'),
  act: async () => {
    await ask('mode.set', { mode: 'kids' });
    await session.refresh();
  },
});
