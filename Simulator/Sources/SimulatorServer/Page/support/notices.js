// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';
import { icon } from './icons.js';
import { t } from './texts.js';

const area = document.getElementById('notices');
const polite = h('div', { class: 'hidden-text', role: 'status', 'aria-live': 'polite' });
const assertive = h('div', { class: 'hidden-text', role: 'alert' });

/** Adds the live regions to the page. Must be called before the first announcement. */
export function setUpNotices() {
    document.body.append(polite, assertive);
}

/** Announces a text to screen readers only. */
export function say(text, isUrgent = false) {
    const region = isUrgent ? assertive : polite;
    // Change a repeated text slightly, so that it is announced again.
    region.textContent = region.textContent === text ? `${text}\u00A0` : text;
}

/**
 * Shows a notice for some seconds, and announces it.
 *
 * @param {string} text
 * @param {{kind?: 'info'|'problem', button?: string, run?: () => void}} [options] a notice with a button is shown
 *   longer, and stays while it has the focus or the pointer
 */
export function notify(text, { kind = 'info', button = null, run = null } = {}) {
    const notice = h('div', { class: `notice ${kind}` },
        icon(kind === 'problem' ? 'warn' : 'check'),
        h('p', { text }),
        button && h('button', { class: 'button small', type: 'button', text: button, on: { click: () => { run(); remove(); } } }),
        h('button', { class: 'icon-button small', type: 'button', 'aria-label': t('dialog.close'), on: { click: () => remove() } }, icon('close')));
    const remove = () => {
        clearTimeout(timer);
        notice.remove();
    };
    let timer = setTimeout(leave, button || kind === 'problem' ? 20_000 : 5_000);
    function leave() {
        if (notice.matches(':hover') || notice.contains(document.activeElement)) timer = setTimeout(leave, 2_000);
        else remove();
    }
    while (area.children.length > 3) area.firstElementChild.remove();
    area.append(notice);
    say(text, kind === 'problem');
    return remove;
}
