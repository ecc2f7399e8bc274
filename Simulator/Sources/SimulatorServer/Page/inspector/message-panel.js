// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { byteCount, hexBytes, hexNumber } from '../support/format.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { openEditMessage } from '../drawer/edit-message.js';
import { store } from '../session.js';
import { recordSummary } from '../support/records.js';
import { contactFields, isContact } from '../support/vcard.js';
import { makeTagChoice } from './tag-choice.js';
import { makeTagPanel } from './tag-panel.js';

/** How many bytes of a payload are drawn. */
const longest = 512;

/** Creates the panel with the decoded message. */
export function makeMessagePanel() {
    const panel = makeTagPanel('message', t('inspector.message'), draw, () => h('p', { class: 'empty', text: t('memory.no-tag') }));
    const edit = h('button', { class: 'button', type: 'button', on: { click: () => store.selectedTag && openEditMessage(store.selectedTag.id) } }, icon('edit'), h('span', { text: t('message.edit') }));
    return {
        element: h('div', { class: 'panel message' }, h('div', { class: 'panel-head' }, makeTagChoice(), edit), panel.body),
        setShown: panel.setShown,
    };
}

function draw(message, tag, body) {
    const records = message.records ?? [];
    const size = hexBytes(message.hex).length;
    body.replaceChildren(
        message.problem ? h('p', { class: 'panel-problem' }, icon('warn'), foreign(message.problem, { limit: 400 })) : '',
        records.length === 0
            ? h('p', { class: 'empty', text: t('message.none') })
            : records[0].kind === 'damaged' ? '' : h('p', { class: 'panel-summary', text: t('message.summary', { n: records.length, size: byteCount(size) }) }),
        h('ol', { class: 'record-list' }, ...records.map(drawRecord)));
}

function drawRecord(record, index) {
    const title = `record-title-${index}`;
    const fields = isContact(record) ? contactFields(record.text ?? '').map(({ name, value }) => ({ name: t(`field.${name}`), value })) : record.fields ?? [];
    const summary = recordSummary(record);
    return h('li', {}, h('article', { class: 'record-view', 'aria-labelledby': title },
        h('h3', { id: title }, record.kind === 'damaged' ? icon('warn') : h('span', { class: 'record-number', text: String(index + 1) }), foreign(record.title || record.kind, { limit: 80 })),
        summary && summary !== record.title ? h('p', { class: 'record-text' }, foreign(summary, { limit: 600, lines: true, more: true })) : null,
        h('dl', { class: 'facts' },
            record.kind === 'damaged' ? null : fact(t('message.type'), record.type ? foreign(record.type, { limit: 120 }) : t('message.no-type')),
            record.id ? fact(t('message.identifier'), foreign(record.id, { limit: 120 })) : null,
            ...fields.map(({ name, value }) => fact(visibleText(name, 60), foreign(value, { limit: 400, more: true })))),
        payload(record)));
}

function fact(name, value) {
    return h('div', {}, h('dt', { text: name }), h('dd', {}, value));
}

/** Creates the bytes of a record, which a button shows. */
function payload(record) {
    const bytes = hexBytes(record.payload_hex);
    if (bytes.length === 0) return null;
    const isDamaged = record.damaged_at !== undefined;
    const dump = h('pre', { class: 'hex', tabindex: '0', role: 'region', 'aria-label': t('message.payload') });
    const details = h('details', { class: 'payload' }, h('summary', { text: t(isDamaged ? 'message.all-bytes' : 'message.bytes', { n: record.size ?? bytes.length }) }), dump);
    details.addEventListener('toggle', () => {
        if (!details.open || dump.textContent) return;
        for (const [index, byte] of bytes.slice(0, longest).entries()) {
            if (index > 0) dump.append(index % 16 === 0 ? '\n' : ' ');
            dump.append(index === record.damaged_at ? h('mark', { class: 'changed', text: hexNumber(byte, 2) }) : hexNumber(byte, 2));
        }
        // The fault may be that the message ends too early.
        if (isDamaged && record.damaged_at >= bytes.length) dump.append(' ', h('mark', { class: 'changed', text: t('message.ends') }));
        if (bytes.length > longest) dump.append(`\n${t('details.cut', { n: longest })}`);
    });
    details.open = isDamaged;
    return details;
}
