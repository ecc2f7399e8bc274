// SPDX-License-Identifier: Apache-2.0
import { h, keyed, renderInto, setText } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { clock, concealed, duration, spacedHex } from '../support/format.js';
import { say } from '../support/notices.js';
import { keep, keepScroll, kept } from '../support/settings.js';
import { makeSplitter } from '../support/splitter.js';
import { hasText, t } from '../support/texts.js';
import { visibleText } from '../support/visible.js';
import { act, store, trace } from '../session.js';
import { VirtualList } from './virtual-list.js';
import { TraceFilter, groups, usual } from './trace-filter.js';
import { foldOf, isFailure, isUnansweredSearch } from './row-kinds.js';
import { rowDetails } from './row-details.js';

const rowHeight = 28;

/** Creates the trace: a row for each exchange and event, with a filter above and the active row's details below. */
export function makeTracePanel() {
    const filter = new TraceFilter();
    let visible = [];
    let showsBytes = false;
    let showsDifferences = false;
    let wraps = false;
    let isShown = true;
    /** How many rows were added while the list did not follow them. */
    let unseen = 0;
    let isStale = false;
    /**
     * The index of the row that each folded row is folded into; how many rows are folded into each row; and the rows
     * that the user has unfolded.
     */
    let headOf = new Map();
    let folded = new Map();
    const unfolded = new Set();
    let group = { kind: null, rows: [] };

    const count = h('span', { class: 'trace-count' });
    const details = h('div', { class: 'row-details', role: 'region', 'aria-label': t('trace.details') });
    const empty = h('p', { class: 'empty' });
    const list = new VirtualList({
        id: 'row', label: t('trace.title'), rowHeight,
        head: h('div', { class: 'virtual-row head', role: 'row', 'aria-rowindex': '1' },
            ...['time', 'tag', 'words', 'airtime'].map((name) => h('span', { role: 'columnheader', class: `cell ${name}`, text: t(`trace.${name}`) }))),
        draw: (row, index) => drawRow(row, trace.rows[visible[index]], {
            showsBytes, wraps, found: filter.text, folded: folded.get(visible[index]) ?? 0, isUnfolded: unfolded.has(visible[index]), before: showsDifferences ? trace.rows[visible[index - 1]] : null,
        }),
        onActive: (index) => {
            trace.active = visible[index];
            renderInto(details, [trace.active, trace.rows[trace.active]], () => rowDetails(trace.rows[trace.active]));
        },
    });

    const bar = filterBar(filter, count, refilter, [['trace.bytes', (isOn) => {
        showsBytes = isOn;
        list.element.classList.toggle('with-bytes', isOn);
        list.refresh();
    }], ['trace.differences', (isOn) => {
        showsDifferences = isOn;
        list.refresh();
    }], ['trace.wrap', (isOn) => {
        wraps = isOn;
        list.setWraps(isOn);
    }]]);
    const follow = h('button', { class: 'button small follow', type: 'button', hidden: true, on: { click: () => list.scrollToEnd() } }, icon('down'), h('span'));
    const element = h('div', { class: 'panel trace' }, bar.element, list.element, h('div', { class: 'follow-place' }, follow), empty);
    element.append(makeSplitter({
        name: 'details-height', label: t('layout.details-height'), part: details, root: element, isRow: true, least: 80, most: () => element.clientHeight * 0.7,
    }), details);
    const restoreScroll = keepScroll(list.element, 'trace-position', () => (list.isAtEnd ? null : list.element.scrollTop));
    list.element.addEventListener('scroll', () => {
        if (list.isAtEnd) setUnseen(0);
    }, { passive: true });

    function setUnseen(number) {
        unseen = number;
        follow.hidden = number === 0;
        if (number > 0) setText(follow.querySelector('span'), t('trace.new-rows', { n: number }));
    }

    trace.on(update);
    store.on(['tags'], () => list.refresh());

    /** Adds new rows. Filters all rows again only if the filter or the whole trace has changed. */
    function update(first) {
        if (!isShown) {
            isStale = true;
            return;
        }
        const isNew = first === 0;
        const [before, follows] = [visible.length, list.isAtEnd];
        if (isNew) {
            visible = [];
            headOf = new Map();
            folded = new Map();
            group = { kind: null, rows: [] };
            matches?.clear();
            if (trace.rows.length === 0) unfolded.clear();
            details.replaceChildren();
            renderInto(details, null, () => []);
        }
        let hasFolded = false;
        for (let index = first; index < trace.rows.length; index += 1) {
            if (filter.takes(trace.rows[index])) hasFolded = add(index) || hasFolded;
        }
        list.element.classList.toggle('is-empty', visible.length === 0);
        list.setCount(visible.length, isNew);
        if (hasFolded) list.refresh();
        setUnseen(isNew || follows ? 0 : unseen + visible.length - before);
        if (trace.isComplete && visible.length > 0) restoreScroll();
        describe();
    }

    /** Shows a row, or folds it into the first of at least three of its kind. Returns whether it was folded. */
    function add(index) {
        const row = trace.rows[index];
        const kind = filter.text ? null : foldOf(row);
        if (!kind || kind !== group.kind || row.tag !== trace.rows[group.rows[0]].tag) group = { kind, rows: [] };
        group.rows.push(index);
        visible.push(index);
        if (!kind || group.rows.length < 3) return false;
        const [head, ...others] = group.rows;
        folded.set(head, others.length);
        for (const other of others) headOf.set(other, head);
        if (!unfolded.has(head)) visible.length -= group.rows.length === 3 ? 2 : 1;
        return true;
    }

    /** Unfolds a row, or folds it again. */
    function toggleFold(index) {
        const head = folded.has(index) ? index : headOf.get(index);
        if (head === undefined) return;
        if (!unfolded.delete(head)) unfolded.add(head);
        refilter(head);
    }

    list.element.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' || list.active < 0) return;
        event.preventDefault();
        toggleFold(visible[list.active]);
    });
    list.element.addEventListener('click', (event) => {
        if (event.target.closest('.row-fold')) toggleFold(visible[Number(event.target.closest('[role=row]').dataset.index)]);
    });

    function refilter(active = visible[list.active]) {
        visible = [];
        update(0);
        const place = active === undefined ? -1 : visible.indexOf(active);
        if (place >= 0) list.activate(place, true);
        else {
            list.active = -1;
            list.scrollToEnd();
        }
        if (filter.text) say(t('trace.found', { n: visible.length }));
    }

    function describe() {
        const total = trace.rows.length;
        const words = visible.length === total ? t('trace.rows', { n: total }) : t('trace.rows-of', { n: visible.length, total });
        setText(count, trace.rows.length < trace.total ? t('trace.loading', { n: total, total: trace.total }) : words);
        empty.hidden = visible.length > 0;
        // A phone that has only searched for tags has rows, but none that are shown at first.
        setText(empty, t(total > 0 && !filter.isUsual ? 'trace.no-match' : 'trace.empty'));
    }
    describe();

    return {
        element,
        focusSearch: () => bar.focus(),
        setShown: (value) => {
            isShown = value;
            if (isShown && isStale) {
                isStale = false;
                refilter();
            }
        },
        /** Shows a row, even if the filter hides it. */
        goTo: (index) => {
            if (!visible.includes(index)) {
                if (headOf.has(index)) unfolded.add(headOf.get(index));
                else bar.reset(isUnansweredSearch(trace.rows[index]) ? Object.keys(groups) : usual);
                refilter();
            }
            list.activate(visible.indexOf(index), true);
        },
    };
}

