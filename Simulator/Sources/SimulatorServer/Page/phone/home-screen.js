// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { openDialog } from '../support/dialog.js';
import { icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { foreign } from '../support/visible.js';
import { act } from '../session.js';
import { hasFailed } from './app-screen.js';
import { notificationList } from './notification-list.js';

/** The number of colors for app icons. */
const hues = 8;

/** Whether the list of notifications is open. */
let isListOpen = false;

/** Returns the home screen: the installed apps, and the notifications behind a button. */
export function homeScreen(apps, notifications) {
    const list = h('div', { class: 'pulled-list', hidden: !isListOpen }, notificationList(notifications));
    const button = h('button', {
        class: 'pull-button', type: 'button', 'aria-expanded': String(isListOpen), data: { key: 'pull' },
    }, icon('bell'), h('span', { text: t('notifications.count', { n: notifications.length }) }));
    button.addEventListener('click', () => {
        isListOpen = !isListOpen;
        list.hidden = !isListOpen;
        button.setAttribute('aria-expanded', String(isListOpen));
    });
    return [
        h('div', { class: 'wallpaper', 'aria-hidden': 'true' }),
        h('div', { class: 'home' },
            notifications.length > 0 && button,
            notifications.length > 0 && list,
            apps.length === 0
                ? h('div', { class: 'no-apps' }, h('p', { text: t('home.no-apps') }), h('code', { text: t('home.no-apps-command') }))
                : h('ul', { class: 'apps', 'aria-label': t('home.apps') }, ...apps.map(appIcon)),
            h('button', { class: 'pull-button start-button', type: 'button', data: { key: 'start' }, on: { click: openStart } }, icon('plus'), h('span', { text: t('home.start') }))),
    ];
}

/** Explains how to start a program. Pages can't start commands, so that other sites can't misuse them for this. */
function openStart() {
    openDialog({
        title: t('home.start-title'),
        body: [h('p', { text: t('home.start-how') }), h('code', { text: t('home.start-command') }), h('p', { class: 'hint', text: t('home.start-hint') })],
        buttons: [{ text: t('dialog.close'), primary: true }],
    });
}

function appIcon(app) {
    const letter = [...(app.name ?? '?').replace(/[^\p{L}\p{N}]/gu, '')][0] ?? '?';
    return h('li', {}, h('button', {
        class: hasFailed(app) ? 'app app-ended' : 'app', type: 'button', data: { key: `app-${app.id}` }, on: { click: () => act('open_app', { app: app.id }) },
    },
    h('span', { class: `app-icon hue-${hueOf(app.id)}`, 'aria-hidden': 'true', text: letter.toUpperCase() }),
    h('span', { class: 'app-name' }, foreign(app.name, { limit: 24 })),
    app.running && h('span', { class: 'app-running' }, h('span', { class: 'hidden-text', text: t('home.running') })),
    hasFailed(app) && h('span', { class: 'app-failed', role: 'img', 'aria-label': t('home.failed') }, icon('warn'))));
}

/** Returns the color number of an app or tag. It depends only on the id. */
export function hueOf(id) {
    let hash = 7;
    for (const character of String(id)) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
    return hash % hues;
}
