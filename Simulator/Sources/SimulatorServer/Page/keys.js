// SPDX-License-Identifier: Apache-2.0
import { h, newID } from './support/dom.js';
import { icon } from './support/icons.js';
import { openDialog } from './support/dialog.js';
import { keepSetting, setting } from './support/settings.js';
import { t } from './support/texts.js';
import { act, store } from './session.js';
import { nextColumn } from './layout.js';
import { openNewTag } from './drawer/new-tag.js';

const settingName = 'single-keys';

/** Whether single letters act as keys. Users of speech input can turn this off. */
export function singleKeys() {
    return setting(settingName) !== 'off';
}

/** The keys in the list that `?` shows. */
const groups = [
    ['anywhere', [['?', 'help'], ['F6', 'column'], ['N', 'new'], ['/', 'search'], ['L', 'lock'], ['Esc', 'cancel']]],
    ['drawer', [['↑ ↓', 'cards'], ['→ ←', 'buttons'], ['Enter', 'tap'], ['H', 'hold'], ['F2', 'edit'], ['Delete', 'delete']]],
    ['trace', [['↑ ↓', 'rows'], ['PgUp PgDn', 'pages'], ['Home End', 'ends'], ['Enter', 'fold']]],
    ['timeline', [['← →', 'scroll'], ['+ −', 'zoom'], ['0', 'fit']]],
];

/** Handles the keys that work everywhere. */
export function setUpKeys(focusSearch) {
    addEventListener('keydown', (event) => {
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
        if (document.querySelector('dialog[open], [popover]:popover-open')) return;
        if (event.key === 'F6') {
            event.preventDefault();
            nextColumn(event.shiftKey);
            return;
        }
        const isTyping = event.target.closest?.('input:not([type=checkbox], [type=radio], [type=range]), textarea, select');
        if (event.key === 'Escape') {
            cancel(isTyping);
            return;
        }
        if (isTyping || !singleKeys()) return;
        const run = { '?': openKeys, '/': focusSearch, n: openNewTag, l: () => act(store.state.phone.locked ? 'unlock' : 'lock') }[event.key.toLowerCase()];
        if (!run) return;
        event.preventDefault();
        run();
    });
}

/** Escape dismisses the front item on the phone. In a search field with text, it only clears the text. */
function cancel(field) {
    if (field?.type === 'search' && field.value) return;
    const { sheet, prompt, banner } = store.state.phone;
    if (prompt) act('dismiss_prompt');
    else if (sheet && sheet.state !== 'dismissed' && sheet.can_cancel !== false) act('cancel_sheet');
    else if (banner) act('hide_banner');
}

export function makeKeysButton() {
    return h('button', { class: 'icon-button', type: 'button', id: 'keys', 'aria-label': t('keys.title'), on: { click: openKeys } }, icon('keyboard'));
}

function openKeys() {
    const id = newID('single');
    const box = h('input', { type: 'checkbox', role: 'switch', class: 'switch', id, checked: singleKeys(), 'aria-describedby': `${id}-hint` });
    box.addEventListener('change', () => keepSetting(settingName, box.checked ? 'on' : 'off'));
    openDialog({
        title: t('keys.title'),
        isWide: true,
        body: [
            h('div', { class: 'key-groups' }, ...groups.map(([group, keys]) => h('section', {},
                h('h3', { text: t(`keys.${group}`) }),
                h('dl', { class: 'key-list' }, ...keys.map(([key, action]) => h('div', {},
                    h('dt', {}, ...key.split(' ').map((part) => h('kbd', { text: part }))),
                    h('dd', { text: t(`keys.${group}.${action}`) }))))))),
            h('div', { class: 'condition' }, h('label', { for: id, text: t('keys.single') }), box, h('p', { class: 'condition-hint', id: `${id}-hint`, text: t('keys.single-hint') })),
        ],
    });
}
