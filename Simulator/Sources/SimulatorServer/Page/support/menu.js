// SPDX-License-Identifier: Apache-2.0
import { h, newID } from './dom.js';
import { icon } from './icons.js';

/** The time at which each button's menu was closed. */
const closedAt = new WeakMap();

/**
 * Creates a button that opens a menu.
 *
 * @param {object} options
 * @param {string} options.label the button's name
 * @param {string} [options.icon]
 * @param {string} [options.text] visible text next to the icon
 * @param {string} [options.className]
 * @param {() => ({text: string, icon?: string, run: () => void, isDanger?: boolean, disabled?: string|null}|null)[]}
 *   options.items called each time the menu opens; null is a separator; `disabled` is why an item can't be chosen
 */
export function menuButton({ label, icon: iconName, text, className = 'icon-button', items }) {
    const id = newID('menu');
    const button = h('button', {
        class: className, type: 'button', 'aria-label': text ? null : label, 'aria-haspopup': 'menu', 'aria-expanded': 'false',
    }, iconName && icon(iconName), text && h('span', { text }));
    button.addEventListener('click', () => {
        // The press that closed the menu must not open it again.
        if (performance.now() - (closedAt.get(button) ?? -Infinity) > 250) openMenu(button, id, label, items());
    });
    button.addEventListener('keydown', (event) => {
        if (event.key !== 'ArrowDown' || !event.altKey) return;
        event.preventDefault();
        openMenu(button, id, label, items());
    });
    return button;
}

/** Opens a menu below an element. Arrow keys move, Escape closes the menu and restores the focus. */
export function openMenu(anchor, id, label, items) {
    const run = (item) => {
        menu.hidePopover();
        item.run();
    };
    const menu = h('div', { class: 'menu', role: 'menu', id, popover: 'auto', 'aria-label': label },
        ...items.map((item) => item === null
            ? h('div', { class: 'menu-line', role: 'separator' })
            : h('button', {
                class: item.isDanger ? 'menu-item danger' : 'menu-item', role: 'menuitem', type: 'button', tabindex: '-1',
                'aria-disabled': item.disabled ? 'true' : null,
                on: { click: () => !item.disabled && run(item) },
            }, item.icon && icon(item.icon),
            h('span', { class: 'menu-words' }, h('span', { text: item.text }),
                item.disabled && h('span', { class: 'menu-reason', text: item.disabled })))));
    // Add the menu to the landmark or dialog of its button.
    (anchor.closest('dialog, section, header') ?? document.body).append(menu);
    anchor.setAttribute('aria-expanded', 'true');
    menu.addEventListener('toggle', (event) => {
        if (event.newState !== 'closed') return;
        anchor.setAttribute('aria-expanded', 'false');
        closedAt.set(anchor, performance.now());
        if (menu.contains(document.activeElement)) anchor.focus();
        menu.remove();
    });
    menu.addEventListener('keydown', (event) => move(menu, event));
    menu.showPopover();
    place(menu, anchor);
    menu.querySelector('[role=menuitem]')?.focus();
}

function place(menu, anchor) {
    const from = anchor.getBoundingClientRect();
    const size = menu.getBoundingClientRect();
    const left = Math.max(8, Math.min(from.right - size.width, innerWidth - size.width - 8));
    const below = from.bottom + 6;
    const top = below + size.height > innerHeight - 8 ? Math.max(8, from.top - size.height - 6) : below;
    menu.style.setProperty('left', `${left}px`);
    menu.style.setProperty('top', `${top}px`);
}

function move(menu, event) {
    const items = [...menu.querySelectorAll('[role=menuitem]')];
    const index = items.indexOf(document.activeElement);
    const target = {
        ArrowDown: items[(index + 1) % items.length],
        ArrowUp: items[(index - 1 + items.length) % items.length],
        Home: items[0],
        End: items.at(-1),
    }[event.key];
    if (event.key === 'Tab') menu.hidePopover();
    if (!target) return;
    event.preventDefault();
    event.stopPropagation();
    target.focus();
}
