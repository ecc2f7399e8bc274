// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';
import { keepSetting, setting } from './settings.js';

/** How far an arrow key moves a handle, in CSS pixels. */
const step = 16;

/**
 * Creates a handle that resizes a part of the page, with the pointer or the arrow keys. A double click restores the
 * usual size.
 *
 * @param {object} options
 * @param {string} options.name the custom property with the size, and the name of the setting
 * @param {string} options.label
 * @param {HTMLElement} options.part the part whose size changes
 * @param {HTMLElement} options.root the element that gets the custom property
 * @param {boolean} [options.isRow] whether the handle is above the part and changes its height; otherwise it is to the
 *   right of the part and changes its width
 * @param {number} options.least
 * @param {() => number} options.most
 */
export function makeSplitter({ name, label, part, root, isRow = false, least, most }) {
    const handle = h('div', {
        class: `splitter ${name}`, role: 'separator', tabindex: '0', 'aria-label': label, 'aria-orientation': isRow ? 'horizontal' : 'vertical',
        'aria-valuemin': String(least),
    });
    /** The size that the user has set; null for the usual one. The part gets it with the next layout. */
    let current = null;
    const size = () => current ?? (isRow ? part.offsetHeight : part.offsetWidth);
    const set = (pixels) => {
        const value = pixels === null ? null : Math.round(Math.max(least, Math.min(most(), pixels)));
        current = value;
        if (value === null) root.style.removeProperty(`--${name}`);
        else root.style.setProperty(`--${name}`, `${value}px`);
        handle.setAttribute('aria-valuemax', String(Math.round(most())));
        handle.setAttribute('aria-valuenow', String(value ?? size()));
    };
    const save = (pixels) => {
        set(pixels);
        keepSetting(name, current === null ? '' : String(current));
    };
    handle.addEventListener('pointerdown', (start) => {
        if (start.button !== 0) return;
        start.preventDefault();
        handle.focus();
        handle.setPointerCapture(start.pointerId);
        const before = size();
        const place = (event) => before + (isRow ? start.clientY - event.clientY : event.clientX - start.clientX);
        const move = (event) => set(place(event));
        handle.addEventListener('pointermove', move);
        handle.addEventListener('lostpointercapture', () => {
            handle.removeEventListener('pointermove', move);
            save(size());
        }, { once: true });
    });
    handle.addEventListener('keydown', (event) => {
        const by = { [isRow ? 'ArrowUp' : 'ArrowRight']: step, [isRow ? 'ArrowDown' : 'ArrowLeft']: -step }[event.key];
        if (!by) return;
        event.preventDefault();
        save(size() + by);
    });
    handle.addEventListener('dblclick', () => save(null));
    requestAnimationFrame(() => set(Number(setting(name)) || null));
    return handle;
}
