// SPDX-License-Identifier: Apache-2.0

/** The commands that search for tags. A reader sends them constantly, usually without an answer. */
const searches = /^(REQA|WUPA|ALL_REQ|SENS_REQ|REQB|WUPB|POLLING|INVENTORY)\b/;

/** Whether a row is a search without an answer. */
export function isUnansweredSearch(row) {
    return row.kind === 'exchange' && row.error === 'timeout' && searches.test(row.words ?? '');
}

/** Whether an error occurred in a row. A search without an answer is not an error. */
export function isFailure(row) {
    return Boolean(row.error) && !isUnansweredSearch(row);
}

/** Whether a carrier row turns the field on. */
export function isFieldOn(row) {
    return row.on ?? !/\boff\b/.test(row.words ?? '');
}
