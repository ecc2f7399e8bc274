// SPDX-License-Identifier: Apache-2.0
import { h } from './support/dom.js';
import { icon } from './support/icons.js';
import { t } from './support/texts.js';
import { visibleText } from './support/visible.js';
import { connection, isKnown, store } from './session.js';

/** After this many failed attempts, the server may have a new address. */
const manyAttempts = 6;
/** The milliseconds before the banner appears, so that short interruptions do not show it. */
const patience = 400;

/** Shows a banner while the server can't be reached. */
export function setUpAway(banner) {
    let timer = null;
    const show = () => {
        clearTimeout(timer);
        document.body.classList.toggle('is-away', !connection.isOpen);
        if (connection.isOpen) {
            banner.hidden = true;
            return;
        }
        timer = setTimeout(() => {
            const isNew = !store.isLoaded;
            const isLong = connection.attempts >= manyAttempts || !isKnown;
            const words = isLong ? t(isNew ? 'away.unknown' : 'away.long') : t(isNew ? 'away.connecting' : 'away.lost');
            banner.replaceChildren(icon('warn'), h('p', {}, words, connection.waiting > 0 ? ` ${t('away.waiting', { n: connection.waiting })}` : ''),
                h('button', { class: 'button small', type: 'button', text: t('away.retry'), on: { click: () => connection.retry() } }));
            banner.hidden = false;
        }, banner.hidden ? patience : 0);
    };
    connection.addEventListener('change', show);
    show();
}

/** Shows a banner while changes can't be saved. */
export function setUpUnsaved(banner) {
    store.on(['storage'], ({ storage }) => {
        const { problem } = storage ?? {};
        banner.hidden = !problem;
        if (problem) banner.replaceChildren(icon('warn'), h('p', { text: t('unsaved', { reason: visibleText(problem, 300) }) }));
    });
}
