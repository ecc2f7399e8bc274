// SPDX-License-Identifier: Apache-2.0
import { h, newID } from './dom.js';
import { icon } from './icons.js';
import { t } from './texts.js';

/**
 * Opens a dialog. The browser traps the focus, closes the dialog on Escape, and restores the focus.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {Node[]} options.body
 * @param {{text: string, primary?: boolean, run?: () => (boolean|void|Promise<boolean|void>)}[]} [options.buttons] `run`
 *   returns false to keep the dialog open
 * @param {boolean} [options.isWide]
 * @returns {{element: HTMLDialogElement, close: () => void}}
 */
export function openDialog({ title, body, buttons = [], isWide = false }) {
    const id = newID('dialog');
    const close = () => element.close();
    const form = h('form', { class: 'dialog-body', method: 'dialog', novalidate: true }, ...body);
    const primary = buttons.find((button) => button.primary);
    form.addEventListener('submit', (event) => {
        event.preventDefault();
        if (primary) perform(primary, close);
    });
    const footer = buttons.length > 0 && h('div', { class: 'dialog-foot' }, ...buttons.map((button) => h('button', {
        class: button.primary ? 'button primary' : 'button',
        type: 'button',
        text: button.text,
        on: { click: () => perform(button, close) },
    })));
    const element = h('dialog', { class: isWide ? 'dialog wide' : 'dialog', 'aria-labelledby': id },
        h('div', { class: 'dialog-head' },
            h('h2', { id, text: title }),
            h('button', { class: 'icon-button', type: 'button', 'aria-label': t('dialog.close'), on: { click: close } }, icon('close'))),
        form,
        footer);
    element.addEventListener('close', () => element.remove());
    // A press on the backdrop closes the dialog, but not one that began inside, such as a text selection.
    element.addEventListener('pointerdown', (event) => {
        if (event.target === element) close();
    });
    document.body.append(element);
    element.showModal();
    // Focus the first field, not the close button.
    (form.querySelector('[autofocus], input:not([type=file]), select, textarea') ?? element.querySelector('.dialog-foot .primary'))?.focus();
    return { element, close };
}

async function perform(button, close) {
    const result = await button.run?.();
    if (result !== false) close();
}

/** Marks the field that a problem names by its label, or the only field. Without a problem, marks none. */
export function markNamed(element, problem) {
    const words = problem.toLowerCase();
    const labels = [...element.querySelectorAll('.label')];
    const named = labels.filter((label) => words.includes(label.textContent.toLowerCase())).sort((one, other) => other.textContent.length - one.textContent.length)[0];
    const marked = named ?? (problem && labels.length === 1 ? labels[0] : null);
    for (const label of labels) label.control?.setAttribute('aria-invalid', String(label === marked));
}
