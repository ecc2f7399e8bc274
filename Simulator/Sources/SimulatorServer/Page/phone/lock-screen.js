// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { act } from '../session.js';
import { notificationList } from './notification-list.js';

/** Returns the lock screen. */
export function lockScreen(phone, notifications) {
    return [
        h('div', { class: 'wallpaper', 'aria-hidden': 'true' }),
        h('div', { class: 'lock' },
            h('span', { class: 'lock-sign' }, icon('lock')),
            h('p', { class: 'lock-clock', text: phone.clock ?? '' }),
            phone.unlocked_since_boot === false && h('p', { class: 'lock-hint', text: t('lock.never-unlocked') }),
            h('div', { class: 'lock-list' }, notificationList(notifications)),
            h('button', { class: 'lock-button', type: 'button', data: { key: 'unlock' }, on: { click: () => act('unlock') } },
                icon('up'), h('span', { text: t('lock.unlock') }))),
    ];
}
