// SPDX-License-Identifier: Apache-2.0
import { h, setText } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { duration } from '../support/format.js';
import { t } from '../support/texts.js';
import { store, trace } from '../session.js';
import { TimeScale } from './time-scale.js';
import { drawTimeline, rowAt } from './timeline-drawing.js';
import { isUnansweredSearch } from './row-kinds.js';
import { timelineTable } from './timeline-table.js';

/** Space at the end for the label of the last callback, in CSS pixels. */
const room = 150;

/**
 * Creates the timeline: sessions and callbacks above, tags and airtime below. A table shows the same data.
 *
 * @param {(index: number) => void} onSelect called with the index of the trace row that the user chose
 */
export function makeTimeline(onSelect) {
    const scale = new TimeScale();
    const canvas = h('canvas', { class: 'timeline-canvas', 'aria-hidden': 'true' });
    const spacer = h('div', { class: 'timeline-space' });
    const scroller = h('div', { class: 'timeline-scroll', tabindex: '0', role: 'region', 'aria-label': t('timeline.title') }, canvas, spacer);
    const totals = h('p', { class: 'timeline-totals' });
    const table = h('div', { class: 'timeline-table', hidden: true });
    const colors = h('span', { class: 'timeline-colors', 'aria-hidden': 'true' }, ...['nfc-a', 'nfc-b', 'nfc-f', 'nfc-v'].map((name) => h('i', { data: { technology: name } })),
        ...['error', 'ink', 'soft', 'line', 'faint', 'accent', 'panel'].map((name) => h('i', { class: `color-${name}` })));
    let isQueued = false;
    let follows = true;
    /** Whether the scale adapts to new activity. A zoom by the user turns this off. */
    let fits = true;
    let added = 0;

    const button = (name, key, run) => h('button', { class: 'icon-button small', type: 'button', 'aria-label': t(key), on: { click: run } }, icon(name));
    const tableButton = h('button', { class: 'button small', type: 'button', 'aria-pressed': 'false' }, icon('table'), h('span', { text: t('timeline.table') }));
    tableButton.addEventListener('click', () => {
        const isTable = table.hidden;
        table.hidden = !isTable;
        scroller.hidden = isTable;
        tableButton.setAttribute('aria-pressed', String(isTable));
        if (isTable) table.replaceChildren(timelineTable(onSelect));
        else queue();
    });

    trace.on((first) => {
        if (first === 0 || first < added) {
            scale.clear();
            added = 0;
        }
        for (; added < trace.rows.length; added += 1) {
            const row = trace.rows[added];
            // Unanswered searches don't count as activity.
            if (row.kind !== 'carrier' && !isUnansweredSearch(row)) scale.add(row.t_us, row.airtime_us ?? 0);
        }
        if (!table.hidden) table.replaceChildren(timelineTable(onSelect));
        queue();
    });
    store.on(['sessions', 'tags', 'apps'], queue);
    store.on(['summary'], ({ summary }) => setText(totals, t('timeline.totals', {
        n: summary.exchanges ?? 0, airtime: duration(summary.airtime_us ?? 0),
    })));

    /** Schedules drawing for the next frame. */
    function queue() {
        if (isQueued) return;
        isQueued = true;
        requestAnimationFrame(() => {
            isQueued = false;
            if (scroller.clientWidth === 0) return;
            if (fits && follows) scale.fit(scroller.clientWidth - room);
            spacer.style.setProperty('width', `${Math.ceil(scale.width) + room}px`);
            if (follows) scroller.scrollLeft = scroller.scrollWidth;
            drawTimeline(canvas, scroller, scale, colors);
        });
    }

    function zoom(factor, center = scroller.scrollLeft + scroller.clientWidth / 2) {
        fits = false;
        const time = scale.time(center);
        const offset = center - scroller.scrollLeft;
        scale.setScale(Math.max(0.000_02, Math.min(0.2, scale.scale * factor)));
        spacer.style.setProperty('width', `${Math.ceil(scale.width) + room}px`);
        scroller.scrollLeft = scale.x(time) - offset;
        follows = isAtEnd();
        queue();
    }

    const isAtEnd = () => scroller.scrollWidth - scroller.scrollLeft - scroller.clientWidth < 40;
    scroller.addEventListener('scroll', () => {
        follows = isAtEnd();
        queue();
    }, { passive: true });
    scroller.addEventListener('wheel', (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 300), scroller.scrollLeft + event.clientX - scroller.getBoundingClientRect().left);
    }, { passive: false });
    scroller.addEventListener('keydown', (event) => {
        const run = { '+': () => zoom(1.5), '=': () => zoom(1.5), '-': () => zoom(1 / 1.5), 0: fit }[event.key];
        if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        run();
    });
    scroller.addEventListener('click', (event) => {
        const box = scroller.getBoundingClientRect();
        const index = rowAt(scale, event.clientX - box.left + scroller.scrollLeft);
        if (index !== null) onSelect(index);
    });
    function fit() {
        fits = true;
        follows = true;
        queue();
    }
    new ResizeObserver(queue).observe(scroller);
    // A canvas must be redrawn when the style sheet's colors change.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', queue);
    addEventListener('theme', queue);

    return h('div', { class: 'timeline' },
        h('div', { class: 'timeline-head' },
            h('h3', { text: t('timeline.title') }), totals,
            h('span', { class: 'timeline-tools' },
                button('minus', 'timeline.zoom-out', () => zoom(1 / 1.8)), button('plus', 'timeline.zoom-in', () => zoom(1.8)), button('fit', 'timeline.fit', fit), tableButton)),
        scroller, table, colors);
}
