// SPDX-License-Identifier: Apache-2.0
import { store } from '../session.js';
import { showView } from '../layout.js';

/** Functions that show something in the inspector. The inspector sets them, and other columns call them. */
const targets = { tab: () => {}, why: () => {} };

export function setTargets(values) {
    Object.assign(targets, values);
}

/** Shows a tag in one of the inspector's tabs. */
export function showTag(id, tab) {
    store.select(id);
    showView('inspector');
    targets.tab(tab);
}

/** Shows why a notification appeared. */
export function showWhy(notification) {
    showView('inspector');
    targets.tab('background');
    targets.why(notification);
}
