// SPDX-License-Identifier: Apache-2.0
import { h, newID } from './dom.js';
import { icon } from './icons.js';

/**
 * Creates a list of tabs with their panels. The left and right keys move between tabs.
 *
 * @param {string} label the accessible name of the list
 * @param {{id: string, text: string, icon?: string, panel: HTMLElement}[]} tabs
 * @param {(id: string) => void} [onChange]
 */
export function makeTabs(label, tabs, onChange = () => {}) {
    const list = h('div', { class: 'tabs', role: 'tablist', 'aria-label': label });
    const buttons = new Map();
    let current = null;

    for (const tab of tabs) {
        const id = newID('tab');
        tab.panel.id ||= newID('panel');
        tab.panel.setAttribute('role', 'tabpanel');
        tab.panel.setAttribute('aria-labelledby', id);
        const button = h('button', {
            class: 'tab', role: 'tab', id, type: 'button', 'aria-controls': tab.panel.id, data: { tab: tab.id },
            on: { click: () => select(tab.id) },
        }, tab.icon && icon(tab.icon), h('span', { text: tab.text }));
        buttons.set(tab.id, button);
        list.append(button);
    }

    list.addEventListener('keydown', (event) => {
        const shown = tabs.filter((tab) => !buttons.get(tab.id).hidden);
        const index = shown.findIndex((tab) => tab.id === current);
        const target = {
            ArrowRight: shown[(index + 1) % shown.length],
            ArrowLeft: shown[(index - 1 + shown.length) % shown.length],
            Home: shown[0],
            End: shown.at(-1),
        }[event.key];
        if (!target) return;
        event.preventDefault();
        select(target.id);
        buttons.get(target.id).focus();
    });

    function select(id) {
        current = id;
        for (const tab of tabs) {
            const isCurrent = tab.id === id;
            const button = buttons.get(tab.id);
            button.setAttribute('aria-selected', String(isCurrent));
            button.tabIndex = isCurrent ? 0 : -1;
            tab.panel.hidden = !isCurrent && !button.hidden;
        }
        onChange(id);
    }

    /** Removes a tab from the list and always shows its panel, or restores the tab. */
    function detach(id, isDetached) {
        const tab = tabs.find((other) => other.id === id);
        const button = buttons.get(id);
        button.hidden = isDetached;
        if (isDetached) {
            tab.panel.removeAttribute('role');
            tab.panel.hidden = false;
            if (current === id) select(tabs.find((other) => other.id !== id).id);
        } else {
            tab.panel.setAttribute('role', 'tabpanel');
            select(current);
        }
    }

    select(tabs[0].id);
    return { list, select, detach, get current() { return current; } };
}
