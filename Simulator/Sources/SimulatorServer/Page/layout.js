// SPDX-License-Identifier: Apache-2.0
import { h } from './support/dom.js';
import { icon } from './support/icons.js';
import { makeSplitter } from './support/splitter.js';
import { t } from './support/texts.js';

/** The columns. A narrow window shows only one of them. */
const views = [
    { id: 'phone', icon: 'phone', section: 'stage' },
    { id: 'tags', icon: 'tags', section: 'drawer' },
    { id: 'inspector', icon: 'trace', section: 'inspector' },
];
const buttons = new Map();

/** Creates the bar that switches between columns in narrow windows. */
export function setUpViews(nav) {
    for (const view of views) {
        const button = h('button', { class: 'view', type: 'button', on: { click: () => showView(view.id, true) } },
            icon(view.icon), h('span', { text: t(`view.${view.id}`) }));
        buttons.set(view.id, button);
        nav.append(button);
    }
    showView('phone');
    setUpSplitters(document.querySelector('.columns'));
}

/** Lets the user resize the columns, where there are three. */
function setUpSplitters(columns) {
    const inspector = document.getElementById('inspector');
    for (const [name, id, least] of [['drawer-width', 'drawer', 280], ['stage-width', 'stage', 420]]) {
        const part = document.getElementById(id);
        // The inspector gets narrower by as much.
        const most = () => Math.max(least, Math.min(columns.clientWidth * 0.45, part.offsetWidth + inspector.offsetWidth - 400));
        columns.append(makeSplitter({ name, label: t(`layout.${name}`), part, root: columns, least, most }));
    }
}

/** Shows a column in windows that show only one. */
export function showView(id, takesFocus = false) {
    document.body.dataset.view = id;
    for (const [other, button] of buttons) {
        if (other === id) button.setAttribute('aria-current', 'page');
        else button.removeAttribute('aria-current');
    }
    if (takesFocus) return;
    // The focused element may be hidden now.
    const active = document.activeElement;
    if (active && active !== document.body && active.closest('.column') && active.offsetParent === null) {
        document.getElementById(views.find((view) => view.id === id).section).focus();
    }
}

/** Moves the focus to the next column, like F6 in desktop programs. */
export function nextColumn(isBackwards) {
    const order = ['drawer', 'stage', 'inspector'];
    const now = order.indexOf(document.activeElement?.closest('.column')?.id);
    const next = order[(now + (isBackwards ? -1 : 1) + order.length + (now < 0 && isBackwards ? 1 : 0)) % order.length];
    showView(views.find((view) => view.section === next).id);
    const section = document.getElementById(next);
    (section.querySelector('[role=row][tabindex="0"], [role=tab][tabindex="0"]') ?? section).focus();
}
