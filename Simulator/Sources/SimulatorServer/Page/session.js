// SPDX-License-Identifier: Apache-2.0
import { Connection } from './socket.js';
import { Store } from './store.js';
import { TraceRows } from './inspector/trace-rows.js';
import { notify } from './support/notices.js';
import { hasText, t } from './support/texts.js';

/** Carries the token of a simulator that was started again to the pages that are still open. */
const tokens = new BroadcastChannel('token');
const token = takeToken();

/** The connection, the state and the trace of this window. */
export const connection = new Connection(token);
export const store = new Store();
export const trace = new TraceRows((from, count) => connection.request('trace_rows', { from, count }));

tokens.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string' || connection.isOpen) return;
    sessionStorage.setItem('token', data);
    connection.renew(data);
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

/** Returns an address of the server with the token. */
export function withToken(path) {
    const url = new URL(path, location.origin);
    url.searchParams.set('token', sessionStorage.getItem('token') ?? token);
    return url;
}

/** Takes the token out of the address, so that it is not in pictures of the window or in its history. */
function takeToken() {
    const url = new URL(location.href);
    const given = url.searchParams.get('token');
    if (given) {
        sessionStorage.setItem('token', given);
        tokens.postMessage(given);
        url.searchParams.delete('token');
        history.replaceState(null, '', url);
    }
    return given ?? sessionStorage.getItem('token') ?? '';
}
