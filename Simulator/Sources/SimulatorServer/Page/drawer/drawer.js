// SPDX-License-Identifier: Apache-2.0
import { h, keyed, renderInto } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { keep, keepScroll, keepSetting, kept, setting } from '../support/settings.js';
import { t } from '../support/texts.js';
import { store } from '../session.js';
import { createCard, hideContents, showContents, updateCard } from './card.js';
import { handleCardKey } from './card-keys.js';
import { openNewTag } from './new-tag.js';
import { importButton } from './import.js';

const compactSetting = 'compact-drawer';
/** With more tags, those out of sight are empty. */
const manyTags = 60;

/** Fills the drawer with a grid of cards, one per tag. Arrow keys move between the cards. */
export function setUpDrawer(section) {
    const search = h('input', { type: 'search', class: 'field', 'aria-label': t('drawer.search'), placeholder: t('drawer.search') });
    const list = h('div', { class: 'cards', role: 'grid', 'aria-label': t('drawer.tags') });
    const empty = h('div', { class: 'empty' });
    const scroller = h('div', { class: 'column-scroll' }, list, empty);
    const count = h('span', { class: 'count' });
    search.value = kept('drawer-search') ?? '';
    const kind = h('select', { class: 'field compact', 'aria-label': t('drawer.kind') });
    const compact = h('button', { class: 'icon-button', type: 'button', 'aria-label': t('drawer.compact'), title: t('drawer.compact') }, icon('records'));
    let active = null;
    /** Whether no tag was drawn yet, and the tag that was selected when the tags were drawn. */
    let isFirst = true;
    let selected = null;
    /** The card that stays in sight until a person scrolls or presses something. */
    let sought = null;
    for (const kind of ['wheel', 'pointerdown', 'keydown', 'touchstart']) addEventListener(kind, () => { sought = null; }, { capture: true, passive: true });

    section.append(
        h('div', { class: 'column-head' },
            h('h2', { id: 'drawer-title' }, t('drawer.title'), ' ', count),
            h('div', { class: 'head-actions' },
                importButton(),
                h('button', { class: 'button primary', type: 'button', id: 'new-tag', on: { click: () => openNewTag() } }, icon('plus'), h('span', { text: t('drawer.new') })))),
        h('div', { class: 'drawer-filter' }, h('div', { class: 'drawer-search' }, icon('search'), search), kind, compact),
        scroller);
    const sight = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting, boundingClientRect } of entries) {
            if (isIntersecting) showContents(target);
            else if (!target.hidden && target.isConnected) hideContents(target, boundingClientRect.height);
        }
        // Cards that get their contents change their heights, and would push the chosen one out of sight.
        sought?.scrollIntoView({ block: 'nearest' });
    }, { root: scroller, rootMargin: '600px 0px' });
    const restoreScroll = keepScroll(scroller, 'drawer-position');

    const setCompact = (isCompact) => {
        list.classList.toggle('compact', isCompact);
        compact.setAttribute('aria-pressed', String(isCompact));
    };
    setCompact(setting(compactSetting) === 'on');
    compact.addEventListener('click', () => {
        const isCompact = !list.classList.contains('compact');
        keepSetting(compactSetting, isCompact ? 'on' : 'off');
        setCompact(isCompact);
    });

    /** Draws all tags, and then shows those that match. Hidden cards cost little, and new ones would cost much. */
    const draw = () => {
        const { tags } = store.state;
        const kinds = [...new Set(tags.map(kindOf))].sort();
        renderInto(kind, kinds, () => [
            h('option', { value: '', text: t('drawer.all-kinds') }),
            ...kinds.map((other) => h('option', { value: other, selected: other === kind.value, text: other === 'other' ? t('new.group-other') : t('card.type', { n: other }) })),
        ]);
        const isChosen = store.selected !== selected && store.tag(store.selected);
        // The filter does not hide a new tag.
        if (isChosen && store.newTag === store.selected) {
            store.newTag = null;
            search.value = '';
            kind.value = '';
        }
        const isMany = tags.length > manyTags;
        list.classList.toggle('many', isMany);
        selected = isChosen ? store.selected : selected;
        const focused = list.contains(document.activeElement) ? document.activeElement : null;
        const place = focused ? [...list.children].filter((row) => !row.hidden).indexOf(focused.closest('[role=row]')) : -1;
        keyed(list, tags, (tag) => tag.id, createCard, (card, tag) => {
            updateCard(card, tag, !isMany);
            if (isMany) sight.observe(card);
        });
        show(focused !== null, place);
        const chosen = isChosen && !isFirst ? list.querySelector('[role=row][aria-selected="true"]') : null;
        if (chosen) {
            sought = chosen;
            showContents(chosen);
            chosen.scrollIntoView({ block: 'nearest' });
        }
        if (tags.length === 0) return;
        isFirst = false;
        restoreScroll();
    };
    const show = (hadFocus, place) => {
        const { tags } = store.state;
        const wanted = search.value.trim().toLowerCase();
        const shown = tags.filter((tag) => (!kind.value || kindOf(tag) === kind.value) && (!wanted || words(tag).includes(wanted)));
        const ids = new Set(shown.map((tag) => tag.id));
        renderInto(count, [shown.length, tags.length], () => [shown.length === tags.length ? String(tags.length) : t('drawer.count', { n: shown.length, total: tags.length })]);
        renderInto(empty, [store.isLoaded, tags.length, shown.length], () => {
            if (!store.isLoaded || shown.length > 0) return [];
            if (tags.length > 0) return [h('p', { text: t('drawer.no-match') })];
            return [h('p', { text: t('drawer.empty') }), h('button', { class: 'button', type: 'button', text: t('drawer.new'), on: { click: () => openNewTag() } })];
        });
        list.hidden = shown.length === 0;
        if (!ids.has(active)) active = (shown[Math.max(place, 0)] ?? shown.at(-1))?.id ?? null;
        const chosen = store.selectedTag?.id;
        for (const row of list.children) {
            const { key } = row.dataset;
            row.hidden = !ids.has(key);
            const tabIndex = key === active ? 0 : -1;
            if (row.tabIndex !== tabIndex) row.tabIndex = tabIndex;
            const isSelected = String(key === chosen);
            if (row.getAttribute('aria-selected') !== isSelected) row.setAttribute('aria-selected', isSelected);
        }
        // If the focused card was deleted, focus the next one.
        if (hadFocus && !list.contains(document.activeElement)) list.querySelector('[role=row][tabindex="0"]')?.focus();
    };
    store.on(['tags', 'selected'], draw);
    for (const field of [search, kind]) {
        field.addEventListener('input', () => {
            show(false, -1);
            keep('drawer-search', search.value);
        });
    }
    list.addEventListener('keydown', (event) => handleCardKey(event, list));
    list.addEventListener('focusin', (event) => {
        const row = event.target.closest('[role=row]');
        if (!row || row.dataset.key === active) return;
        active = row.dataset.key;
        for (const other of list.children) other.tabIndex = other === row ? 0 : -1;
    });
}

/** The kind of a tag, for the filter: the number of its type. */
function kindOf(tag) {
    return tag.status === 'not-ndef' || !tag.tag_type ? 'other' : String(tag.tag_type);
}

/** The text of each tag that the search looks at, created on the first search. */
const searchTexts = new WeakMap();

function words(tag) {
    let text = searchTexts.get(tag);
    if (text === undefined) {
        text = [tag.name, tag.product, tag.uid, ...(tag.message ?? []).map((record) => `${record.title} ${record.text}`)].join(' ').toLowerCase();
        searchTexts.set(tag, text);
    }
    return text;
}
