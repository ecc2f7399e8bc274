// SPDX-License-Identifier: Apache-2.0
import { h, renderInto } from '../support/dom.js';
import { t } from '../support/texts.js';
import { act, store } from '../session.js';
import { makeStatusBar } from './status-bar.js';
import { lockScreen } from './lock-screen.js';
import { homeScreen } from './home-screen.js';
import { appScreen, hasFailed, setUpAppScreen } from './app-screen.js';
import { makeSheet } from './sheet.js';
import { makeBanner } from './banner.js';
import { makePrompt } from './prompt.js';

/** Creates the phone: a generic phone with a frame, a side button and a screen. */
export function makeDevice() {
    const content = h('div', { class: 'screen-content' });
    const homeBar = h('button', {
        class: 'home-bar', type: 'button', 'aria-label': t('phone.home'), on: { click: () => act('home') },
    });
    const screen = h('div', { class: 'screen', role: 'region', 'aria-label': t('phone.screen') },
        content, makeStatusBar(), makeSheet(), homeBar, makeBanner(), makePrompt());
    const side = h('button', { class: 'side-button', type: 'button', on: { click: () => act('screen', { on: !store.state.phone.screen_on }) } });
    setUpAppScreen();

    store.on(['phone', 'apps', 'notifications'], ({ phone, apps, notifications }) => {
        const shown = !phone.screen_on ? 'off' : phone.locked ? 'lock' : phone.front ? 'app' : 'home';
        screen.dataset.shown = shown;
        const isOff = shown === 'off';
        side.setAttribute('aria-label', t(isOff ? 'phone.screen-on' : 'phone.screen-off'));
        homeBar.hidden = shown !== 'app';
        if (shown === 'app') appScreen(content, store.app(phone.front), phone.front);
        else if (shown === 'lock') renderInto(content, ['lock', phone.clock, notifications, phone.unlocked_since_boot], () => lockScreen(phone, notifications));
        else if (shown === 'home') renderInto(content, ['home', apps.map((app) => [app.id, app.name, app.running, hasFailed(app)]), notifications], () => homeScreen(apps, notifications));
        else renderInto(content, ['off'], () => [h('p', { class: 'hidden-text', text: t('phone.is-off') })]);
    });
    return h('div', { class: 'device' }, side, h('div', { class: 'device-frame' }, screen));
}
