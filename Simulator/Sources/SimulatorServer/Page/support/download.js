// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';
import { notify } from './notices.js';
import { t } from './texts.js';
import { visibleText } from './visible.js';

/** Downloads a file, given either its bytes or its path on the server. */
export function download({ name, type, base64, path, notes = [] }) {
    const address = base64 === undefined ? path : URL.createObjectURL(new Blob([fromBase64(base64)], { type }));
    const link = h('a', { href: address, download: name ?? '' });
    document.body.append(link);
    link.click();
    link.remove();
    if (base64 !== undefined) setTimeout(() => URL.revokeObjectURL(address), 10_000);
    notify([t('files.saved', { name: visibleText(name, 60) }), ...notes].join(' '));
}

function fromBase64(text) {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Encodes bytes as Base64, in chunks that fit on the stack. */
export function toBase64(bytes) {
    let text = '';
    for (let index = 0; index < bytes.length; index += 0x8000) text += String.fromCharCode(...bytes.subarray(index, index + 0x8000));
    return btoa(text);
}
