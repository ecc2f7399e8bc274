// SPDX-License-Identifier: Apache-2.0
import { t } from './texts.js';

const decimals = [0, 1, 2, 3].map((digits) => new Intl.NumberFormat('en', {
    minimumFractionDigits: digits, maximumFractionDigits: digits,
}));

/** Formats a time of the simulator's clock in seconds, such as "12.345". */
export function clock(us) {
    return `${decimals[3].format(us / 1e6)}`;
}

/** Formats a duration in a suitable unit. */
export function duration(us) {
    if (us < 1000) return t('unit.us', { value: decimals[0].format(us) });
    if (us < 100_000) return t('unit.ms', { value: decimals[1].format(us / 1000) });
    if (us < 1_000_000) return t('unit.ms', { value: decimals[0].format(us / 1000) });
    return t('unit.s', { value: decimals[2].format(us / 1e6) });
}

/** Formats how long ago a time was, like a phone. `ms` is the time since 1970. */
export function ago(ms) {
    const minutes = Math.floor((Date.now() - ms) / 60_000);
    if (minutes < 1) return t('ago.now');
    if (minutes < 60) return t('ago.minutes', { n: minutes });
    if (minutes < 24 * 60) return t('ago.hours', { n: Math.floor(minutes / 60) });
    return t('ago.days', { n: Math.floor(minutes / (24 * 60)) });
}

/** Formats a number of bytes with its unit. */
export function byteCount(count) {
    return t('unit.bytes', { n: count });
}

/** Inserts spaces between the bytes of a hexadecimal text. */
export function spacedHex(hex, limit = Infinity) {
    const pairs = (hex ?? '').match(/../g) ?? [];
    return pairs.length > limit ? `${pairs.slice(0, limit).join(' ')} …` : pairs.join(' ');
}

/** Replaces ranges of bytes in a hexadecimal text, such as passwords and keys, by dots. */
export function concealed(hex, ranges = []) {
    const pairs = (hex ?? '').match(/../g) ?? [];
    for (const [from, until] of ranges) pairs.fill('••', from, until);
    return pairs.join('');
}

/** Returns the bytes of a hexadecimal text. */
export function hexBytes(hex) {
    return ((hex ?? '').match(/../g) ?? []).map((pair) => parseInt(pair, 16));
}

/** Returns the bytes as printable ASCII, with dots for all other bytes. */
export function asciiText(bytes) {
    return bytes.map((byte) => (byte >= 0x20 && byte < 0x7F ? String.fromCharCode(byte) : '·')).join('');
}

/** Formats a number as hexadecimal digits. */
export function hexNumber(number, digits) {
    return number.toString(16).toUpperCase().padStart(digits, '0');
}
