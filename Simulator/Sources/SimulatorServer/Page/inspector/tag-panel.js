// SPDX-License-Identifier: Apache-2.0
import { ask, sentence, store } from '../session.js';
import { h } from '../support/dom.js';

/**
 * Makes a panel that shows what the server says about the selected tag. It asks when the panel is visible and the tag or its
 * memory is another one.
 *
 * @param {string} action
 * @param {string} label the name of its content
 * @param {(result: object, tag: object, body: HTMLElement) => void} draw
 * @param {() => Node} empty what is shown without a tag
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
        // A write that came meanwhile is shown too.
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
