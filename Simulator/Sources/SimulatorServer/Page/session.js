// SPDX-License-Identifier: Apache-2.0
import { Connection } from './socket.js';
import { Store } from './store.js';
import { TraceRows } from './inspector/trace-rows.js';
import { notify } from './support/notices.js';
import { hasText, t } from './support/texts.js';

/** The connection, the state and the trace of this window. */
export const connection = new Connection();
export const store = new Store();
export const trace = new TraceRows((from, count) => connection.request('trace_rows', { from, count }));

/** Whether the server knows this browser, as far as it has said. */
export let isKnown = true;

// The address of the same simulator in the same window changes the fragment alone.
addEventListener('hashchange', async () => {
    if (tokenOfAddress() === null) return;
    await enter();
    connection.retry();
});

connection.addEventListener('message', ({ detail }) => {
    if (detail.type === 'trace') trace.append(detail);
    else if (detail.type === 'state') {
        store.take(detail);
        trace.reload();
    } else if (!store.take(detail)) connection.restart();
});

/**
 * Performs an action. Where it fails, the page shows the sentence of the server.
 *
 * @returns {Promise<object|null>} the result; null where it failed
 */
export async function act(name, values = {}) {
    try {
        return await connection.request(name, values);
    } catch (error) {
        notify(sentence(error), { kind: 'problem' });
        return null;
    }
}

/** Performs an action whose failure the caller shows. */
export function ask(name, values = {}) {
    return connection.request(name, values);
}

/** The sentence to show for a failed action. */
export function sentence(error) {
    if (error.message) return error.message;
    const key = `failed.${error.code}`;
    return hasText(key) ? t(key) : t('failed.other', { code: error.code ?? '' });
}

/**
 * Gives back the token of the address, which works once, for the cookie of the session. It is taken out of the address, so that it
 * is not in pictures of the window or in its history.
 */
export async function enter() {
    const token = tokenOfAddress();
    if (token !== null) history.replaceState(null, '', location.pathname);
    try {
        const answer = await fetch('/enter', { method: 'POST', headers: token === null ? {} : { 'X-Token': token } });
        // A window that was let in earlier needs no token.
        isKnown = answer.ok || (token !== null && (await fetch('/enter', { method: 'POST' })).ok);
    } catch {
        // The banner says that the server does not answer.
    }
}

function tokenOfAddress() {
    return new URLSearchParams(location.hash.slice(1)).get('token');
}
