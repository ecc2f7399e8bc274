// SPDX-License-Identifier: Apache-2.0
import { h, newID } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { markNamed } from '../support/dialog.js';
import { byteCount } from '../support/format.js';
import { t } from '../support/texts.js';
import { ask } from '../session.js';
import { fieldsOf, kinds, writeRecord } from './record-kinds.js';

/**
 * Creates a form for the records of a message.
 *
 * @param {{kind: string, values: object}[]} records the initial records: kinds and values of their fields
 * @param {() => number|null} capacity returns how many bytes fit on the tag; null if unknown
 */
export function makeMessageForm(records, capacity) {
    const list = h('ol', { class: 'records' });
    const size = h('p', { class: 'message-size', role: 'status' });
    const entries = [];
    let timer = null;

    const element = h('div', { class: 'message-form' }, list,
        h('button', { class: 'button small', type: 'button', on: { click: () => add({ kind: 'link', values: {} }, true) } }, icon('plus'), h('span', { text: t('form.add-record') })),
        size);

    function add(record, takesFocus = false) {
        const entry = makeEntry(record, changed, (move) => change(entry, move));
        entries.push(entry);
        list.append(entry.element);
        changed();
        if (takesFocus) entry.focus();
    }

    /** Moves or removes a record. */
    function change(entry, move) {
        const index = entries.indexOf(entry);
        entries.splice(index, 1);
        if (move === 'remove') {
            entry.element.remove();
            (entries[Math.min(index, entries.length - 1)]?.element.querySelector('select') ?? element.querySelector(':scope > button')).focus();
        } else {
            entries.splice(Math.max(0, index + (move === 'up' ? -1 : 1)), 0, entry);
            list.replaceChildren(...entries.map((other) => other.element));
            entry.focus();
        }
        changed();
    }

    function changed() {
        entries.forEach((entry, index) => entry.number(index, entries.length));
        clearTimeout(timer);
        timer = setTimeout(measure, 250);
    }

    /** Asks the server for the length of the message, or for its first error. */
    async function measure() {
        const values = read();
        if (values.length === 0) {
            show(t('form.no-message'), false);
            return;
        }
        // A link that is still empty is not reported as an error.
        if (values.some((record) => record.kind === 'link' && !record.text)) {
            show('', false);
            return;
        }
        try {
            const result = await ask('encode', { records: values });
            const room = capacity();
            const isTooLong = room !== null && result.size > room;
            show(isTooLong ? t('form.too-long', { n: result.size, capacity: room })
                : room !== null ? t('form.size-of', { n: result.size, capacity: room }) : byteCount(result.size), isTooLong);
        } catch (error) {
            show(error.message, true);
            await mark(error.message);
        }
    }

    function show(text, isProblem) {
        size.textContent = text;
        size.classList.toggle('problem', isProblem);
        for (const entry of entries) markNamed(entry.element, '');
    }

    /** Marks the field that an error names, in the first record that can't be encoded alone. */
    async function mark(problem) {
        for (const entry of entries) {
            try {
                await ask('encode', { records: [entry.read()] });
            } catch {
                markNamed(entry.element, problem);
                return;
            }
        }
    }

    /** Takes back what the form says of an error that the dialog shows, and marks its field. */
    function reject(problem) {
        clearTimeout(timer);
        show('', false);
        return mark(problem);
    }

    function read() {
        return entries.map((entry) => entry.read());
    }

    for (const record of records) add(record);
    changed();
    return { element, read, add, reject, clear: () => { for (const entry of entries.splice(0)) entry.element.remove(); changed(); }, measure: changed, get count() { return entries.length; } };
}

/** Creates the form of one record: its kind, its fields, and the buttons for moving it. */
function makeEntry(form, changed, change) {
    const kindID = newID('kind');
    const select = h('select', { class: 'field', id: kindID }, ...kinds.map((kind) => h('option', { value: kind, text: t(`kind.${kind}`), selected: kind === form.kind })));
    const fields = h('div', { class: 'record-fields' });
    const title = h('legend', { class: 'record-title' });
    const tool = (name, move) => h('button', { class: 'icon-button small', type: 'button', on: { click: () => change(move) } }, icon(name));
    const up = tool('up', 'up');
    const down = tool('down', 'down');
    const remove = tool('trash', 'remove');
    let { values } = form;

    const draw = () => {
        fields.replaceChildren(...fieldsOf(select.value).map((field) => makeField(field, values, changed)));
    };
    select.addEventListener('change', () => {
        // Keep the values of fields that both kinds share.
        values = collect(fields, values);
        draw();
        changed();
    });
    draw();
    const element = h('li', {}, h('fieldset', { class: 'record' }, title,
        h('div', { class: 'record-head' }, h('label', { class: 'hidden-text', for: kindID, text: t('form.kind') }), select, h('span', { class: 'record-tools' }, up, down, remove)),
        fields));
    return {
        element,
        focus: () => select.focus(),
        read: () => writeRecord(select.value, collect(fields, {})),
        number: (index, count) => {
            title.textContent = t('form.record', { n: index + 1 });
            up.disabled = index === 0;
            down.disabled = index === count - 1;
            for (const [button, key] of [[up, 'up'], [down, 'down'], [remove, 'remove']]) button.setAttribute('aria-label', t(`form.${key}`, { n: index + 1 }));
        },
    };
}

function makeField(field, values, changed) {
    const id = newID('field');
    const input = h(field.isLong ? 'textarea' : 'input', {
        class: field.isHex ? 'field mono' : 'field', id, name: field.name, type: field.isLong ? null : field.type ?? 'text', rows: field.isLong ? '3' : null,
        autocomplete: 'off', spellcheck: 'false', placeholder: field.example ?? null, dir: 'auto',
    });
    input.value = values[field.name] ?? field.start ?? '';
    input.addEventListener('input', changed);
    return h('div', { class: field.isShort ? 'form-field narrow' : 'form-field' }, h('label', { class: 'label', for: id, text: t(`field.${field.label ?? field.name}`) }), input);
}

function collect(fields, others) {
    const result = { ...others };
    for (const input of fields.querySelectorAll('[name]')) result[input.name] = input.value;
    return result;
}
