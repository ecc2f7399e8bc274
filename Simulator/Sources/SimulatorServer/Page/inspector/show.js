// SPDX-License-Identifier: Apache-2.0
import { store } from '../session.js';
import { showView } from '../layout.js';

/** Ways into the inspector from the other columns. The inspector says how it shows something. */
const targets = { tab: () => {}, why: () => {} };

export function setTargets(values) {
    Object.assign(targets, values);
}

/** Shows a tag's memory or message. */
export function showTag(id, tab) {
    store.select(id);
    showView('inspector');
    targets.tab(tab);
}

/** Shows why a notification came. */
export function showWhy(notification) {
    showView('inspector');
    targets.tab('background');
    targets.why(notification);
}
