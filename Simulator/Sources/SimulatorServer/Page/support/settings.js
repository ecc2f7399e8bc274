// SPDX-License-Identifier: Apache-2.0

/** The prefix of the page's settings. They are cookies, because all other storage depends on the port, which is new at each start. */
const prefix = 'nfc-simulator-';
const aYear = 31_536_000;

export function setting(name) {
    const start = `${prefix}${name}=`;
    return document.cookie.split('; ').find((cookie) => cookie.startsWith(start))?.slice(start.length);
}

export function keepSetting(name, value) {
    document.cookie = `${prefix}${name}=${value}; Max-Age=${aYear}; Path=/; SameSite=Strict`;
}

/**
 * Returns what this window has kept across a reload. It belongs to the window's entry in the history, and is lost with
 * that entry.
 */
export function kept(name) {
    return history.state?.[name];
}

export function keep(name, value) {
    history.replaceState({ ...history.state, [name]: value }, '');
}

/**
 * Keeps the scroll position of an element across a reload.
 *
 * @param {HTMLElement} element
 * @param {string} name the name of the kept value
 * @param {() => number|null} [position] returns the position to keep; null for none
 * @returns {() => void} restores the position; call this once the content has been drawn
 */
export function keepScroll(element, name, position = () => element.scrollTop) {
    let wanted = kept(name);
    let timer = null;
    element.addEventListener('scroll', () => {
        clearTimeout(timer);
        timer = setTimeout(() => keep(name, position()), 200);
    }, { passive: true });
    return () => {
        if (wanted === undefined || wanted === null) return;
        element.scrollTop = wanted;
        wanted = null;
    };
}
