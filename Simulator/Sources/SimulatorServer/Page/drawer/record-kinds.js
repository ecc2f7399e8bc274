// SPDX-License-Identifier: Apache-2.0
import { hexBytes } from '../support/format.js';
import { contactFields, isContact } from '../support/vcard.js';

/** The kinds of records that the user can create, in the order of the list. */
export const kinds = ['link', 'text', 'contact', 'wifi', 'mime', 'external', 'android-application', 'raw', 'empty'];

const fields = {
    link: [{ name: 'text', label: 'address', type: 'url', start: '', example: 'https://example.com' }],
    text: [{ name: 'text', label: 'text', isLong: true }, { name: 'language', isShort: true, start: 'en' }],
    contact: [
        { name: 'name' }, { name: 'organization' }, { name: 'phone', type: 'tel' }, { name: 'email', type: 'email' }, { name: 'url', type: 'url' }, { name: 'note' },
    ],
    wifi: [{ name: 'ssid' }, { name: 'key' }],
    mime: [{ name: 'type', label: 'media-type', example: 'text/plain' }, { name: 'text', label: 'content', isLong: true }],
    external: [{ name: 'type', label: 'external-type', example: 'example.com:ticket' }, { name: 'text', label: 'content', isLong: true }],
    'android-application': [{ name: 'text', label: 'package', example: 'com.example.app' }],
    raw: [
        { name: 'tnf', isShort: true, start: '1', type: 'number' }, { name: 'type_hex', isHex: true, isShort: true }, { name: 'id', isShort: true },
        { name: 'payload_hex', isHex: true, isLong: true },
    ],
    empty: [],
};

/** Returns the form fields of a kind. */
export function fieldsOf(kind) {
    return fields[kind];
}

/** Returns the JSON object of a record. Empty fields are omitted. */
export function writeRecord(kind, values) {
    const used = Object.fromEntries(fields[kind].map(({ name }) => [name, values[name] ?? '']).filter(([name, value]) => value !== '' || name === 'text'));
    if (kind !== 'raw') return { kind, ...used };
    const hex = (text) => (text ?? '').replace(/\s/g, '').toLowerCase();
    return { tnf: Number(used.tnf ?? 0), type_hex: hex(used.type_hex), id: used.id ?? '', payload_hex: hex(used.payload_hex) };
}

/**
 * Returns the initial kind and fields of a form.
 *
 * A record gets the form of its kind only if the form would write the same bytes. Otherwise it is shown raw, so that
 * saving loses nothing.
 *
 * @param {object} record the server's description of the record
 * @param {(record: object) => Promise<string>} encode encodes a message with one record as hexadecimal digits
 */
export async function formOf(record, encode) {
    const raw = { kind: 'raw', values: { ...record, tnf: String(record.tnf) } };
    const form = candidate(record);
    if (!form) return raw;
    try {
        const [first, second] = await Promise.all([form, raw].map(({ kind, values }) => encode(writeRecord(kind, values))));
        return first === second ? form : raw;
    } catch {
        return raw;
    }
}

function candidate(record) {
    const field = (name) => record.fields?.find((item) => item.name === name)?.value ?? '';
    switch (record.kind) {
        case 'uri': return { kind: 'link', values: { text: record.text } };
        case 'text': return { kind: 'text', values: { text: record.text, language: record.language } };
        case 'android-application': case 'empty': return { kind: record.kind, values: { text: record.text } };
        case 'wifi-wsc': return { kind: 'wifi', values: { ssid: field('Network'), key: field('Password') } };
        case 'mime': case 'external': {
            const text = utf8(record.payload_hex);
            if (text === null) return null;
            if (isContact(record)) return { kind: 'contact', values: Object.fromEntries(contactFields(text).map(({ name, value }) => [name, value])) };
            return { kind: record.kind, values: { type: record.type, text } };
        }
        default: return null;
    }
}

/** Decodes bytes as UTF-8; null if they are not valid. */
function utf8(hex) {
    try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(hexBytes(hex)));
    } catch {
        return null;
    }
}
