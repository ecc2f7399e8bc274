// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';
import { t } from './texts.js';
import { openDialog } from './dialog.js';

// Characters that are invisible or change how others look: controls, direction marks, format characters, private use,
// unassigned characters, and Default_Ignorable_Code_Point. TextSafety uses the same set.
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const pictograph = /[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\u{FE0F}\u{20E3}]/u;

/** Returns the escape of an invisible character. */
function escape(character) {
    if (character === '\n') return '\\n';
    if (character === '\r') return '\\r';
    if (character === '\t') return '\\t';
    return `\\u{${character.codePointAt(0).toString(16)}}`;
}

/** Splits a text into visible parts and escapes. */
function pieces(text, keepsLines) {
    const result = [];
    let plain = '';
    let last = '';
    for (const character of text) {
        const joins = (character === '\u{200D}' || character === '\u{FE0F}') && pictograph.test(last);
        if (!invisible.test(character) || joins || (keepsLines && character === '\n')) {
            plain += character;
        } else {
            if (plain) result.push({ text: plain });
            plain = '';
            result.push({ text: escape(character), isEscape: true });
        }
        last = character;
    }
    if (plain) result.push({ text: plain });
    return result;
}

/** Escapes the invisible characters in untrusted text, for labels and attributes. */
export function visibleText(text, limit = 200) {
    const { head, isCut } = cut(String(text ?? ''), limit);
    return pieces(head, false).map((piece) => piece.text).join('') + (isCut ? '…' : '');
}

/**
 * Returns an element for untrusted text from a tag, app or file. Its writing direction is isolated, invisible
 * characters are shown as escapes, and long texts are cut.
 *
 * @param {string} text
 * @param {{limit?: number, lines?: boolean, more?: boolean}} [options] `limit`: the maximum number of characters;
 *   `lines`: keeps line breaks; `more`: adds a button for the full text
 */
export function foreign(text, { limit = 200, lines = false, more = false } = {}) {
    const { head, isCut } = cut(String(text ?? ''), limit);
    const element = h('bdi', { class: lines ? 'foreign lines' : 'foreign' });
    for (const piece of pieces(head, lines)) {
        element.append(piece.isEscape ? h('span', { class: 'escape', text: piece.text }) : piece.text);
    }
    if (!isCut) return element;
    element.append('…');
    if (!more) return element;
    return h('span', {}, element, ' ', h('button', {
        class: 'link', type: 'button', text: t('text.more', { n: text.length }), on: { click: () => showAll(text) },
    }));
}

function showAll(text) {
    openDialog({
        title: t('text.full'),
        body: [h('div', { class: 'full-text', tabindex: '0', role: 'region', 'aria-label': t('text.full') },
            foreign(text, { limit: 200_000, lines: true }))],
        isWide: true,
    });
}

/** Cuts a text to a maximum length. */
function cut(text, limit) {
    if (text.length <= limit) return { head: text, isCut: false };
    let end = limit;
    // Don't split a surrogate pair.
    if (/[\uD800-\uDBFF]/.test(text[end - 1])) end -= 1;
    return { head: text.slice(0, end), isCut: true };
}
