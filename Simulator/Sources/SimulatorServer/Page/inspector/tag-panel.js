// SPDX-License-Identifier: Apache-2.0
import { ask, sentence, store } from '../session.js';
import { h } from '../support/dom.js';

/**
 * Creates a panel that shows the server's result for the selected tag. It asks the server while visible, when the tag
 * or its memory has changed.
 *
 * @param {string} action the action that returns the result
 * @param {string} label the accessible name of the content
 * @param {(result: object, tag: object, body: HTMLElement) => void} draw
 * @param {() => Node} empty creates the content if no tag is selected
 */
export function makeTagPanel(action, label, draw, empty) {
    const body = h('div', { class: 'tag-panel-body', tabindex: '0', role: 'region', 'aria-label': label });
    let isShown = false;
    let shown = null;
    let isAsking = false;

    async function update() {
        if (!isShown || isAsking) return;
        const tag = store.selectedTag;
        if (!tag) {
            shown = null;
            body.replaceChildren(empty());
            return;
        }
        const wanted = `${tag.id} ${tag.memory_version} ${tag.near}`;
        if (wanted === shown) return;
        isAsking = true;
        try {
            const result = await ask(action, { tag: tag.id });
            draw(result, tag, body);
        } catch (error) {
            body.replaceChildren(h('p', { class: 'empty', text: sentence(error) }));
        }
        shown = wanted;
        isAsking = false;
        // The tag may have been written in the meantime.
        update();
    }
    store.on(['tags', 'selected'], update);
    return {
        body,
        setShown: (value) => {
            isShown = value;
            update();
        },
    };
}
