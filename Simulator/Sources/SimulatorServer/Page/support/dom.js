// SPDX-License-Identifier: Apache-2.0

/** Names that are set as DOM properties. All other names become attributes. */
const properties = new Set(['value', 'checked', 'disabled', 'hidden', 'selected', 'indeterminate', 'readOnly']);

/**
 * Creates an element. Text is set as text, never as markup.
 *
 * @param {string} tag the element's name
 * @param {object} [options] `class`, `text`, `on` (listeners), `data` (data attributes), properties and attributes;
 *   attributes that are null, undefined or false are omitted
 * @param {...(Node|string|null|undefined|false)} children nodes or texts
 * @returns {HTMLElement}
 */
export function h(tag, options = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
        if (value === null || value === undefined) continue;
        if (name === 'class') element.className = value;
        else if (name === 'text') element.textContent = value;
        else if (name === 'on') for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
        else if (name === 'data') Object.assign(element.dataset, value);
        else if (properties.has(name)) element[name] = value;
        else if (value !== false) element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

/** Replaces the contents of an element, unless their signature is unchanged.
 *
 * The element with the same `data-key` keeps the focus.
 *
 * @param {HTMLElement} container
 * @param {unknown} signature a value that changes whenever the contents do
 * @param {() => (Node|null|false)[]} build creates the contents
 * @returns {boolean} whether the contents were replaced
 */
export function renderInto(container, signature, build) {
    const text = JSON.stringify(signature ?? null);
    if (signatures.get(container) === text) return false;
    signatures.set(container, text);
    const focused = container.contains(document.activeElement) ? document.activeElement : null;
    const key = focused?.dataset.key;
    container.replaceChildren(...build().flat().filter((child) => child !== null && child !== undefined && child !== false));
    if (focused && !focused.isConnected) {
        const successor = key && container.querySelector(`[data-key="${CSS.escape(key)}"]`);
        const place = successor || container.closest('[tabindex="-1"]');
        place?.focus({ preventScroll: true });
    }
    return true;
}

const signatures = new WeakMap();

/**
 * Synchronizes the children of a container with a list. Items with the same key reuse their elements, which are updated
 * if the item is another object: the state keeps the objects of tags that have not changed.
 *
 * @template T
 * @param {HTMLElement} container
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(element: HTMLElement, item: T) => void} update
 */
export function keyed(container, items, keyOf, create, update) {
    const keys = new Set(items.map(keyOf));
    const old = new Map();
    // Those that are gone leave first, so that the others stay where they are.
    for (const child of [...container.children]) {
        if (keys.has(child.dataset.key)) old.set(child.dataset.key, child);
        else child.remove();
    }
    let place = container.firstElementChild;
    for (const item of items) {
        const key = keyOf(item);
        let element = old.get(key);
        if (!element) {
            element = create(item);
            element.dataset.key = key;
        }
        if (shownItems.get(element) !== item) update(element, item);
        shownItems.set(element, item);
        if (element === place) place = place.nextElementSibling;
        else container.insertBefore(element, place);
    }
}

const shownItems = new WeakMap();

/** Sets the text of an element if it differs, so that live regions are announced only on changes. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

let lastID = 0;

/** Returns a unique identifier, for attributes such as `aria-labelledby`. */
export function newID(prefix = 'id') {
    lastID += 1;
    return `${prefix}-${lastID}`;
}

/** Whether the user prefers reduced motion. */
export const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
