// SPDX-License-Identifier: Apache-2.0
import { h, reducedMotion, renderInto, setText } from '../support/dom.js';
import { svg } from '../support/icons.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { act, store } from '../session.js';

/** Creates the scanning sheet. It slides in when a session begins, and out when the session ends. */
export function makeSheet() {
    const title = h('p', { class: 'sheet-title', id: 'sheet-title' });
    const picture = h('div', { class: 'sheet-picture', 'aria-hidden': 'true' });
    const message = h('p', { class: 'sheet-message', id: 'sheet-message' });
    const cancel = h('button', { class: 'sheet-cancel', type: 'button', text: t('sheet.cancel'), on: { click: () => act('cancel_sheet') } });
    const sheet = h('div', {
        class: 'sheet', role: 'dialog', 'aria-labelledby': 'sheet-title', 'aria-describedby': 'sheet-message',
    }, title, picture, message, cancel);
    const live = h('div', { class: 'hidden-text', role: 'status', 'aria-live': 'polite' });
    const layer = h('div', { class: 'sheet-layer' }, sheet);

    store.on(['phone'], ({ phone }) => {
        const content = phone.sheet?.state === 'dismissed' ? null : phone.sheet;
        const wasShown = layer.classList.contains('shown');
        layer.classList.toggle('shown', Boolean(content));
        // In a small window, the sheet may be outside the visible part of the phone.
        if (content && !wasShown) layer.scrollIntoView({ block: 'end', behavior: reducedMotion.matches ? 'auto' : 'smooth' });
        // While sliding out, the sheet still shows its content, but can't be used.
        layer.inert = !content;
        setText(live, content ? spoken(content) : '');
        if (!content) return;
        sheet.dataset.state = content.state;
        // A result shows a picture instead of a title, but screen readers still need the title.
        const heading = content.title || t(results[content.state] ?? 'sheet.ready');
        title.classList.toggle('hidden-text', !content.title && content.state in results);
        renderInto(title, heading, () => [foreign(heading, { limit: 60 })]);
        renderInto(message, content.message, () => [foreign(content.message, { limit: 300, lines: true })]);
        const shape = content.state === 'success' ? 'success' : content.state === 'failure' ? (content.shows_error_symbol ? 'failure' : 'none') : 'scan';
        renderInto(picture, shape, () => [pictures[shape]()]);
        cancel.hidden = content.can_cancel === false || shape !== 'scan';
    });
    return h('div', { class: 'sheet-holder' }, layer, live);
}

/** The names of the results. */
const results = { success: 'sheet.success', failure: 'sheet.failure' };

/** The text for screen readers: the title or the result, and the app's message. */
function spoken(content) {
    const title = content.state in results ? t(results[content.state]) : content.title;
    return [visibleText(title, 60), visibleText(content.message, 300)].filter(Boolean).join('. ');
}

const pictures = {
    /** A generic phone with a tag at its top, and the field between them. */
    scan: () => svg('svg', { viewBox: '0 0 120 120', class: 'drawing scan' },
        svg('circle', { class: 'ring ring-1', cx: '60', cy: '38', r: '24' }),
        svg('circle', { class: 'ring ring-2', cx: '60', cy: '38', r: '36' }),
        svg('circle', { class: 'ring ring-3', cx: '60', cy: '38', r: '48' }),
        svg('rect', { class: 'body', x: '39', y: '30', width: '42', height: '78', rx: '9' }),
        svg('path', { class: 'speaker', d: 'M55 37h10' }),
        svg('circle', { class: 'spot', cx: '60', cy: '62', r: '4' }),
        svg('path', { class: 'wave', d: 'M52.5 57a8.5 8.5 0 0 1 15 0M47 53a15 15 0 0 1 26 0' })),
    success: () => svg('svg', { viewBox: '0 0 120 120', class: 'drawing success' },
        svg('circle', { class: 'disc', cx: '60', cy: '60', r: '42' }),
        svg('path', { class: 'stroke', d: 'M40 62l14 14 27-31', pathLength: '1' })),
    failure: () => svg('svg', { viewBox: '0 0 120 120', class: 'drawing failure' },
        svg('circle', { class: 'disc', cx: '60', cy: '60', r: '42' }),
        svg('path', { class: 'stroke', d: 'M60 36v30', pathLength: '1' }),
        svg('circle', { class: 'point', cx: '60', cy: '80', r: '4.5' })),
    none: () => svg('svg', { viewBox: '0 0 120 20', class: 'drawing none' }),
};
