// SPDX-License-Identifier: Apache-2.0
import { h, newID, renderInto } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { markNamed, openDialog } from '../support/dialog.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { act, ask, sentence, store } from '../session.js';
import { makeMessageForm } from './message-form.js';

/** The choices for the contents of a new tag. `records` allows any number of records. */
const contents = ['link', 'text', 'contact', 'wifi', 'records', 'nothing'];
/** The example of a machine readable zone in ICAO Doc 9303, part 4. */
const exampleZone = 'P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10';

/** Opens the dialog for creating a tag. */
export async function openNewTag() {
    const answer = await act('products');
    if (!answer) return;
    const products = answer.products ?? answer;
    const ids = { product: newID('product'), name: newID('name'), size: newID('size'), zone: newID('zone') };

    const select = h('select', { class: 'field', id: ids.product }, ...grouped(products));
    select.value = products.some((product) => product.name === 'NTAG215') ? 'NTAG215' : products[0]?.name;
    const about = h('p', { class: 'hint' });
    const name = h('input', { class: 'field', id: ids.name, maxlength: '100', autocomplete: 'off', dir: 'auto' });
    const size = h('input', { class: 'field short', id: ids.size, type: 'number' });
    const sizeField = h('div', { class: 'form-field narrow' }, h('label', { class: 'label', for: ids.size, text: t('new.size') }), size);
    const zone = h('textarea', { class: 'field mono', id: ids.zone, rows: '3', spellcheck: 'false' });
    zone.value = exampleZone;
    const zoneField = h('div', { class: 'form-field' }, h('label', { class: 'label', for: ids.zone, text: t('new.zone') }), zone, h('p', { class: 'hint', text: t('new.zone-hint') }));
    const problem = h('p', { class: 'form-problem', role: 'alert' });

    const product = () => products.find((item) => item.name === select.value) ?? {};
    const isDocument = () => /emrtd/i.test(product().name ?? '');
    const form = makeMessageForm([{ kind: 'link', values: { text: 'https://example.com' } }], () => (product().sizes ? null : product().capacity ?? null));
    form.element.classList.add('single');
    const choice = makeChoice((kind) => {
        form.element.hidden = kind === 'nothing';
        form.element.classList.toggle('single', kind !== 'records');
        if (kind === 'nothing') return;
        if (kind === 'records' && form.count > 0) return;
        form.clear();
        form.add({ kind: kind === 'records' ? 'link' : kind, values: {} });
    });

    const update = () => {
        const item = product();
        const [least, most] = Array.isArray(item.sizes) ? item.sizes : [item.sizes?.min, item.sizes?.max];
        sizeField.hidden = least === undefined || least === null;
        if (!sizeField.hidden) {
            size.min = String(least);
            size.max = String(most);
            if (!size.value) size.value = String(Math.min(1024, most));
        }
        zoneField.hidden = !isDocument();
        choice.element.hidden = isDocument() || item.holds_ndef === false;
        form.element.hidden = choice.element.hidden || choice.value === 'nothing';
        name.placeholder = visibleText(item.name, 60);
        renderInto(about, item.name, () => [item.capacity ? t('new.capacity', { n: item.capacity }) : '',
            item.phone_can?.reason ? h('span', { class: 'card-reason' }, icon('warn'), foreign(item.phone_can.reason, { limit: 400 })) : null]);
        form.measure();
    };
    select.addEventListener('change', update);
    update();

    const create = async () => {
        const values = { product: select.value, name: name.value.trim() || product().name };
        if (isDocument()) values.mrz = zone.value.trim();
        else if (!form.element.hidden) values.records = form.read();
        if (!sizeField.hidden && size.value) values.size = size.valueAsNumber;
        try {
            const { tag } = await ask('new_tag', values);
            if (tag) store.select(tag, true);
            return true;
        } catch (error) {
            problem.textContent = sentence(error);
            if (isDocument()) markNamed(zoneField, problem.textContent);
            else await form.reject(problem.textContent);
            return false;
        }
    };
    const { element } = openDialog({
        title: t('new.title'),
        isWide: true,
        body: [
            h('div', { class: 'form-row' },
                h('div', { class: 'form-field' }, h('label', { class: 'label', for: ids.product, text: t('new.product') }), select),
                h('div', { class: 'form-field' }, h('label', { class: 'label', for: ids.name, text: t('new.name') }), name), sizeField),
            about, choice.element, form.element, zoneField, problem,
        ],
        buttons: [{ text: t('dialog.cancel') }, { text: t('new.create'), primary: true, run: create }],
    });
    element.addEventListener('input', () => {
        problem.textContent = '';
        markNamed(zoneField, '');
    });
}

/** Groups the products by type. */
function grouped(products) {
    const groups = new Map();
    for (const product of products) {
        const type = product.holds_ndef === false && !/emrtd/i.test(product.name) ? null : product.tag_type;
        const key = /emrtd/i.test(product.name) ? 'document' : type ?? 'other';
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(product);
    }
    return [...groups].map(([key, items]) => h('optgroup', { label: key === 'document' ? t('new.group-document') : key === 'other' ? t('new.group-other') : t('card.type', { n: String(key) }) },
        ...items.map((item) => h('option', { value: item.name, text: /emrtd/i.test(item.name) ? t('new.document') : item.name }))));
}

/** Creates the choice of a tag's contents: radio buttons that look like one control. */
function makeChoice(onChange) {
    const group = newID('holds');
    const element = h('fieldset', { class: 'choice' }, h('legend', { class: 'label', text: t('new.holds') }));
    let value = contents[0];
    const row = h('div', { class: 'choice-row' });
    for (const kind of contents) {
        const input = h('input', { type: 'radio', name: group, value: kind, id: `${group}-${kind}`, checked: kind === value });
        input.addEventListener('change', () => {
            value = kind;
            onChange(kind);
        });
        row.append(h('span', { class: 'choice-item' }, input, h('label', { for: input.id },
            icon({ contact: 'person', nothing: 'close' }[kind] ?? kind), h('span', { text: t(`holds.${kind}`) }))));
    }
    element.append(row);
    return { element, get value() { return value; } };
}
