// SPDX-License-Identifier: Apache-2.0
import { h, newID } from '../support/dom.js';
import { markNamed, openDialog } from '../support/dialog.js';
import { makeTabs } from '../support/tabs.js';
import { notify } from '../support/notices.js';
import { spacedHex } from '../support/format.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { act, ask, sentence, store } from '../session.js';
import { makeMessageForm } from './message-form.js';
import { formOf } from './record-kinds.js';

/** Encodes a message with one record, and returns its bytes as hexadecimal digits. */
async function encode(record) {
    const result = await ask('encode', { records: [record] });
    return result.hex ?? result.message_hex;
}

/** Opens the dialog for editing a tag's message, as records or as bytes. */
export async function openEditMessage(id) {
    const tag = store.tag(id);
    if (!tag) return;
    store.select(id);
    const message = await act('message', { tag: id });
    if (!message) return;
    const records = await Promise.all((message.problem ? [] : message.records ?? []).map((record) => formOf(record, encode)));
    const form = makeMessageForm(records, () => store.tag(id)?.capacity ?? null);
    const field = newID('bytes');
    const bytes = h('textarea', { class: 'field mono', id: field, rows: '10', spellcheck: 'false' });
    bytes.value = spacedHex(message.hex);
    const perRecord = h('div', {}, form.element);
    const raw = h('div', {}, h('label', { class: 'label', for: field, text: t('edit.bytes') }), bytes, h('p', { class: 'hint', text: t('edit.bytes-hint') }));
    const problem = h('p', { class: 'form-problem', role: 'alert' });
    const tabs = makeTabs(t('edit.how'), [
        { id: 'records', text: t('edit.records'), panel: perRecord },
        { id: 'bytes', text: t('edit.as-bytes'), panel: raw },
    ]);
    // A message that can't be decoded can only be edited as bytes.
    if (message.problem) tabs.select('bytes');

    const save = async () => {
        const values = tabs.current === 'bytes' ? { message_hex: bytes.value.replace(/\s/g, '').toLowerCase() } : { records: form.read() };
        try {
            await ask('edit_message', { tag: id, ...values });
            notify(t('edit.saved', { name: visibleText(store.tag(id)?.name, 60) }));
            return true;
        } catch (error) {
            problem.textContent = sentence(error);
            await (tabs.current === 'bytes' ? markNamed(raw, problem.textContent) : form.reject(problem.textContent));
            return false;
        }
    };
    const { element } = openDialog({
        title: t('card.edit'),
        isWide: true,
        body: [h('p', { class: 'hint' }, foreign(tag.name, { limit: 60 }), ' · ', foreign(tag.product, { limit: 60 })), tabs.list, perRecord, raw, problem],
        buttons: [{ text: t('dialog.cancel') }, { text: t('edit.save'), primary: true, run: save }],
    });
    element.addEventListener('input', () => {
        problem.textContent = '';
        markNamed(raw, '');
    });
}
