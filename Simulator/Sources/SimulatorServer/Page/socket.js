// SPDX-License-Identifier: Apache-2.0

const firstWait = 250;
const longestWait = 8_000;
/** How long an action waits for the connection before it fails, in milliseconds. */
const patience = 15_000;
/** The maximum size of an action, leaving room for frame headers. The server disconnects if an action is longer. */
const longest = 8 * 1024 * 1024 - 4096;

/** A failed action. `code` is for programs, the message is for users. */
export class ActionError extends Error {
    constructor(code, message) {
        super(message);
        this.code = code;
    }
}

/**
 * The connection to the server. It reconnects by itself, and queues actions in the meantime.
 *
 * Events: `message` (detail: the object) and `change` (the state of the connection has changed).
 */
export class Connection extends EventTarget {
    /** Whether the server can be reached. */
    isOpen = false;
    /** The number of failed attempts since the last connection. */
    attempts = 0;
    /** The time of the next attempt, in milliseconds of `performance.now()`. */
    nextAttempt = null;

    #socket = null;
    #timer = null;
    #lastID = 0;
    #pending = new Map();

    constructor() {
        super();
        addEventListener('online', () => this.retry());
        document.addEventListener('visibilitychange', () => {
            if (!document.hidden) this.retry();
        });
    }

    /** The number of actions that are queued. */
    get waiting() {
        return [...this.#pending.values()].filter((action) => !action.isSent).length;
    }

    connect() {
        clearTimeout(this.#timer);
        this.nextAttempt = null;
        const socket = new WebSocket(`ws://${location.host}/socket`);
        this.#socket = socket;
        socket.onmessage = (event) => this.#receive(event.data);
        socket.onclose = () => this.#lost(socket);
    }

    /** If an attempt is scheduled, tries immediately. */
    retry() {
        if (this.nextAttempt !== null) this.connect();
    }

    /** Reconnects, to receive the whole state again. */
    restart() {
        this.#socket?.close();
    }

    /**
     * Sends an action.
     *
     * An action on a notification uses the notification's `id`, which the answer repeats. If the same action is already
     * under way, a second call returns the same promise.
     *
     * @returns {Promise<object>} the result; fails with an `ActionError`
     */
    request(name, values = {}) {
        this.#lastID += 1;
        const id = values.id ?? this.#lastID;
        const earlier = this.#pending.get(id);
        if (earlier) return earlier.promise;
        const { promise, resolve, reject } = Promise.withResolvers();
        const text = JSON.stringify({ ...values, do: name, id });
        if (new Blob([text]).size > longest) return Promise.reject(new ActionError('too-large', ''));
        const action = { text, promise, resolve, reject, isSent: false, timer: null };
        this.#pending.set(id, action);
        if (this.isOpen) {
            this.#send(action);
            return promise;
        }
        action.timer = setTimeout(() => {
            this.#pending.delete(id);
            reject(new ActionError('not-connected', ''));
            this.#changed();
        }, patience);
        this.#changed();
        return promise;
    }

    #send(action) {
        clearTimeout(action.timer);
        action.isSent = true;
        this.#socket.send(action.text);
    }

    #receive(text) {
        let message;
        try {
            message = JSON.parse(text);
        } catch {
            return;
        }
        // The first message is the state. Send queued actions only after it, when the server has accepted the page.
        if (message.type === 'state' && !this.isOpen) {
            this.isOpen = true;
            this.attempts = 0;
            for (const action of this.#pending.values()) this.#send(action);
            this.#changed();
        }
        if (message.type === 'done' || message.type === 'failed') this.#settle(message);
        // Requested trace rows have the id of the request.
        if (message.type === 'trace_rows' && message.id !== undefined) this.#settle({ type: 'done', id: message.id, result: message });
        this.dispatchEvent(new CustomEvent('message', { detail: message }));
    }

    #settle(message) {
        const action = this.#pending.get(message.id);
        if (!action) return;
        this.#pending.delete(message.id);
        if (message.type === 'done') action.resolve(message.result ?? {});
        else action.reject(new ActionError(message.error ?? 'failed', message.message ?? ''));
    }

    #lost(socket) {
        if (socket !== this.#socket) return;
        this.isOpen = false;
        // Actions that were sent may have been performed, so don't send them again.
        for (const [id, action] of this.#pending) {
            if (!action.isSent) continue;
            this.#pending.delete(id);
            action.reject(new ActionError('connection-lost', ''));
        }
        const wait = Math.min(longestWait, firstWait * 2 ** this.attempts) * (0.8 + 0.4 * Math.random());
        this.attempts += 1;
        this.nextAttempt = performance.now() + wait;
        this.#timer = setTimeout(() => this.connect(), wait);
        this.#changed();
    }

    #changed() {
        this.dispatchEvent(new Event('change'));
    }
}
