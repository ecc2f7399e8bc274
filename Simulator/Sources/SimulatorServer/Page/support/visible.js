// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';
import { t } from './texts.js';
import { openDialog } from './dialog.js';

// Characters that nobody sees, or that change how others look: controls, marks of direction, format characters, private
// use, unassigned ones, and what Unicode ignores by default. The same set as TextSafety's.
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const pictograph = /[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\u{FE0F}\u{20E3}]/u;

/** Returns how an invisible character is written. */
function escape(character) {
    if (character === '\n') return '\\n';
    if (character === '\r') return '\\r';
    if (character === '\t') return '\\t';
    return `\\u{${character.codePointAt(0).toString(16)}}`;
}

/** Splits a text into what can be shown and what has to be escaped. */
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

/** Returns a text from elsewhere with its invisible characters escaped. For labels and attributes. */
export function visibleText(text, limit = 200) {
    const { head, isCut } = cut(String(text ?? ''), limit);
    return pieces(head, false).map((piece) => piece.text).join('') + (isCut ? '…' : '');
}

/**
 * Returns an element with a text from elsewhere: a tag, an app, a file. Its direction does not reach the text around it, its
 * invisible characters are drawn as escapes, and a long text is cut.
 *
 * @param {string} text
 * @param {{limit?: number, lines?: boolean, more?: boolean}} [options] `limit`: how many characters are shown; `lines`: keeps
 *   line breaks; `more`: adds a button for the full text
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

/** Cuts between characters as people see them, so that no half of one is shown. */
function cut(text, limit) {
    if (text.length <= limit) return { head: text, isCut: false };
    let end = limit;
    // Never between the two halves of a surrogate pair.
    if (/[\uD800-\uDBFF]/.test(text[end - 1])) end -= 1;
    return { head: text.slice(0, end), isCut: true };
}
