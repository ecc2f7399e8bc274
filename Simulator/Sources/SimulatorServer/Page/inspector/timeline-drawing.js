// SPDX-License-Identifier: Apache-2.0
import { duration } from '../support/format.js';
import { t } from '../support/texts.js';
import { visibleText } from '../support/visible.js';
import { store, trace } from '../session.js';
import { isFailure, isUnansweredSearch } from './row-kinds.js';
import { gapWidth } from './time-scale.js';

/** The y coordinates of the tracks, in CSS pixels. */
const tracks = { axis: 0, session: 18, callback: 40, tag: 76 };
/** The height with one tag, and of the lane of each further tag. */
const oneTagHeight = 134;
const laneHeight = 18;
/** The height of the timeline. It has a lane for each tag that was near at the same time. */
export let trackHeight = oneTagHeight;

/** Draws the visible part of the timeline. */
export function drawTimeline(canvas, scroller, scale, colorSource) {
    presenceRows();
    trackHeight = oneTagHeight + (presence.lanes - 1) * laneHeight;
    canvas.style.setProperty('height', `${trackHeight}px`);
    scroller.style.setProperty('height', `${trackHeight + 12}px`);
    const width = scroller.clientWidth;
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(trackHeight * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(trackHeight * ratio);
        canvas.style.setProperty('width', `${width}px`);
    }
    const context = canvas.getContext('2d');
    const colors = readColors(colorSource);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, trackHeight);
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    if (scale.spans.length === 0) {
        context.fillStyle = colors.soft;
        context.textAlign = 'center';
        context.fillText(t('timeline.empty'), width / 2, trackHeight / 2);
        context.textAlign = 'left';
        return;
    }

    const left = scroller.scrollLeft - 12;
    const view = { left, width, from: scale.time(left - 60), until: scale.time(left + width + 60), x: (time) => scale.x(time) - left };
    const rows = visibleRows(view);
    drawGaps(context, scale, view, colors);
    drawAxis(context, scale, view, colors);
    drawSessions(context, view, colors);
    drawCallbacks(context, view, rows, colors);
    drawTags(context, view, colors);
    drawAirtime(context, view, rows, colors);
}

/** Returns the row nearest to an x coordinate, for a press on the timeline. */
export function rowAt(scale, x) {
    if (trace.rows.length === 0) return null;
    const time = scale.time(x - 12);
    const after = firstRowAt(time);
    const before = Math.max(0, after - 1);
    if (after >= trace.rows.length) return before;
    return Math.abs(trace.rows[after].t_us - time) < Math.abs(trace.rows[before].t_us + (trace.rows[before].airtime_us ?? 0) - time) ? after : before;
}

