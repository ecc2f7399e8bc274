// SPDX-License-Identifier: Apache-2.0

/** The vCard properties that the contact form has fields for (RFC 2426, 3). */
const fields = { FN: 'name', ORG: 'organization', TEL: 'phone', EMAIL: 'email', URL: 'url', NOTE: 'note' };

/** Returns the fields of a vCard that the page shows, with names and values. */
export function contactFields(text) {
    const result = [];
    // A line that begins with white space continues the previous line.
    for (const line of text.replace(/\r?\n[ \t]/g, '').split(/\r?\n/)) {
        const match = /^(?:[\w-]+\.)?([\w-]+)(?:;[^:]*)?:(.*)$/.exec(line);
        const name = fields[match?.[1].toUpperCase()];
        if (name && match[2]) result.push({ name, value: unescape(match[2]) });
    }
    return result;
}

function unescape(value) {
    return value.replace(/\\([\\,;nN])/g, (whole, character) => (character.toLowerCase() === 'n' ? '\n' : character));
}

/** Whether a record contains a vCard. */
export function isContact(record) {
    return record.kind === 'mime' && /^text\/(x-)?vcard$/i.test(record.type ?? '');
}
