// SPDX-License-Identifier: Apache-2.0
import { contactFields, isContact } from './vcard.js';

/** Returns what a record says in one line: for a contact its name, for any other one the words of the server. */
export function recordSummary(record) {
    if (isContact(record)) {
        const name = contactFields(record.text ?? '').find((field) => field.name === 'name');
        if (name) return name.value;
    }
    return record.text || record.title || '';
}