/** Returns the index of the first row at or after a time. */
function firstRowAt(time) {
    let low = 0;
    let high = trace.rows.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (trace.rows[middle].t_us < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

function visibleRows(view) {
    return trace.rows.slice(Math.max(0, firstRowAt(view.from) - 1), firstRowAt(view.until) + 1);
}

function readColors(source) {
    const of = (selector) => getComputedStyle(source.querySelector(selector)).color;
    return {
        technology: (name) => of(`[data-technology="${['nfc-a', 'nfc-b', 'nfc-f', 'nfc-v'].includes(name) ? name : 'nfc-a'}"]`),
        error: of('.color-error'), ink: of('.color-ink'), soft: of('.color-soft'), line: of('.color-line'), faint: of('.color-faint'), accent: of('.color-accent'), panel: of('.color-panel'),
    };
}

/** Draws the pauses with their lengths. */
function drawGaps(context, scale, view, colors) {
    context.fillStyle = colors.soft;
    for (let index = 1; index < scale.spans.length; index += 1) {
        const end = scale.placeOf(index) - view.left;
        if (end < -gapWidth || end - gapWidth > view.width) continue;
        context.strokeStyle = colors.line;
        context.setLineDash([2, 3]);
        context.beginPath();
        for (const x of [end - gapWidth + 6, end - 6]) {
            context.moveTo(Math.round(x) + 0.5, tracks.session);
            context.lineTo(Math.round(x) + 0.5, trackHeight - 4);
        }
        context.stroke();
        context.setLineDash([]);
        context.textAlign = 'center';
        context.fillText(duration(scale.spans[index].pause), end - gapWidth / 2, trackHeight - 26);
    }
    context.textAlign = 'left';
}

/** Draws a time axis in round steps, which restarts with each span. */
function drawAxis(context, scale, view, colors) {
    const step = [200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7].find((value) => value * scale.scale >= 64) ?? 3e7;
    context.fillStyle = colors.soft;
    context.strokeStyle = colors.line;
    context.beginPath();
    let lastLabel = -Infinity;
    for (let index = 0; index < scale.spans.length; index += 1) {
        const span = scale.spans[index];
        const place = scale.placeOf(index) - view.left;
        if (place > view.width || place + (span.end - span.start) * scale.scale < 0) continue;
        for (let time = Math.ceil(Math.max(span.start, view.from) / step) * step; time <= Math.min(span.end, view.until); time += step) {
            const x = Math.round(view.x(time)) + 0.5;
            context.moveTo(x, tracks.axis + 13);
            context.lineTo(x, tracks.axis + 17);
            if (x < lastLabel + 58) continue;
            context.fillText(`${(time / 1e6).toFixed(step < 1e3 ? 4 : step < 1e6 ? 3 : 0)}`, x + 2, tracks.axis + 7);
            lastLabel = x;
        }
    }
    context.stroke();
}

/** Draws sessions as bands, with the name of the app and how they ended. */
function drawSessions(context, view, colors) {
    for (const [index, session] of store.state.sessions.entries()) {
        const endTime = session.ended_us ?? Infinity;
        if (session.started_us > view.until || endTime < view.from) continue;
        const from = Math.max(-4, view.x(session.started_us));
        const until = Math.min(view.width + 4, endTime === Infinity ? view.width + 4 : view.x(endTime));
        const width = Math.max(3, until - from);
        context.fillStyle = colors.accent;
        context.globalAlpha = 0.16;
        box(context, from, tracks.session, width, 18, 5);
        context.globalAlpha = 1;
        context.fillRect(from, tracks.session, 2.5, 18);
        for (const { state, t_us: time } of session.states ?? []) drawState(context, view, session, state, time, colors);
        context.fillStyle = colors.ink;
        const name = store.app(session.app)?.name ?? session.app ?? '';
        const next = store.state.sessions[index + 1];
        const room = next ? Math.max(view.x(next.started_us), until) : Math.max(view.width, until);
        const x = Math.max(from, 0) + 8;
        const end = visibleText(session.end ?? '', 60);
        const label = (...words) => [visibleText(name, 40), ...words].filter(Boolean).join(' · ');
        const fits = (text) => context.measureText(text).width <= room - x - 4;
        // The code of the error, where its words have no room.
        clipped(context, [label(end), label(end.split(':')[0])].find(fits) ?? label(), x, tracks.session + 9.5, room - x - 4);
    }
}

function drawState(context, view, session, state, time, colors) {
    if (state !== 'connected') return;
    const next = (session.states ?? []).find((other) => other.t_us > time)?.t_us ?? session.ended_us ?? view.until;
    const from = view.x(time);
    context.fillStyle = colors.accent;
    context.globalAlpha = 0.5;
    context.fillRect(from, tracks.session + 15, Math.max(2, view.x(next) - from), 3);
    context.globalAlpha = 1;
}

/** Draws the callbacks. A name that does not fit before the next mark is below the marks, or is left out. */
function drawCallbacks(context, view, rows, colors) {
    const marks = rows.filter((row) => row.kind === 'callback' || row.kind === 'background' || row.kind === 'sheet');
    let lowerEnd = -Infinity;
    for (const [index, row] of marks.entries()) {
        const x = view.x(row.t_us);
        context.fillStyle = row.error ? colors.error : row.kind === 'callback' ? colors.ink : colors.soft;
        context.beginPath();
        context.arc(x, tracks.callback + 10, row.kind === 'callback' ? 3.5 : 2.5, 0, 7);
        context.fill();
        context.globalAlpha = 0.25;
        context.fillRect(Math.round(x), tracks.callback + 10, 1, trackHeight - tracks.callback - 14);
        context.globalAlpha = 1;
        if (row.kind !== 'callback' || x < 0) continue;
        const name = shortName(row.words);
        const width = context.measureText(name).width;
        const isLower = x + 7 + width > Math.min(view.width, index + 1 < marks.length ? view.x(marks[index + 1].t_us) - 6 : Infinity);
        const start = x + 7 + width > view.width ? x - 7 - width : x + 7;
        if (isLower && start < lowerEnd) continue;
        if (isLower) lowerEnd = start + width + 6;
        context.fillText(name, start, tracks.callback + (isLower ? 23.5 : 10.5));
    }
}

/** The name of a method without its parameter labels. */
function shortName(name) {
    const words = visibleText(name, 80);
    const label = /\(_:(\w+)/.exec(words);
    return label ? label[1] : words.split('(')[0];
}

/** Draws when each tag was near, based on the presence rows. */
function drawTags(context, view, colors) {
    const since = new Map();
    const draw = (row, until) => {
        const from = Math.max(-4, view.x(row.t_us));
        const end = Math.min(view.width + 4, until);
        if (end < 0 || from > view.width) return;
        const tag = store.tag(row.tag);
        const top = tracks.tag + presence.laneOf.get(row) * laneHeight;
        context.fillStyle = colors.technology(row.technology ?? tag?.technology);
        context.globalAlpha = 0.85;
        box(context, from, top + 4, Math.max(2, end - from), 3, 1.5);
        context.globalAlpha = 1;
        context.fillStyle = colors.soft;
        const next = presence.after.get(row);
        const x = Math.max(from, 0) + 2;
        clipped(context, visibleText(tag?.name ?? '', 40), x, top + 14, (next ? view.x(next.t_us) : Math.max(view.width, end)) - x - 6);
    };
    for (const row of presenceRows()) {
        const isNear = row.near ?? !since.has(row.tag);
        if (isNear) {
            if (!since.has(row.tag)) since.set(row.tag, row);
        } else if (since.has(row.tag)) {
            if (row.t_us >= view.from) draw(since.get(row.tag), view.x(row.t_us));
            since.delete(row.tag);
        }
        if (row.t_us > view.until && since.size === 0) break;
    }
    for (const row of since.values()) draw(row, view.width + 4);
}

const noPresence = () => ({ rows: trace.rows, seen: 0, list: [], lanes: 1, laneOf: new Map(), near: new Map(), last: [], after: new Map() });
let presence = noPresence();

/** Returns the presence rows, and puts each arrival in a lane that is free, after the one before. They are cached, so that a frame doesn't search all rows. */
function presenceRows() {
    if (presence.rows !== trace.rows || presence.seen > trace.rows.length) presence = noPresence();
    for (; presence.seen < trace.rows.length; presence.seen += 1) {
        const row = trace.rows[presence.seen];
        if (row.kind !== 'presence') continue;
        presence.list.push(row);
        if (row.near === false) {
            presence.near.delete(row.tag);
        } else if (!presence.near.has(row.tag)) {
            const taken = new Set(presence.near.values());
            let lane = 0;
            while (taken.has(lane)) lane += 1;
            presence.near.set(row.tag, lane);
            presence.laneOf.set(row, lane);
            if (presence.last[lane]) presence.after.set(presence.last[lane], row);
            presence.last[lane] = row;
            presence.lanes = Math.max(presence.lanes, lane + 1);
        }
    }
    return presence.list;
}

/** Draws exchanges as bars of their airtime: high for writes, low for unanswered searches, and in the error color for failures. */
function drawAirtime(context, view, rows, colors) {
    context.fillStyle = colors.line;
    context.fillRect(0, trackHeight - 6, view.width, 1);
    for (const row of rows) {
        if (row.kind !== 'exchange') continue;
        const x = view.x(row.t_us);
        const width = Math.max(1, view.x(row.t_us + (row.airtime_us ?? 0)) - x - 0.5);
        const isUnanswered = isUnansweredSearch(row);
        const height = row.write ? 26 : isUnanswered ? 6 : 18;
        context.fillStyle = isFailure(row) ? colors.error : isUnanswered ? colors.faint : colors.technology(row.technology);
        context.fillRect(x, trackHeight - 6 - height, width, height);
        const command = visibleText(row.words, 60).split(' → ')[0];
        if (width > 40 && !isUnanswered && context.measureText(command).width < width - 8) {
            context.fillStyle = colors.panel;
            context.fillText(command, x + 4, trackHeight - 6 - height / 2);
        }
    }
}

function box(context, x, y, width, height, radius) {
    context.beginPath();
    context.roundRect(x, y, width, height, Math.min(radius, width / 2));
    context.fill();
}

/** Draws a text, cut to the available width. */
function clipped(context, text, x, y, room) {
    if (room < 14 || !text) return;
    let shown = text;
    const written = () => (shown === text ? text : t('timeline.cut', { text: shown }));
    while (shown && context.measureText(written()).width > room) shown = shown.slice(0, Math.min(shown.length - 1, Math.floor(shown.length * 0.9)));
    if (shown) context.fillText(written(), x, y);
}
