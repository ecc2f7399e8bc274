// SPDX-License-Identifier: Apache-2.0

/** Longer pauses, in microseconds, are drawn as a gap of fixed width. */
const longPause = 250_000;
/** Longer pauses, in microseconds, separate the latest activity from earlier activity. */
const rest = 3_000_000;
/** The width of a gap, in CSS pixels. */
export const gapWidth = 44;
/** The time drawn before and after each activity, in microseconds. */
const margin = 4_000;

/**
 * Maps times to x coordinates. Tags act in milliseconds and people in seconds, so long pauses are shortened.
 */
export class TimeScale {
    /** @type {{start: number, end: number, pause: number}[]} spans of time with activity; `pause` precedes the span */
    spans = [];
    /** CSS pixels per microsecond. */
    scale = 0.004;

    #places = [];

    clear() {
        this.spans = [];
        this.#places = [];
    }

    /** Adds an event. Events must be in the order of time. */
    add(start, length) {
        const end = start + length + margin;
        const last = this.spans.at(-1);
        if (last && start - margin - last.end < longPause) {
            last.end = Math.max(last.end, end);
        } else {
            const from = Math.max(start - margin, last?.end ?? 0);
            this.spans.push({ start: from, end, pause: last ? from - last.end : 0 });
        }
        this.#places.length = Math.min(this.#places.length, this.spans.length);
    }

    setScale(scale) {
        this.scale = scale;
        this.#places = [];
    }

    /** The x coordinate at which a span begins. */
    placeOf(index) {
        for (let next = this.#places.length; next <= index; next += 1) {
            const before = this.spans[next - 1];
            this.#places.push(before ? this.#places[next - 1] + (before.end - before.start) * this.scale + gapWidth : 0);
        }
        return this.#places[index];
    }

    get width() {
        const last = this.spans.at(-1);
        return last ? this.placeOf(this.spans.length - 1) + (last.end - last.start) * this.scale : 0;
    }

    /** The x coordinate of a time. A time within a pause is mapped into its gap. */
    x(time) {
        const index = this.#spanAt(time);
        if (index < 0) return 0;
        const span = this.spans[index];
        const place = this.placeOf(index);
        if (time <= span.end) return place + (time - span.start) * this.scale;
        const next = this.spans[index + 1];
        const end = place + (span.end - span.start) * this.scale;
        return next ? end + gapWidth * Math.min(1, (time - span.end) / (next.start - span.end)) : end;
    }

    /** The time at an x coordinate. */
    time(x) {
        let low = 0;
        let high = this.spans.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.placeOf(middle) <= x) low = middle;
            else high = middle - 1;
        }
        const span = this.spans[low];
        return span ? Math.min(span.end, span.start + Math.max(0, x - this.placeOf(low)) / this.scale) : 0;
    }

    /** Scales the latest activity, since the last long pause, to a width. */
    fit(width) {
        let first = this.spans.length - 1;
        if (first < 0) return;
        while (first > 0 && this.spans[first].pause < rest) first -= 1;
        const gaps = this.spans.length - 1 - first;
        const length = this.spans.slice(first).reduce((sum, span) => sum + span.end - span.start, 0);
        this.setScale(Math.max(0.000_2, Math.min(0.03, (width - gaps * gapWidth) / length)));
    }

    #spanAt(time) {
        let low = 0;
        let high = this.spans.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.spans[middle].start <= time) low = middle + 1;
            else high = middle;
        }
        return low - 1;
    }
}
