// SPDX-License-Identifier: Apache-2.0
import { isFailure, isUnansweredSearch } from './row-kinds.js';

/** The groups of rows that the user can show and hide. Unanswered searches are a separate group. */
export const groups = {
    exchanges: ['exchange'],
    tags: ['presence'],
    app: ['session', 'callback', 'log'],
    sheet: ['sheet'],
    background: ['background'],
    searches: ['carrier'],
};

/** The groups shown at first. Searches are hidden, because they are frequent and of little interest. */
export const usual = Object.keys(groups).filter((group) => group !== 'searches');

const groupOf = new Map(Object.entries(groups).flatMap(([group, kinds]) => kinds.map((kind) => [kind, group])));

/** The text of each row in lower case, created on the first search. */
const searchTexts = new WeakMap();

/** Decides which rows of the trace are shown. */
export class TraceFilter {
    shown = new Set(usual);
    errorsOnly = false;
    text = '';
    tag = null;

    /** Whether only those rows are hidden that are hidden at first. */
    get isUsual() {
        return !this.text && !this.tag && !this.errorsOnly && usual.every((group) => this.shown.has(group));
    }

    takes(row) {
        if (!this.shown.has(isUnansweredSearch(row) ? 'searches' : groupOf.get(row.kind) ?? 'exchanges')) return false;
        if (this.errorsOnly && !isFailure(row)) return false;
        if (this.tag && row.tag !== this.tag) return false;
        return !this.text || this.#matches(row);
    }

    /** Whether the row matches the search in words, names and bytes. Spaces between bytes don't count. */
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
