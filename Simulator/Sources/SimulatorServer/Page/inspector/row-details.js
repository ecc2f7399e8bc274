// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { asciiText, byteCount, clock, duration, hexBytes, hexNumber } from '../support/format.js';
import { hasText, t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { store } from '../session.js';
import { notify } from '../support/notices.js';
import { icon } from '../support/icons.js';
import { isFailure } from './row-kinds.js';

/** How many bytes of a frame are drawn. */
const longest = 1024;

/** Returns the details of a trace row, including its bytes. */
export function rowDetails(row) {
    if (!row) return [];
    const tag = store.tag(row.tag);
    const app = store.app(row.app);
    const facts = [
        [t('trace.time'), t('details.at', { time: clock(row.t_us) })],
        row.airtime_us ? [t('trace.airtime'), duration(row.airtime_us)] : null,
        tag ? [t('trace.tag'), foreign(tag.name, { limit: 60 })] : null,
        row.technology ? [t('details.technology'), technologyName(row.technology)] : null,
        app ? [t('details.app'), foreign(app.name, { limit: 60 })] : null,
        isFailure(row) ? [t('details.error'), hasText(`error.${row.error}`) ? t(`error.${row.error}`) : visibleText(row.error, 100)] : null,
    ].filter(Boolean);
    return [
        h('p', { class: 'details-words' }, h('span', { class: 'details-number', text: `${row.n}` }), foreign(row.words, { limit: 400, more: true })),
        row.detail ? h('p', { class: 'details-text' }, foreign(row.detail, { limit: 1_000, lines: true, more: true })) : null,
        h('dl', { class: 'facts' }, ...facts.map(([name, value]) => h('div', {}, h('dt', { text: name }), h('dd', {}, value)))),
        row.kind === 'exchange' ? h('div', { class: 'frames' },
            frame(t('details.request'), row.request, row.request_bits ?? row.bits, row.concealed),
            frame(t('details.response'), row.response, row.response_bits)) : null,
    ];
}

/** Returns the display name of a technology. */
export function technologyName(technology) {
    return hasText(`technology.${technology}`) ? t(`technology.${technology}`) : visibleText(technology, 20);
}

function frame(title, hex, bits, secrets = []) {
    const bytes = hexBytes(hex);
    if (hex === null || hex === undefined) {
        return h('div', { class: 'frame' }, h('p', { class: 'frame-title', text: title }), h('p', { class: 'frame-none', text: t('trace.no-answer') }));
    }
    const isShort = Number.isInteger(bits) && bits < 8 && bytes.length > 0;
    return h('div', { class: 'frame' },
        h('p', { class: 'frame-title' }, title, h('span', { class: 'frame-size', text: isShort ? t('details.bits', { n: bits + (bytes.length - 1) * 8 }) : byteCount(bytes.length) }),
            bytes.length > 0 && h('button', {
                class: 'icon-button small', type: 'button', 'aria-label': t('details.copy'),
                on: { click: () => copy(hex) },
            }, icon('copy'))),
        hexLines(bytes.slice(0, longest), secrets),
        secrets.length > 0 ? h('p', { class: 'frame-none', text: t('details.concealed') }) : null,
        bytes.length > longest ? h('p', { class: 'frame-none', text: t('details.cut', { n: longest }) }) : null);
}

async function copy(hex) {
    try {
        await navigator.clipboard.writeText(hex);
        notify(t('details.copied'));
    } catch {
        notify(t('details.copy-failed'), { kind: 'problem' });
    }
}

/** Draws 16 bytes per line: offset, bytes and text. Secrets are shown as dots. */
function hexLines(bytes, secrets) {
    const digits = bytes.map((byte) => hexNumber(byte, 2));
    for (const [from, until] of secrets) digits.fill('••', from, until);
    const lines = h('pre', { class: 'hex' });
    for (let start = 0; start < bytes.length; start += 16) {
        const part = bytes.slice(start, start + 16);
        lines.append(
            h('span', { class: 'hex-place', text: bytes.length > 16 ? `${hexNumber(start, 4)}  ` : '' }),
            h('span', { text: digits.slice(start, start + 16).join(' ').padEnd(bytes.length > 16 ? 47 : 0) }),
            h('span', { class: 'hex-text', text: `  ${asciiText(part)}` }),
            '\n');
    }
    return lines;
}

