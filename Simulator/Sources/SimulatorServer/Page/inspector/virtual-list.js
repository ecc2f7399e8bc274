// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';

/** How many rows are drawn above and below the visible ones. */
const margin = 12;

/**
 * A grid that draws only the visible rows, so that it can be very long. All rows have the same height.
 *
 * One row is active. The arrow keys, Page Up, Page Down, Home and End move it.
 */
export class VirtualList {
    element;
    active = -1;

    #count = 0;
    #rowHeight;
    #draw;
    #onActive;
    #space;
    #rows = new Map();
    #isQueued = false;
    #id;

    /**
     * @param {object} options
     * @param {string} options.id the prefix of the rows' identifiers
     * @param {string} options.label
     * @param {number} options.rowHeight in CSS pixels
     * @param {HTMLElement} options.head the row with the column names
     * @param {(row: HTMLElement, index: number) => void} options.draw fills a row
     * @param {(index: number) => void} options.onActive called when another row becomes active
     */
    constructor({ id, label, rowHeight, head, draw, onActive }) {
        this.#id = id;
        this.#rowHeight = rowHeight;
        this.#draw = draw;
        this.#onActive = onActive;
        this.#space = h('div', { class: 'virtual-space', role: 'rowgroup' });
        this.element = h('div', { class: 'virtual', role: 'grid', tabindex: '0', 'aria-label': label, 'aria-rowcount': '1' },
            h('div', { class: 'virtual-head', role: 'rowgroup' }, head), this.#space);
        this.element.addEventListener('scroll', () => this.#queue(), { passive: true });
        this.element.addEventListener('keydown', (event) => this.#key(event));
        this.#space.addEventListener('click', (event) => {
            const row = event.target.closest('[role=row]');
            if (row) this.activate(Number(row.dataset.index));
        });
        new ResizeObserver(() => this.#queue()).observe(this.element);
    }

    /** Whether the last row is visible. New rows are then scrolled into view. */
    get isAtEnd() {
        const { scrollTop, clientHeight, scrollHeight } = this.element;
        return scrollHeight - scrollTop - clientHeight < this.#rowHeight * 1.5;
    }

    /** Sets the number of rows. `isNew`: whether all rows have new content. */
    setCount(count, isNew) {
        const follows = this.isAtEnd;
        this.#count = count;
        if (this.active >= count) this.active = -1;
        this.element.setAttribute('aria-rowcount', String(count + 1));
        this.#space.style.setProperty('height', `${count * this.#rowHeight}px`);
        if (isNew) {
            for (const row of this.#rows.values()) row.remove();
            this.#rows.clear();
        }
        if (follows) this.scrollToEnd();
        this.#queue();
    }

    scrollToEnd() {
        this.element.scrollTop = this.element.scrollHeight;
    }

    /** Makes a row active, and scrolls it into view. */
    activate(index, isCentered = false) {
        if (index < 0 || index >= this.#count) return;
        this.active = index;
        const head = this.element.firstElementChild.offsetHeight;
        const top = index * this.#rowHeight;
        const height = this.element.clientHeight - head;
        const { scrollTop } = this.element;
        if (isCentered) this.element.scrollTop = top - height / 2;
        else if (top < scrollTop) this.element.scrollTop = top;
        else if (top + this.#rowHeight > scrollTop + height) this.element.scrollTop = top + this.#rowHeight - height;
        this.#render();
        this.#onActive(index);
    }

    /** Draws the visible rows again. */
    refresh() {
        for (const [index, row] of this.#rows) this.#draw(row, index);
    }

    #queue() {
        if (this.#isQueued) return;
        this.#isQueued = true;
        requestAnimationFrame(() => {
            this.#isQueued = false;
            this.#render();
        });
    }

    #render() {
        const height = this.element.clientHeight;
        if (height === 0) return;
        const first = Math.max(0, Math.floor(this.element.scrollTop / this.#rowHeight) - margin);
        const end = Math.min(this.#count, Math.ceil((this.element.scrollTop + height) / this.#rowHeight) + margin);
        const wanted = new Set();
        for (let index = first; index < end; index += 1) wanted.add(index);
        // Keep the active row in the document, because the grid refers to it.
        if (this.active >= 0) wanted.add(this.active);

        const free = [];
        for (const [index, row] of this.#rows) {
            if (wanted.has(index)) continue;
            this.#rows.delete(index);
            free.push(row);
        }
        for (const index of wanted) {
            let row = this.#rows.get(index);
            if (!row) {
                row = free.pop() ?? h('div', { class: 'virtual-row', role: 'row' });
                row.dataset.index = String(index);
                row.id = `${this.#id}-${index}`;
                row.setAttribute('aria-rowindex', String(index + 2));
                row.style.setProperty('transform', `translateY(${index * this.#rowHeight}px)`);
                this.#draw(row, index);
                this.#rows.set(index, row);
                if (!row.isConnected) this.#space.append(row);
            }
            row.setAttribute('aria-selected', String(index === this.active));
        }
        for (const row of free) row.remove();
        if (this.active >= 0) this.element.setAttribute('aria-activedescendant', `${this.#id}-${this.active}`);
        else this.element.removeAttribute('aria-activedescendant');
    }

    #key(event) {
        if (event.target !== this.element || event.altKey || event.ctrlKey || event.metaKey) return;
        const page = Math.max(1, Math.floor(this.element.clientHeight / this.#rowHeight) - 2);
        const last = this.#count - 1;
        const now = this.active;
        const target = {
            ArrowDown: now < 0 ? 0 : now + 1,
            ArrowUp: now < 0 ? last : now - 1,
            PageDown: Math.max(now, 0) + page,
            PageUp: now - page,
            Home: 0,
            End: last,
        }[event.key];
        if (target === undefined) return;
        event.preventDefault();
        this.activate(Math.max(0, Math.min(last, target)));
    }
}
