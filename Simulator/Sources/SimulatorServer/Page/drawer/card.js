// SPDX-License-Identifier: Apache-2.0
import { h, renderInto } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { byteCount } from '../support/format.js';
import { hasText, t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { store } from '../session.js';
import { makeDraggable, tap, toggleHold } from '../field.js';
import { recordSummary } from '../support/records.js';
import { isContact } from '../support/vcard.js';
import { tagArt } from './tag-art.js';
import { cardMenu } from './card-menu.js';

const recordIcons = {
    uri: 'link', link: 'link', smartposter: 'link', 'absolute-uri': 'link', text: 'text', mime: 'records', contact: 'person',
    'wifi-wsc': 'wifi', wifi: 'wifi',
};

/** The tag of each card. */
const tags = new WeakMap();

/** Creates the card of a tag, without its contents. */
export function createCard({ id }) {
    const card = h('div', { class: 'card', role: 'row', tabindex: '-1' });
    card.addEventListener('click', (event) => {
        if (!event.target.closest('button')) {
            store.select(id);
            card.focus({ preventScroll: true });
        }
    });
    makeDraggable(card, id);
    return card;
}

/** Updates a card from its tag. A card out of sight gets its contents when it is shown. */
export function updateCard(card, tag, isInSight) {
    tags.set(card, tag);
    card.dataset.technology = tag.technology;
    card.classList.toggle('near', Boolean(tag.near));
    card.setAttribute('aria-label', spoken(tag, visibleText(tag.name, 60)));
    if (isInSight || card.firstChild) showContents(card);
}

/** Removes the contents of a card that is out of sight, and keeps its height. */
export function hideContents(card, height) {
    if (!card.firstChild || card.contains(document.activeElement) || card.querySelector('[aria-expanded="true"]')) return;
    card.style.minHeight = `${height}px`;
    card.replaceChildren();
}

/** Shows the contents of a card. */
export function showContents(card) {
    const tag = tags.get(card);
    const { id } = tag;
    const name = visibleText(tag.name, 60);
    if (!card.firstChild) {
        card.style.minHeight = '';
        card.append(
            h('div', { class: 'card-main', role: 'gridcell' },
                h('span', { class: 'card-art' }),
                h('div', { class: 'card-words' })),
            h('div', { class: 'card-actions', role: 'gridcell' },
                h('button', { class: 'button small tap', type: 'button', title: t('card.tap'), tabindex: '-1', on: { click: () => tap(id) } }, icon('tap'), h('span', { text: t('card.tap') })),
                h('button', { class: 'button small hold', type: 'button', tabindex: '-1', on: { click: () => toggleHold(id) } }),
                cardMenu(id)));
    }
    renderInto(card.querySelector('.card-art'), [tag.product, tag.technology, tag.tag_type], () => [tagArt(tag)]);
    renderInto(card.querySelector('.card-words'), [tag.near, tag.name, tag.product, tag.capacity, tag.used, tag.status, tag.problem, tag.locks, tag.message, tag.phone_can, tag.size], () => content(tag));
    card.querySelector('.tap').setAttribute('aria-label', t('card.tap-of', { name }));
    const hold = card.querySelector('.hold');
    hold.title = t(tag.near ? 'card.take-away' : 'card.hold');
    hold.setAttribute('aria-label', t(tag.near ? 'card.take-away-of' : 'card.hold-of', { name }));
    renderInto(hold, Boolean(tag.near), () => [icon(tag.near ? 'away' : 'hold'), h('span', { text: t(tag.near ? 'card.take-away' : 'card.hold') })]);
    card.querySelector('.more').setAttribute('aria-label', t('card.more-of', { name }));
}

function content(tag) {
    const capacity = tag.capacity ?? null;
    const used = tag.used ?? 0;
    return [
        h('p', { class: 'card-name' }, foreign(tag.name, { limit: 80 })),
        h('p', { class: 'card-product' }, foreign(tag.product, { limit: 60 }),
            tag.tag_type ? ` · ${t('card.type', { n: String(tag.tag_type) })}` : '',
            capacity === null && tag.size ? ` · ${byteCount(tag.size)}` : ''),
        capacity ? h('p', { class: 'card-room' },
            h('span', { class: `gauge fill-${Math.min(20, Math.ceil((used / capacity) * 20))}`, 'aria-hidden': 'true' }), t('card.used', { used, capacity })) : null,
        ...holds(tag),
        h('p', { class: 'badges' }, ...badges(tag)),
        tag.phone_can?.reason ? h('p', { class: 'card-reason' }, icon('warn'), foreign(tag.phone_can.reason, { limit: 400 })) : null,
    ];
}

/** Shows the first records of the message, or the problem of the tag. */
function holds(tag) {
    const records = tag.message ?? [];
    // A tag that can't hold messages has a badge. This is not shown as a problem.
    const problem = records[0]?.kind === 'damaged' ? recordSummary(records[0]) : tag.status !== 'not-ndef' && tag.problem;
    if (problem) return [h('p', { class: 'card-holds problem' }, icon('warn'), foreign(problem, { limit: 200 }))];
    if (records.length === 0) return tag.status === 'not-ndef' ? [] : [h('p', { class: 'card-holds none', text: t('card.empty') })];
    const lines = records.slice(0, 2).map((record) => h('p', { class: 'card-holds' }, icon(recordIcon(record)), foreign(recordSummary(record), { limit: 140 })));
    if (records.length > 2) lines.push(h('p', { class: 'card-holds none', text: t('card.more-records', { n: records.length - 2 }) }));
    return lines;
}

function recordIcon(record) {
    if (isContact(record)) return 'person';
    return recordIcons[record.kind] ?? 'records';
}

function badges(tag) {
    const result = [];
    const badge = (text, className, name) => result.push(h('span', { class: `badge ${className}` }, name && icon(name), text));
    if (tag.near) badge(t('card.near'), 'near', null);
    if (tag.status && tag.status !== 'read-write') {
        const key = `tag-status.${tag.status}`;
        badge(hasText(key) ? t(key) : visibleText(tag.status, 30), 'status', tag.status === 'not-ndef' ? null : 'lock');
    }
    for (const lock of tag.locks ?? []) badge(visibleText(lock, 60), 'status', 'lock');
    return result;
}

function spoken(tag, name) {
    const first = tag.message?.[0];
    return [
        name, visibleText(tag.product, 60),
        first ? visibleText(`${first.title}: ${recordSummary(first)}`, 100) : '',
        hasText(`tag-status.${tag.status}`) && tag.status !== 'read-write' ? t(`tag-status.${tag.status}`) : '',
        tag.phone_can?.reason ? visibleText(tag.phone_can.reason, 200) : '',
        tag.near ? t('card.near') : '',
    ].filter(Boolean).join(', ');
}
