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

/** Whether the server accepts this browser, according to its last answer. */
export let isKnown = true;

// If the user opens a new address of the same simulator in this window, only the fragment changes.
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
 * Performs an action. If it fails, the page shows the server's error message.
 *
 * @returns {Promise<object|null>} the result; null if the action failed
 */
export async function act(name, values = {}) {
    try {
        return await connection.request(name, values);
    } catch (error) {
        notify(sentence(error), { kind: 'problem' });
        return null;
    }
}

/** Performs an action. The caller handles the failure. */
export function ask(name, values = {}) {
    return connection.request(name, values);
}

/** The message to show for a failed action. */
export function sentence(error) {
    if (error.message) return error.message;
    const key = `failed.${error.code}`;
    return hasText(key) ? t(key) : t('failed.other', { code: error.code ?? '' });
}

/**
 * Exchanges the address's one-time token for the session cookie. The token is removed from the address, so that it does
 * not appear in screenshots or in the history.
 */
export async function enter() {
    const token = tokenOfAddress();
    if (token !== null) history.replaceState(history.state, '', location.pathname);
    try {
        const answer = await fetch('/enter', { method: 'POST', headers: token === null ? {} : { 'X-Token': token } });
        // A window that already has the cookie needs no token.
        isKnown = answer.ok || (token !== null && (await fetch('/enter', { method: 'POST' })).ok);
    } catch {
        // Ignore the error: the banner shows that the server does not answer.
    }
}

function tokenOfAddress() {
    return new URLSearchParams(location.hash.slice(1)).get('token');
}
