// SPDX-License-Identifier: Apache-2.0
import { h, renderInto } from '../support/dom.js';
import { fieldMark, icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { act, store } from '../session.js';

/** Creates the system prompt over everything else: a request to unlock, or the note that a tag has no usable data. */
export function makePrompt() {
    const place = h('div', { class: 'prompt-place' });
    store.on(['phone'], ({ phone }) => {
        renderInto(place, phone.prompt, () => {
            if (phone.prompt === 'unlock') return [unlock()];
            if (phone.prompt === 'no-usable-data') return [detected()];
            return [];
        });
    });
    return place;
}

function unlock() {
    return h('div', { class: 'prompt-back' }, h('div', { class: 'prompt', role: 'alertdialog', 'aria-labelledby': 'prompt-title' },
        h('span', { class: 'prompt-mark' }, icon('lock')),
        h('p', { class: 'prompt-title', id: 'prompt-title', role: 'status', text: t('prompt.unlock') }),
        h('div', { class: 'prompt-buttons' },
            h('button', { type: 'button', class: 'prompt-button', data: { key: 'prompt-cancel' }, text: t('sheet.cancel'), on: { click: () => act('dismiss_prompt') } }),
            h('button', { type: 'button', class: 'prompt-button filled', data: { key: 'prompt-unlock' }, text: t('lock.unlock'), on: { click: () => act('unlock') } }))));
}

function detected() {
    return h('div', { class: 'detected', role: 'status' },
        h('span', { class: 'notification-mark' }, fieldMark()),
        h('span', { class: 'notification-words' },
            h('span', { class: 'notification-title', text: t('prompt.detected') }),
            h('span', { class: 'notification-body', text: t('prompt.no-data') })),
        h('button', { class: 'glass-button', type: 'button', 'aria-label': t('banner.hide'), data: { key: 'prompt-hide' }, on: { click: () => act('dismiss_prompt') } }, icon('close')));
}
