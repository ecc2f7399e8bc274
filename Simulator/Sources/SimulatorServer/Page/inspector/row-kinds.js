// SPDX-License-Identifier: Apache-2.0

/** The commands that look for tags. A reader sends them all the time, and mostly nobody answers. */
const searches = /^(REQA|WUPA|ALL_REQ|SENS_REQ|REQB|WUPB|POLLING|INVENTORY)\b/;

/** Whether a row looked for tags and found none. */
export function isVainSearch(row) {
    return row.kind === 'exchange' && row.error === 'timeout' && searches.test(row.words ?? '');
}

/** Whether something went wrong in a row. That nobody answered a search is no failure. */
export function isFailure(row) {
    return Boolean(row.error) && !isVainSearch(row);
}

/** Whether a row of the field says that it is on. */
export function isFieldOn(row) {
    return row.on ?? !/\boff\b/.test(row.words ?? '');
}
