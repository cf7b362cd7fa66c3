// What is still to be done with a new library, above its photos: a phone to let in, a backup to set up. Each step goes as it is
// done, and all of them when somebody says so here.

import { ask } from '../core/daemon.js';
import { element, icon, iconButton } from '../core/dom.js';
import { remember, remembered } from '../core/preferences.js';
import { address } from '../core/router.js';
import { session } from '../core/session.js';
import { t } from '../core/text.js';

const name = 'firstSteps';

/**
 * The steps that are left, or undefined where none is.
 *
 * @param {() => void} hidden called when somebody has had enough of them
 */
export async function firstSteps(hidden) {
  if (remembered(name) === 'done') return undefined;
  const [{ devices }, { lastBackupDate }] = await Promise.all([
    session.offers('device.list') ? ask('device.list') : { devices: undefined }, ask('settings.get')]);
  const left = [
    // This one is among them.
    devices && devices.length < 2 && ['devices', 'phone'],
    !lastBackupDate && ['backup', 'backup'],
  ].filter(Boolean);
  const end = () => remember(name, 'done');
  if (left.length === 0) {
    end();
    return undefined;
  }
  return element(
    'section', { class: 'first-steps', 'aria-label': t('firstSteps.title') },
    element('h2', {}, t('firstSteps.title')),
    iconButton('cross', t('firstSteps.hide'), () => {
      end();
      hidden();
    }),
    element('ol', {}, left.map(([screen, key]) => element('li', {}, element(
      'a', { href: address(screen) }, icon(screen),
      element('span', {}, element('strong', {}, t(`firstSteps.${key}`)), element('span', { class: 'small quiet' }, t(`firstSteps.${key}Help`))))))));
}
