// SPDX-License-Identifier: Apache-2.0

const chunk = 2_000;

/**
 * The rows of the trace. New rows are appended; earlier rows are fetched in chunks.
 *
 * Listeners are called once per frame with the index of the first new row, or 0 if all rows are new.
 */
export class TraceRows {
    rows = [];
    /** The index of the row that the user has selected; -1 for none. */
    active = -1;
    /** The number of rows on the server. */
    total = 0;

    #fetch;
    #listeners = [];
    #firstNew = Infinity;
    #frame = null;
    #generation = 0;
    #held = [];
    #isLoading = false;

    /** @param {(from: number, count: number) => Promise<{rows: object[], total: number}>} fetch */
    constructor(fetch) {
        this.#fetch = fetch;
    }

    on(listener) {
        this.#listeners.push(listener);
    }

    get isComplete() {
        return !this.#isLoading;
    }

    /** Adds rows that the server has sent unasked. */
    append({ from, rows, reset }) {
        if (reset) this.#begin();
        if (this.#isLoading) {
            // Keep these rows until the earlier rows are loaded.
            this.#held.push({ from, rows });
            this.total = Math.max(this.total, from + rows.length);
        } else if (from > this.rows.length) {
            this.reload();
        } else {
            this.#put(from, rows);
        }
    }

    /** Loads all rows again. */
    async reload() {
        const generation = this.#begin();
        this.#isLoading = true;
        try {
            for (;;) {
                const part = await this.#fetch(this.rows.length, chunk);
                if (generation !== this.#generation) return;
                this.total = Math.max(this.total, part.total);
                this.#put(this.rows.length, part.rows);
                if (part.rows.length === 0 || this.rows.length >= part.total) break;
            }
        } catch {
            // The connection is lost. The rows are loaded again after the next state.
            return;
        }
        this.#isLoading = false;
        const held = this.#held;
        this.#held = [];
        for (const part of held) this.append(part);
    }

    #begin() {
        this.#generation += 1;
        this.#isLoading = false;
        this.#held = [];
        this.rows = [];
        this.active = -1;
        this.total = 0;
        this.#changed(0);
        return this.#generation;
    }

    #put(from, rows) {
        // Skip the rows that are already stored.
        const known = this.rows.length - from;
        if (known >= rows.length) return;
        const first = this.rows.length;
        for (let index = Math.max(known, 0); index < rows.length; index += 1) this.rows.push(rows[index]);
        this.total = Math.max(this.total, this.rows.length);
        this.#changed(first);
    }

    #changed(first) {
        this.#firstNew = Math.min(this.#firstNew, first);
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            const from = this.#firstNew;
            this.#firstNew = Infinity;
            for (const listener of this.#listeners) listener(from);
        });
    }
}
