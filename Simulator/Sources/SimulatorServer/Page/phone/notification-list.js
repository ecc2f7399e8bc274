// SPDX-License-Identifier: Apache-2.0
import { h, setText } from '../support/dom.js';
import { fieldMark, icon } from '../support/icons.js';
import { ago } from '../support/format.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { act } from '../session.js';
import { showWhy } from '../inspector/show.js';

/** How many notifications are shown before the others are folded. */
const few = 3;

/** Returns the notifications: the newest, and the others behind a button. */
export function notificationList(notifications) {
    if (notifications.length === 0) return h('p', { class: 'no-notifications', text: t('notifications.none') });
    const list = h('ul', { class: 'notification-list', 'aria-label': t('notifications.title') }, ...items(notifications.slice(0, few)));
    const more = notifications.length > few && h('button', {
        class: 'glass-button', type: 'button', data: { key: 'more-notifications' }, text: t('notifications.more', { n: notifications.length - few }),
    });
    if (more) {
        more.addEventListener('click', () => {
            list.append(...items(notifications.slice(few)));
            list.children[few].querySelector('button').focus();
            more.remove();
        });
    }
    return h('div', { class: 'notification-group' },
        notifications.length > 1 && h('div', { class: 'notification-head' }, h('span', { text: t('notifications.count', { n: notifications.length }) }),
            h('button', { class: 'glass-button', type: 'button', data: { key: 'clear-notifications' }, text: t('notifications.clear'), on: { click: () => act('dismiss_notification', { notification: 'all' }) } })),
        list, more);
}

function items(notifications) {
    return notifications.map((notification) => h('li', { class: 'notification' },
            h('button', {
                class: 'notification-open', type: 'button', data: { key: `open-${notification.id}` },
                on: { click: () => act('open_notification', { notification: notification.id }) },
            },
            h('span', { class: 'notification-mark' }, fieldMark()),
            h('span', { class: 'notification-words' },
                h('span', { class: 'notification-title' }, foreign(notification.title, { limit: 80 })),
                h('span', { class: 'notification-body' }, foreign(notification.body, { limit: 120 }))),
            h('span', { class: 'notification-time', text: ago(notification.received_ms), data: { received: notification.received_ms } })),
            h('span', { class: 'notification-actions' },
                h('button', {
                    class: 'glass-button', type: 'button', text: t('notifications.why'), data: { key: `why-${notification.id}` },
                    'aria-label': t('notifications.why-of', { title: visibleText(notification.body || notification.title, 60) }),
                    on: { click: () => showWhy(notification.id) },
                }),
                h('button', {
                    class: 'glass-button', type: 'button', data: { key: `dismiss-${notification.id}` },
                    'aria-label': t('notifications.dismiss', { title: visibleText(notification.body || notification.title, 60) }),
                    on: { click: () => act('dismiss_notification', { notification: notification.id }) },
                }, icon('close')))));
}

/** Updates the times in the list every 30 seconds. */
export function setUpTimes() {
    setInterval(() => {
        for (const time of document.querySelectorAll('.notification-time')) setText(time, ago(Number(time.dataset.received)));
    }, 30_000);
}
