// SPDX-License-Identifier: Apache-2.0
import { h, renderInto } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { store } from '../session.js';

/** Creates the bar at the top of the screen, with the time and the active modes. */
export function makeStatusBar() {
    const bar = h('div', { class: 'status-bar' });
    const sign = (name, key) => h('span', { class: 'sign', role: 'img', 'aria-label': t(key) }, icon(name));
    store.on(['phone'], ({ phone }) => {
        renderInto(bar, [phone.clock, phone.camera, phone.airplane, phone.wallet, phone.locked], () => [
            h('span', { class: 'status-clock', text: phone.clock ?? '' }),
            h('span', { class: 'status-signs' },
                phone.camera && sign('camera', 'status.camera'),
                phone.wallet && sign('wallet', 'status.wallet'),
                phone.locked && sign('lock', 'status.locked'),
                phone.airplane ? sign('airplane', 'status.airplane') : h('span', { class: 'sign', 'aria-hidden': 'true' }, icon('signal')),
                h('span', { class: 'battery', 'aria-hidden': 'true' })),
        ]);
    });
    return bar;
}
