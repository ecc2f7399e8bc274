// SPDX-License-Identifier: Apache-2.0
import { h, keyed, renderInto } from '../support/dom.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { store } from '../session.js';
import { makeDraggable, tap } from '../field.js';
import { tagArt } from '../drawer/tag-art.js';

/** Creates the row of small tags below the phone. Narrow windows use it, because they hide the drawer. */
export function makeTray() {
    const list = h('ul', { class: 'tray-list' });
    store.on(['tags'], ({ tags }) => {
        keyed(list, tags.filter((tag) => !tag.near), (tag) => tag.id, create, (item, tag) => {
            renderInto(item.querySelector('.tray-name'), tag.name, () => [foreign(tag.name, { limit: 30 })]);
            item.querySelector('button').setAttribute('aria-label', t('card.tap-of', { name: visibleText(tag.name, 60) }));
        });
    });
    return h('div', { class: 'tray', role: 'group', 'aria-label': t('tray.title') }, list);
}

function create(tag) {
    const item = h('li', {}, h('button', { class: 'tray-tag', type: 'button', on: { click: () => tap(tag.id) } },
        tagArt(tag), h('span', { class: 'tray-name' })));
    makeDraggable(item, tag.id);
    return item;
}
