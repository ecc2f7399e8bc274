// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { asciiText, byteCount, hexBytes, hexNumber } from '../support/format.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { makeTagChoice } from './tag-choice.js';
import { makeTagPanel } from './tag-panel.js';

/** How many rows of a region are drawn at first. */
const firstRows = 128;
/** The minimum number of equal rows that are drawn as one. */
const fewestEqual = 4;

/** Creates the panel with the map of a tag's memory. */
export function makeMemoryPanel() {
    const panel = makeTagPanel('memory', t('inspector.memory'), draw, () => h('p', { class: 'empty', text: t('memory.no-tag') }));
    return {
        element: h('div', { class: 'panel memory' }, h('div', { class: 'panel-head' }, makeTagChoice(), legend()), panel.body),
        setShown: panel.setShown,
    };
}

function legend() {
    return h('p', { class: 'legend' }, h('mark', { class: 'changed', text: '00' }), ' ', t('memory.changed'));
}

function draw(result, tag, body) {
    const regions = result.regions ?? result;
    if (!Array.isArray(regions) || regions.length === 0) {
        body.replaceChildren(h('p', { class: 'empty', text: t('memory.none') }));
        return;
    }
    const place = body.scrollTop;
    body.replaceChildren(overview(regions, body), ...regions.map((region, index) => drawRegion(region, index)));
    body.scrollTop = place;
}

/** Creates a strip of all regions, with widths in proportion to their lengths. A press scrolls to the region. */
function overview(regions, body) {
    const total = regions.reduce((sum, region) => sum + region.length, 0);
    return h('div', { class: 'memory-strip', role: 'group', 'aria-label': t('memory.overview') }, ...regions.map((region, index) => {
        const part = h('button', {
            class: `strip-part tone-${toneOf(region)}${region.changed?.length ? ' has-changes' : ''}`, type: 'button',
            title: visibleText(region.name, 60), 'aria-label': t('memory.go-to', { name: visibleText(region.name, 60), size: byteCount(region.length) }),
            on: { click: () => body.querySelector(`#region-${index}`)?.scrollIntoView({ block: 'start' }) },
        }, h('span', { class: 'strip-name', text: visibleText(region.name, 40) }));
        part.style.setProperty('flex-grow', String(Math.max(region.length, total / 60)));
        return part;
    }));
}

/** The tone of a region, which depends on its access conditions. */
function toneOf(region) {
    const access = region.access ?? '';
    if (/password|key/.test(access)) return 'secret';
    if (/once|down|up/.test(access)) return 'once';
    if (/read-only/.test(access)) return 'fixed';
    return 'open';
}

function drawRegion(region, index) {
    const bytes = hexBytes(region.bytes);
    const changed = new Set(region.changed ?? []);
    const unit = Math.max(1, region.unit ?? 4);
    const rowLength = unit <= 16 ? unit : 16;
    const count = Math.ceil(bytes.length / rowLength);
    const rows = h('tbody');
    const fill = (from, until) => {
        for (let row = from; row < until;) {
            const length = equalRows(bytes, changed, row, until, rowLength);
            rows.append(length >= fewestEqual ? drawEqualRows(region, bytes, row, length, rowLength) : drawRow(region, bytes, changed, row, rowLength));
            row += length >= fewestEqual ? length : 1;
        }
    };
    fill(0, Math.min(count, firstRows));
    const section = h('section', { class: `region tone-${toneOf(region)}`, id: `region-${index}`, 'aria-labelledby': `region-name-${index}` },
        h('div', { class: 'region-head' },
            h('h3', { id: `region-name-${index}` }, foreign(region.name, { limit: 80 })),
            h('p', { class: 'region-facts' }, foreign(region.access, { limit: 80 }), ` · ${byteCount(region.length)}`,
                changed.size > 0 ? h('span', { class: 'chip accent', text: t('memory.n-changed', { n: changed.size }) }) : null)),
        h('table', { class: 'bytes' },
            h('caption', { class: 'hidden-text' }, foreign(region.name, { limit: 80 })),
            h('thead', { class: 'hidden-text' }, h('tr', {}, ...['place', 'bytes', 'text'].map((key) => h('th', { scope: 'col', text: t(`memory.${key}`) })))),
            rows));
    if (count > firstRows) {
        const more = h('button', { class: 'button small', type: 'button', text: t('memory.all-rows', { n: count - firstRows }) });
        more.addEventListener('click', () => {
            fill(firstRows, count);
            more.remove();
        });
        section.append(more);
    }
    return section;
}

/** Counts the rows from `first` on that are unchanged and consist of the same byte. */
function equalRows(bytes, changed, first, until, length) {
    const value = bytes[first * length];
    let row = first;
    for (; row < until; row += 1) {
        for (let index = row * length; index < (row + 1) * length; index += 1) {
            if (bytes[index] !== value || changed.has(index)) return row - first;
        }
    }
    return row - first;
}

/** Draws several equal rows as one. */
function drawEqualRows(region, bytes, row, count, length) {
    const place = (index) => hexNumber(Math.floor((region.offset + index * length) / (region.unit || 1)), 2);
    return h('tr', { class: 'bytes-equal' },
        h('th', { scope: 'row', class: 'bytes-place', text: `${place(row)}–${place(row + count - 1)}` }),
        h('td', { class: 'bytes-hex', colspan: '2', text: t('memory.equal-rows', { n: count * length, value: hexNumber(bytes[row * length], 2) }) }));
}

function drawRow(region, bytes, changed, row, length) {
    const start = row * length;
    const part = bytes.slice(start, start + length);
    const offset = region.offset + start;
    const cell = h('td', { class: 'bytes-hex' });
    let plain = '';
    part.forEach((byte, index) => {
        const digits = hexNumber(byte, 2);
        if (changed.has(start + index)) {
            cell.append(plain, h('mark', { class: 'changed', text: digits }), ' ');
            plain = '';
        } else {
            plain += `${digits} `;
        }
    });
    cell.append(plain.trimEnd());
    return h('tr', {}, h('th', { scope: 'row', class: 'bytes-place', text: hexNumber(Math.floor(offset / (region.unit || 1)), 2) }), cell,
        h('td', { class: 'bytes-text', text: asciiText(part) }));
}
