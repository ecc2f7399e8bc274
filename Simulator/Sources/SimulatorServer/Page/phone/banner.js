// SPDX-License-Identifier: Apache-2.0
import { h, renderInto, setText } from '../support/dom.js';
import { fieldMark, icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { act, store } from '../session.js';

/** Creates the banner: the notification for a tag that was read in the background. */
export function makeBanner() {
    const place = h('div', { class: 'banner-place' });
    const live = h('div', { class: 'hidden-text', role: 'status', 'aria-live': 'polite' });
    store.on(['phone'], ({ phone: { banner, locked } }) => {
        setText(live, banner ? `${visibleText(banner.title, 80)}. ${visibleText(banner.body, 160)}` : '');
        // The lock screen has it in its list.
        const shown = locked ? null : banner;
        renderInto(place, shown, () => shown ? [drawn(shown)] : []);
    });
    return h('div', { class: 'banner-holder' }, place, live);
}

function drawn(banner) {
    return h('div', { class: 'banner' },
        h('button', {
            class: 'banner-open', type: 'button', data: { key: 'banner' }, on: { click: () => act('open_notification', { notification: banner.id }) },
        },
        h('span', { class: 'notification-mark' }, fieldMark()),
        h('span', { class: 'notification-words' },
            h('span', { class: 'notification-title' }, foreign(banner.title, { limit: 80 })),
            h('span', { class: 'notification-body' }, foreign(banner.body, { limit: 160 })),
            banner.action ? h('span', { class: 'banner-action' }, foreign(banner.action, { limit: 60 })) : null)),
        h('button', {
            class: 'banner-hide', type: 'button', 'aria-label': t('banner.hide'), data: { key: 'banner-hide' }, on: { click: () => act('hide_banner') },
        }, icon('up')));
}