/** The cells of each drawn row, reused so that scrolling creates few elements. */
const parts = new WeakMap();

function drawRow(element, row, { showsBytes, wraps, found, folded, isUnfolded, before }) {
    if (!row) return;
    const part = parts.get(element) ?? makeRow(element);
    const tag = store.tag(row.tag);
    element.className = `virtual-row kind-${row.kind}${isFailure(row) ? ' failed' : ''}${isUnansweredSearch(row) ? ' unanswered' : ''}${row.write ? ' write' : ''}`;
    element.dataset.technology = row.technology ?? tag?.technology ?? '';
    const sign = `${row.kind} ${row.write} ${row.near}`;
    if (part.shown !== sign) {
        part.shown = sign;
        part.sign.replaceChildren(kindSign(row));
    }
    part.time.data = before ? `+${duration(row.t_us - before.t_us)}` : clock(row.t_us);
    part.tag.data = tag ? visibleText(tag.name, 40) : '';
    part.words.data = visibleText(rowWords(row), wraps ? 2000 : 300);
    mark(part, found);
    part.airtime.data = row.airtime_us ? duration(row.airtime_us) : '';
    // For a timeout, the words of the exchange already say that nothing answered.
    show(part.error, row.error && row.error !== 'timeout' ? errorWords(row.error) : '');
    show(part.fold, folded > 0 ? t(isUnfolded ? 'trace.fold' : 'trace.folded', { n: folded }) : '');
    show(part.bytes, showsBytes && row.kind === 'exchange' ? bytesText(row, wraps) : '');
}

/** The matches of the search in the rows that are drawn. */
const matches = globalThis.Highlight ? new Highlight() : null;
if (matches) CSS.highlights.set('found', matches);

function mark(part, text) {
    if (!matches) return;
    if (part.match) matches.delete(part.match);
    part.match = null;
    const start = text ? part.words.data.toLowerCase().indexOf(text) : -1;
    if (start < 0) return;
    part.match = new Range();
    part.match.setStart(part.words, start);
    part.match.setEnd(part.words, Math.min(start + text.length, part.words.length));
    matches.add(part.match);
}

