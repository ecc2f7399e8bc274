// SPDX-License-Identifier: Apache-2.0
import { contactFields, isContact } from './vcard.js';

/** Returns a one-line summary of a record: the name for a contact, otherwise the server's text. */
export function recordSummary(record) {
    if (isContact(record)) {
        const name = contactFields(record.text ?? '').find((field) => field.name === 'name');
        if (name) return name.value;
    }
    // The simulator counts records from 0, and the page from 1.
    if (record.kind === 'damaged') return record.text.replace(/\b(record )(\d+)/i, (_, word, index) => `${word}${Number(index) + 1}`);
    return record.text || record.title || '';
}
