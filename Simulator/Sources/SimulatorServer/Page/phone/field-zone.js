// SPDX-License-Identifier: Apache-2.0
import { h, keyed, renderInto } from '../support/dom.js';
import { fieldMark, icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { act, store, trace } from '../session.js';
import { makeDraggable } from '../field.js';
import { isFieldOn, isUnansweredSearch } from '../inspector/row-kinds.js';
import { tagArt } from '../drawer/tag-art.js';

/** How long the field glows after an exchange, in milliseconds. */
const glow = 220;

/** Creates the zone above the phone that shows the tags in the field. */
export function makeFieldZone() {
    const list = h('ul', { class: 'near-tags', 'aria-label': t('field.near') });
    const hint = h('p', { class: 'field-hint' });
    const zone = h('div', { class: 'field-zone', id: 'field-zone' }, h('div', { class: 'field-waves' }, fieldMark('mark field-mark')), hint, list);

    store.on(['tags', 'phone', 'switches'], ({ tags, switches }) => {
        const near = tags.filter((tag) => tag.near);
        zone.dataset.near = String(near.length);
        zone.classList.toggle('radio-off', switches.radio === false);
        const isStack = near.length > 2;
        list.classList.toggle('stacked', isStack);
        renderInto(hint, [near.length, switches.radio], () => [
            switches.radio === false ? t('field.radio-off') : near.length === 0 ? t('field.hint') : isStack ? t('field.count', { n: near.length }) : '',
        ]);
        keyed(list, near, (tag) => tag.id, create, update);
    });
    showActivity(zone);
    return zone;
}

/** Creates the area below the phone that says why a phone can't read a tag in the field. */
export function makeReasons() {
    const reasons = h('div', { class: 'field-reasons', role: 'status' });
    store.on(['tags'], ({ tags }) => {
        const unreadable = tags.filter((tag) => tag.near && tag.phone_can?.reason);
        renderInto(reasons, unreadable.map((tag) => [tag.id, tag.name, tag.phone_can.reason]), () => unreadable.map((tag) => h('p', {},
            icon('warn'), h('span', {}, foreign(tag.name, { limit: 40 }), ': ', foreign(tag.phone_can.reason, { limit: 300 })))));
    });
    return reasons;
}

function create(tag) {
    const name = h('span', { class: 'near-name' });
    const remove = h('button', {
        class: 'icon-button small near-remove', type: 'button', on: { click: () => act('remove', { tag: tag.id }) },
    }, icon('close'));
    const item = h('li', { class: 'near-tag' }, h('span', { class: 'near-art' }, tagArt(tag)), name, remove);
    makeDraggable(item, tag.id);
    return item;
}

function update(item, tag) {
    item.dataset.technology = tag.technology;
    item.title = visibleText(tag.name, 60);
    renderInto(item.querySelector('.near-name'), tag.name, () => [foreign(tag.name, { limit: 30 })]);
    item.querySelector('.near-remove').setAttribute('aria-label', t('field.remove', { name: visibleText(tag.name, 60) }));
}

/** Shows the state of the carrier, and new exchanges. */
function showActivity(zone) {
    let timer = null;
    let last = 0;
    trace.on((first) => {
        // Ignore rows that were loaded with the page, because they are older.
        if (!trace.isComplete) return;
        const from = Math.max(first, last, trace.rows.length - 200);
        last = trace.rows.length;
        let hasExchange = false;
        for (let index = from; index < trace.rows.length; index += 1) {
            const row = trace.rows[index];
            if (row.kind === 'carrier') zone.classList.toggle('carrier', isFieldOn(row));
            if (row.kind === 'exchange' && !isUnansweredSearch(row)) hasExchange = true;
        }
        if (!hasExchange) return;
        zone.classList.add('active');
        clearTimeout(timer);
        timer = setTimeout(() => zone.classList.remove('active'), glow);
    });
}
