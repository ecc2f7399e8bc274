// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';

/** How many rows are drawn above and below the visible ones. */
const margin = 12;

/**
 * A grid that draws only the visible rows, so that it can be very long. All rows have the same height, unless they wrap.
 *
 * One row is active. The arrow keys, Page Up, Page Down, Home and End move it.
 */
export class VirtualList {
    element;
    active = -1;

    #count = 0;
    #rowHeight;
    #wraps = false;
    /** The top of each row, and the end of the last one. A row that wraps counts as one line until it is drawn. */
    #tops = [0];
    #draw;
    #onActive;
    #space;
    #rows = new Map();
    #isQueued = false;
    #id;
    /** The height before the last resize. */
    #height = 0;

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
        new ResizeObserver(() => this.#resized()).observe(this.element);
    }

    /** Whether the last row is visible, or was before the grid became lower. New rows are then scrolled into view. */
    get isAtEnd() {
        const { scrollTop, clientHeight, scrollHeight } = this.element;
        return scrollHeight - scrollTop - Math.max(clientHeight, this.#height) < this.#rowHeight * 1.5;
    }

    #resized() {
        const follows = this.isAtEnd;
        this.#height = this.element.clientHeight;
        if (follows) this.scrollToEnd();
        this.#queue();
    }

    /** Sets the number of rows. `isNew`: whether all rows have new content. */
    setCount(count, isNew) {
        const follows = this.isAtEnd;
        this.#count = count;
        if (this.active >= count) this.active = -1;
        this.element.setAttribute('aria-rowcount', String(count + 1));
        this.#tops.length = isNew ? 1 : Math.min(this.#tops.length, count + 1);
        while (this.#tops.length <= count) this.#tops.push(this.#tops.at(-1) + this.#rowHeight);
        this.#space.style.setProperty('height', `${this.#tops[count]}px`);
        if (isNew) {
            for (const row of this.#rows.values()) row.remove();
            this.#rows.clear();
        }
        if (follows) this.scrollToEnd();
        this.#queue();
    }

    /** Sets whether rows are as high as their text needs. The first visible row, or else the end, stays in view. */
    setWraps(value) {
        const first = this.isAtEnd ? this.#count : this.#indexAt(this.element.scrollTop);
        this.#wraps = value;
        this.element.classList.toggle('wraps', value);
        this.setCount(this.#count, true);
        this.element.scrollTop = this.#tops[first];
    }

    scrollToEnd() {
        this.element.scrollTop = this.element.scrollHeight;
    }

    /** Makes a row active, and scrolls it into view. */
    activate(index, isCentered = false) {
        if (index < 0 || index >= this.#count) return;
        this.active = index;
        // This may change the height of the grid. The active row stays in view then, not the end.
        this.#onActive(index);
        this.#height = this.element.clientHeight;
        this.#reveal(isCentered);
        this.#render();
        // A row that wraps may have become higher.
        this.#reveal();
    }

    #reveal(isCentered = false) {
        const [top, end] = this.#tops.slice(this.active, this.active + 2);
        const height = this.element.clientHeight - this.element.firstElementChild.offsetHeight;
        const { scrollTop } = this.element;
        if (isCentered) this.element.scrollTop = top - height / 2;
        else if (top < scrollTop || end - top > height) this.element.scrollTop = top;
        else if (end > scrollTop + height) this.element.scrollTop = end - height;
    }

    /** Draws the visible rows again. */
    refresh() {
        for (const [index, row] of this.#rows) this.#draw(row, index);
        this.#queue();
    }

    /** The row at a distance from the top. */
    #indexAt(distance) {
        let [low, high] = [0, Math.max(this.#count - 1, 0)];
        while (low < high) {
            const middle = Math.ceil((low + high) / 2);
            if (this.#tops[middle] <= distance) low = middle;
            else high = middle - 1;
        }
        return low;
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
        const first = Math.max(0, this.#indexAt(this.element.scrollTop) - margin);
        const end = Math.min(this.#count, this.#indexAt(this.element.scrollTop + height) + 1 + margin);
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
                this.#place(row, index);
                this.#draw(row, index);
                this.#rows.set(index, row);
                if (!row.isConnected) this.#space.append(row);
            }
            row.setAttribute('aria-selected', String(index === this.active));
        }
        for (const row of free) row.remove();
        if (this.#wraps) this.#measure();
        if (this.active >= 0) this.element.setAttribute('aria-activedescendant', `${this.#id}-${this.active}`);
        else this.element.removeAttribute('aria-activedescendant');
    }

    #place(row, index) {
        row.style.setProperty('transform', `translateY(${this.#tops[index]}px)`);
    }

    /** Makes room for the heights of the drawn rows. The active row, or else the first visible row, stays where it is. */
    #measure() {
        const { scrollTop, clientHeight } = this.element;
        const tops = this.#tops;
        const heights = new Map([...this.#rows].map(([index, row]) => [index, row.offsetHeight]));
        if ([...heights].every(([index, height]) => tops[index + 1] - tops[index] === height)) return;
        const follows = this.isAtEnd;
        const isInView = this.active >= 0 && tops[this.active] >= scrollTop && tops[this.active] < scrollTop + clientHeight;
        const fixed = isInView ? this.active : this.#indexAt(scrollTop);
        const offset = scrollTop - tops[fixed];
        let before = 0;
        for (let index = 0; index < this.#count; index += 1) {
            const height = heights.get(index) ?? tops[index + 1] - before;
            before = tops[index + 1];
            tops[index + 1] = tops[index] + height;
        }
        this.#space.style.setProperty('height', `${tops[this.#count]}px`);
        for (const [index, row] of this.#rows) this.#place(row, index);
        if (follows) this.scrollToEnd();
        else this.element.scrollTop = tops[fixed] + offset;
    }

    #key(event) {
        if (event.target !== this.element || event.altKey || event.ctrlKey || event.metaKey) return;
        const last = this.#count - 1;
        const now = this.active;
        const top = this.#tops[Math.max(now, 0)];
        const page = this.element.clientHeight - 2 * this.#rowHeight;
        const target = {
            ArrowDown: now < 0 ? 0 : now + 1,
            ArrowUp: now < 0 ? last : now - 1,
            PageDown: Math.max(now + 1, this.#indexAt(top + page)),
            PageUp: Math.min(now - 1, this.#indexAt(top - page)),
            Home: 0,
            End: last,
        }[event.key];
        if (target === undefined) return;
        event.preventDefault();
        this.activate(Math.max(0, Math.min(last, target)));
    }
}
