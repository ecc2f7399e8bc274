// SPDX-License-Identifier: Apache-2.0

/** The commands that search for tags. A reader sends them constantly, usually without an answer. */
const searches = /^(REQA|WUPA|ALL_REQ|SENS_REQ|REQB|WUPB|POLLING|INVENTORY)\b/;

/** Whether a row is a search without an answer. */
export function isUnansweredSearch(row) {
    return row.kind === 'exchange' && row.error === 'timeout' && searches.test(row.words ?? '');
}

/** The commands that a tag obeys without an answer (ISO/IEC 14443-3, 15693-3, NFC Forum T2T). */
const silences = /^(HLTA|STAY QUIET|SECTOR SELECT \S+, second packet)\b/;

/**
 * Whether an error occurred in a row. A search without an answer is not an error, nor is silence after a command that
 * tags obey without an answer.
 */
export function isFailure(row) {
    return Boolean(row.error) && !isUnansweredSearch(row) && !(row.error === 'timeout' && silences.test(row.words ?? ''));
}

/** Whether a carrier row turns the field on. */
export function isFieldOn(row) {
    return row.on ?? !/\boff\b/.test(row.words ?? '');
}

/** What a row is folded with: the steps of an anticollision, or successive writes. Null for a row that is always shown. */
export function foldOf(row) {
    if (row.kind !== 'exchange' || isFailure(row)) return null;
    if (/^(ANTICOLLISION|SELECT, level|SLOT MARKER)/.test(row.words ?? '')) return 'anticollision';
    return row.write ? 'write' : null;
}
