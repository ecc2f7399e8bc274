// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { clock, duration } from '../support/format.js';
import { hasText, t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { store, trace } from '../session.js';
import { rowWords } from './trace-panel.js';

/** How many of the latest events the table shows. */
const longest = 400;

/** Returns the timeline as tables: sessions with their exchanges and airtime, and other events. */
export function timelineTable(onSelect) {
    const rows = trace.rows.map((row, index) => ({ row, index })).filter(({ row }) => row.kind !== 'exchange' && row.kind !== 'carrier').slice(-longest);
    return h('div', { class: 'timeline-tables', tabindex: '0', role: 'region', 'aria-label': t('timeline.table') },
        h('table', {},
            h('caption', { text: t('timeline.sessions') }),
            head('timeline.start', 'timeline.app', 'timeline.length', 'timeline.exchanges', 'timeline.airtime', 'timeline.end'),
            h('tbody', {}, ...store.state.sessions.map(sessionRow))),
        h('table', {},
            h('caption', { text: t('timeline.events') }),
            head('timeline.start', 'timeline.kind', 'timeline.what'),
            h('tbody', {}, ...rows.map(({ row, index }) => h('tr', {},
                h('td', {}, h('button', { class: 'link', type: 'button', text: clock(row.t_us), 'aria-label': t('timeline.go-to', { time: clock(row.t_us) }), on: { click: () => onSelect(index) } })),
                h('td', { text: hasText(`kind-of-row.${row.kind}`) ? t(`kind-of-row.${row.kind}`) : visibleText(row.kind, 20) }),
                h('td', {}, foreign(rowWords(row), { limit: 160 })))))));
}

function head(...keys) {
    return h('thead', {}, h('tr', {}, ...keys.map((key) => h('th', { scope: 'col', text: t(key) }))));
}

function sessionRow(session) {
    const end = session.ended_us ?? Infinity;
    const exchanges = trace.rows.filter((row) => row.kind === 'exchange' && (row.session === undefined || row.session === null ? row.t_us >= session.started_us && row.t_us <= end : row.session === session.id));
    return h('tr', {},
        h('td', { text: clock(session.started_us) }),
        h('td', {}, foreign(store.app(session.app)?.name ?? session.app, { limit: 40 })),
        h('td', { text: end === Infinity ? t('timeline.runs') : duration(end - session.started_us) }),
        h('td', { text: String(exchanges.length) }),
        h('td', { text: duration(exchanges.reduce((sum, row) => sum + (row.airtime_us ?? 0), 0)) }),
        h('td', {}, foreign(session.end ?? '', { limit: 80 })));
}
