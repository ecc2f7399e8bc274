// SPDX-License-Identifier: Apache-2.0
import { h, setText } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { act, store } from '../session.js';

/** The phone's toggles. `on`: whether the toggle is on; `action`: what a press sends. */
const controls = [
    { id: 'lock', icon: 'lock', on: (phone) => phone.locked, action: (on) => (on ? ['unlock'] : ['lock']) },
    { id: 'screen', icon: 'power', on: (phone) => phone.screen_on, action: (on) => ['screen', { on: !on }] },
    { id: 'camera', icon: 'camera', on: (phone) => phone.camera, action: (on) => ['camera', { on: !on }] },
    { id: 'wallet', icon: 'wallet', on: (phone) => phone.wallet, action: (on) => ['wallet', { on: !on }] },
    { id: 'airplane', icon: 'airplane', on: (phone) => phone.airplane, action: (on) => ['airplane', { on: !on }] },
];

/** Creates the row of toggles below the phone. */
export function makeControls() {
    const row = h('div', { class: 'phone-controls', role: 'group', 'aria-label': t('controls.title') });
    for (const control of controls) {
        const words = h('span', { text: t(`controls.${control.id}`) });
        const button = h('button', {
            class: 'toggle', type: 'button', 'aria-pressed': 'false',
            on: { click: () => act(...control.action(Boolean(control.on(store.state.phone)))) },
        }, icon(control.icon), words);
        store.on(['phone'], ({ phone }) => {
            const isOn = Boolean(control.on(phone));
            button.setAttribute('aria-pressed', String(isOn));
            setText(words, t(`controls.${control.id}`));
        });
        row.append(button);
    }
    return row;
}