/** Creates the cells of a row, and returns the nodes that change. */
function makeRow(element) {
    const part = { shown: null, sign: h('span', { class: 'kind-sign' }), error: h('span', { class: 'row-error' }), fold: h('span', { class: 'row-fold' }), bytes: h('span', { class: 'row-bytes' }) };
    for (const name of ['time', 'tag', 'words', 'airtime']) part[name] = document.createTextNode('');
    const cell = (name, isForeign) => h(isForeign ? 'bdi' : 'span', { class: `cell ${name}`, role: 'gridcell' }, part[name]);
    element.replaceChildren(
        cell('time'), cell('tag', true),
        h('span', { class: 'cell words', role: 'gridcell' }, part.sign, h('bdi', { class: 'words-text' }, part.words), part.error, part.fold, part.bytes),
        cell('airtime'));
    parts.set(element, part);
    return part;
}

function show(element, text) {
    element.hidden = !text;
    setText(element, text);
}

/** The text of a row: the server's words, and the details of an event. */
export function rowWords(row) {
    return row.detail && row.kind !== 'exchange' ? `${row.words}: ${row.detail}` : row.words ?? '';
}

function errorWords(code) {
    return hasText(`error.${code}`) ? t(`error.${code}`) : visibleText(code, 60);
}

function bytesText(row, wraps) {
    return `${spacedHex(concealed(row.request, row.concealed), wraps ? 256 : 12)} → ${row.response === null || row.response === undefined ? t('trace.no-answer') : spacedHex(row.response, wraps ? 256 : 16)}`;
}

function kindSign(row) {
    const names = {
        exchange: row.write ? 'edit' : 'trace', carrier: 'power', presence: row.near === false ? 'away' : 'hold', session: 'phone', callback: 'code',
        sheet: 'message', background: 'route', log: 'terminal',
    };
    const sign = h('span', { role: 'img', 'aria-label': t(`kind-of-row.${names[row.kind] ? row.kind : 'exchange'}`) });
    sign.append(icon(names[row.kind] ?? 'trace'));
    return sign;
}

/** Creates the search field, the row filters, and the actions on the whole trace. */
function filterBar(filter, count, refilter, views) {
    let timer = null;
    const search = h('input', { type: 'search', class: 'field', 'aria-label': t('trace.search'), placeholder: t('trace.search') });
    search.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            filter.text = search.value.trim().toLowerCase();
            keep('trace-search', search.value);
            refilter();
        }, 120);
    });
    search.value = kept('trace-search') ?? '';
    filter.text = search.value.trim().toLowerCase();
    const toggles = Object.keys(groups).map((group) => {
        const button = h('button', { class: 'chip-toggle', type: 'button', 'aria-pressed': String(filter.shown.has(group)), text: t(`trace.group.${group}`) });
        button.addEventListener('click', () => {
            const isOn = !filter.shown.has(group);
            if (isOn) filter.shown.add(group);
            else filter.shown.delete(group);
            button.setAttribute('aria-pressed', String(isOn));
            refilter();
        });
        return button;
    });
    const toggle = (key, run) => {
        const title = hasText(`${key}.title`) ? t(`${key}.title`) : null;
        const button = h('button', { class: 'chip-toggle', type: 'button', 'aria-pressed': 'false', title, text: t(key) });
        button.addEventListener('click', () => {
            const isOn = button.getAttribute('aria-pressed') !== 'true';
            button.setAttribute('aria-pressed', String(isOn));
            run(isOn);
        });
        return button;
    };
    /** A toggle that the window keeps across a reload. */
    const view = ([key, run]) => {
        const button = toggle(key, (isOn) => {
            keep(key, isOn);
            run(isOn);
        });
        if (kept(key)) button.click();
        return button;
    };
    const errors = toggle('trace.errors', (isOn) => {
        filter.errorsOnly = isOn;
        refilter();
    });
    const select = h('select', { class: 'field compact', 'aria-label': t('trace.of-tag') });
    select.addEventListener('change', () => {
        filter.tag = select.value || null;
        refilter();
    });
    store.on(['tags'], ({ tags }) => {
        const choices = [{ id: '', name: t('trace.all-tags') }, ...tags];
        keyed(select, choices, ({ id }) => id, ({ id }) => h('option', { value: id }), (option, { name }) => setText(option, visibleText(name, 40)));
    });
    const clear = h('button', { class: 'icon-button', type: 'button', 'aria-label': t('trace.clear'), title: t('trace.clear'), on: { click: () => act('clear_trace') } }, icon('trash'));
    return {
        element: h('div', { class: 'trace-bar' },
            h('div', { class: 'trace-search' }, icon('search'), search), count, clear,
            h('div', { class: 'chips', role: 'group', 'aria-label': t('trace.groups') }, ...toggles, errors, select, ...views.map(view))),
        focus: () => search.focus(),
        reset: (shown) => {
            Object.assign(filter, { text: '', tag: null, errorsOnly: false, shown: new Set(shown) });
            search.value = '';
            select.value = '';
            errors.setAttribute('aria-pressed', 'false');
            for (const [index, group] of Object.keys(groups).entries()) toggles[index].setAttribute('aria-pressed', String(filter.shown.has(group)));
        },
    };
}
