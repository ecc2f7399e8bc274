// SPDX-License-Identifier: Apache-2.0
import { isFailure, isVainSearch } from './row-kinds.js';

/** The groups of kinds that a person can show and hide. Searches are also exchanges that nobody answered. */
export const groups = {
    exchanges: ['exchange'],
    tags: ['presence'],
    app: ['session', 'callback', 'log'],
    sheet: ['sheet'],
    background: ['background'],
    searches: ['carrier'],
};

/** What is shown at first: searches are many, and say little. */
export const usual = Object.keys(groups).filter((group) => group !== 'searches');

const groupOf = new Map(Object.entries(groups).flatMap(([group, kinds]) => kinds.map((kind) => [kind, group])));

/** The text of each row in small letters, made when a search first asks for it. */
const searchTexts = new WeakMap();

/** Which rows of the trace are shown. */
export class TraceFilter {
    shown = new Set(usual);
    errorsOnly = false;
    text = '';
    tag = null;

    takes(row) {
        if (!this.shown.has(isVainSearch(row) ? 'searches' : groupOf.get(row.kind) ?? 'exchanges')) return false;
        if (this.errorsOnly && !isFailure(row)) return false;
        if (this.tag && row.tag !== this.tag) return false;
        return !this.text || this.#matches(row);
    }

    /** A search looks at words, names and bytes; spaces between bytes don't count. */
    #matches(row) {
        let text = searchTexts.get(row);
        if (text === undefined) {
            text = [row.words, row.detail, row.error, row.app, row.technology, row.request, row.response].filter(Boolean).join('\n').toLowerCase();
            searchTexts.set(row, text);
        }
        if (text.includes(this.text)) return true;
        return /^[\da-f\s]+$/.test(this.text) && text.includes(this.text.replace(/\s/g, ''));
    }
}
