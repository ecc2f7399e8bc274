// SPDX-License-Identifier: Apache-2.0
import { keep, kept } from './support/settings.js';

const empty = {
    phone: { locked: false, screen_on: true, front: null, sheet: null, banner: null, prompt: null, clock: '9:41' },
    tags: [],
    apps: [],
    switches: {},
    sessions: [],
    notifications: [],
    summary: { exchanges: 0, bytes: 0, airtime_us: 0, clock_us: 0 },
    storage: { problem: null },
};

/**
 * The page's data: the server's state, and the tag selected in this window.
 *
 * Listeners are called at most once per frame, if any of their keys has changed.
 */
export class Store {
    state = structuredClone(empty);
    /** Whether a state was received. */
    isLoaded = false;
    /** The tag that the inspector shows. Each window has its own selection, which it keeps across a reload. */
    selected = kept('tag') ?? null;
    /** The tag that this window has made last, until the drawer shows it. */
    newTag = null;

    #version = 0;
    #listeners = [];
    #changed = new Set();
    #frame = null;

    /**
     * @param {string[]} keys keys of the state, or `selected`
     * @param {(state: object) => void} listener
     */
    on(keys, listener) {
        this.#listeners.push({ keys, listener });
    }

    /** Handles a message from the server. Returns false if a patch is missing, so that the page must reconnect. */
    take(message) {
        if (message.type === 'state') {
            this.state = { ...structuredClone(empty), ...message.state };
            this.#version = message.version;
            this.isLoaded = true;
            this.#mark([...Object.keys(this.state), 'selected']);
        } else if (message.type === 'patch') {
            if (message.version <= this.#version) return true;
            if (message.version !== this.#version + 1) return false;
            this.#version = message.version;
            for (const [path, value] of Object.entries(message.set)) this.#set(path, value);
        }
        return true;
    }

    /** Selects a tag. The drawer shows a new one even if its filter would hide it. */
    select(id, isNew = false) {
        if (isNew) this.newTag = id;
        if (this.selected === id) return;
        this.selected = id;
        keep('tag', id);
        this.#mark(['selected']);
    }

    tag(id) {
        return this.state.tags.find((tag) => tag.id === id) ?? null;
    }

    get selectedTag() {
        return this.tag(this.selected) ?? this.state.tags[0] ?? null;
    }

    app(id) {
        return this.state.apps.find((app) => app.id === id) ?? null;
    }

    /** Sets one value. The path `tags.ID` is a single tag, null if deleted; other paths name nested members. */
    #set(path, value) {
        const [key, ...rest] = path.split('.');
        if (rest.length === 0) {
            this.state[key] = value;
        } else if (Array.isArray(this.state[key])) {
            const id = rest.join('.');
            const index = this.state[key].findIndex((item) => item.id === id);
            if (value === null) this.state[key] = this.state[key].filter((item) => item.id !== id);
            else if (index < 0) this.state[key] = [...this.state[key], value];
            else this.state[key] = this.state[key].with(index, value);
        } else {
            this.state[key] = { ...this.state[key], [rest.join('.')]: value };
        }
        this.#mark([key]);
    }

    #mark(keys) {
        for (const key of keys) this.#changed.add(key);
        // A hidden window gets no frames, and is drawn once it is visible again.
        this.#frame ??= requestAnimationFrame(() => this.#flush());
    }

    #flush() {
        this.#frame = null;
        const changed = this.#changed;
        this.#changed = new Set();
        for (const { keys, listener } of this.#listeners) {
            if (keys.some((key) => changed.has(key))) listener(this.state);
        }
    }
}
