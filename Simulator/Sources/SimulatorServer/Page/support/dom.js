// SPDX-License-Identifier: Apache-2.0

/** Properties of an element that are set as properties. All others become attributes. */
const properties = new Set(['value', 'checked', 'disabled', 'hidden', 'selected', 'indeterminate', 'readOnly']);

/**
 * Creates an element. Text is set as text, never as markup.
 *
 * @param {string} tag the element's name
 * @param {object} [options] `class`, `text`, `on` (listeners), `data` (data attributes), properties and attributes;
 *   an attribute of null, undefined or false is left out
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

/** Replaces what an element contains, unless the signature of the content is the same as last time.
 *
 * The focus stays on the element with the same `data-key`.
 *
 * @param {HTMLElement} container
 * @param {unknown} signature a value that changes when the content does
 * @param {() => (Node|null|false)[]} build makes the content
 * @returns {boolean} whether the content was made
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
 * Makes the children of a container follow a list, and reuses the element of each key.
 *
 * @template T
 * @param {HTMLElement} container
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(element: HTMLElement, item: T) => void} update
 */
export function keyed(container, items, keyOf, create, update) {
    const old = new Map([...container.children].map((child) => [child.dataset.key, child]));
    let place = container.firstElementChild;
    for (const item of items) {
        const key = keyOf(item);
        let element = old.get(key);
        old.delete(key);
        if (!element) {
            element = create(item);
            element.dataset.key = key;
        }
        update(element, item);
        if (element === place) place = place.nextElementSibling;
        else container.insertBefore(element, place);
    }
    for (const element of old.values()) element.remove();
}

/** Sets the text of an element where it differs, so that live regions speak only when something changed. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

let lastID = 0;

/** Returns an identifier for `aria-labelledby` and its kin. */
export function newID(prefix = 'id') {
    lastID += 1;
    return `${prefix}-${lastID}`;
}

/** Whether the system asks for less motion. */
export const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');
