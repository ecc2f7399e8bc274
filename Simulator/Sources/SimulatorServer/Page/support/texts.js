// SPDX-License-Identifier: Apache-2.0

/** The texts of the page. Translators change only texts.en.json. */
let texts = {};
const plural = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');

/** Loads the texts. Nothing is drawn before. */
export async function loadTexts() {
    const response = await fetch('texts.en.json');
    texts = await response.json();
}

/**
 * Returns a text.
 *
 * @param {string} key the key in texts.en.json
 * @param {Record<string, string|number>} [values] the values of placeholders in braces; if the text has the forms `one`
 *   and `other`, `n` chooses between them
 */
export function t(key, values = {}) {
    let text = texts[key];
    if (text === undefined) return key;
    if (typeof text === 'object') text = text[plural.select(values.n)] ?? text.other;
    return text.replace(/\{(\w+)\}/g, (place, name) => {
        const value = values[name];
        return value === undefined ? place : typeof value === 'number' ? numbers.format(value) : value;
    });
}

/** Returns whether a text exists. For codes of the server that the page may not know. */
export function hasText(key) {
    return key in texts;
}

/** Fills the elements that refer to a text. */
export function fillTexts(root) {
    for (const element of root.querySelectorAll('[data-text]')) element.textContent = t(element.dataset.text);
    for (const element of root.querySelectorAll('[data-label]')) element.setAttribute('aria-label', t(element.dataset.label));
}
