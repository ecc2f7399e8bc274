// SPDX-License-Identifier: Apache-2.0
import { h, keyed, renderInto } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { store } from '../session.js';
import { createCard, updateCard } from './card.js';
import { handleCardKey } from './card-keys.js';
import { openNewTag } from './new-tag.js';
import { importButton } from './import.js';

/** Fills the drawer with a grid of cards, one per tag. Arrow keys move between the cards. */
export function setUpDrawer(section) {
    const search = h('input', { type: 'search', class: 'field', 'aria-label': t('drawer.search'), placeholder: t('drawer.search') });
    const list = h('div', { class: 'cards', role: 'grid', 'aria-label': t('drawer.tags') });
    const empty = h('div', { class: 'empty' });
    const count = h('span', { class: 'count' });
    let active = null;

    section.append(
        h('div', { class: 'column-head' },
            h('h2', { id: 'drawer-title' }, t('drawer.title'), ' ', count),
            h('div', { class: 'head-actions' },
                importButton(),
                h('button', { class: 'button primary', type: 'button', id: 'new-tag', on: { click: () => openNewTag() } }, icon('plus'), h('span', { text: t('drawer.new') })))),
        h('div', { class: 'drawer-search' }, icon('search'), search),
        h('div', { class: 'column-scroll' }, list, empty));

    const draw = () => {
        const { tags } = store.state;
        const wanted = search.value.trim().toLowerCase();
        const shown = wanted ? tags.filter((tag) => words(tag).includes(wanted)) : tags;
        renderInto(count, tags.length, () => [String(tags.length)]);
        renderInto(empty, [store.isLoaded, tags.length, shown.length], () => {
            if (!store.isLoaded || shown.length > 0) return [];
            if (tags.length > 0) return [h('p', { text: t('drawer.no-match') })];
            return [h('p', { text: t('drawer.empty') }), h('button', { class: 'button', type: 'button', text: t('drawer.new'), on: { click: () => openNewTag() } })];
        });
        list.hidden = shown.length === 0;
        const hadFocus = list.contains(document.activeElement);
        const place = hadFocus ? [...list.children].indexOf(document.activeElement.closest('[role=row]')) : -1;
        keyed(list, shown, (tag) => tag.id, createCard, updateCard);
        if (!shown.some((tag) => tag.id === active)) active = (shown[Math.max(place, 0)] ?? shown.at(-1))?.id ?? null;
        for (const row of list.children) {
            row.tabIndex = row.dataset.key === active ? 0 : -1;
            row.setAttribute('aria-selected', String(row.dataset.key === store.selectedTag?.id));
        }
        // If the focused card was deleted, focus the next one.
        if (hadFocus && !list.contains(document.activeElement)) list.querySelector('[role=row][tabindex="0"]')?.focus();
    };
    store.on(['tags', 'selected'], draw);
    search.addEventListener('input', draw);
    list.addEventListener('keydown', (event) => handleCardKey(event, list));
    list.addEventListener('focusin', (event) => {
        const row = event.target.closest('[role=row]');
        if (!row || row.dataset.key === active) return;
        active = row.dataset.key;
        for (const other of list.children) other.tabIndex = other === row ? 0 : -1;
    });
}

/** The text of a tag that the search looks at. */
function words(tag) {
    return [tag.name, tag.product, tag.uid, ...(tag.message ?? []).map((record) => `${record.title} ${record.text}`)].join(' ').toLowerCase();
}
