// SPDX-License-Identifier: Apache-2.0
import { store } from '../session.js';
import { tap, toggleHold } from '../field.js';
import { deleteTag } from './card-actions.js';
import { openEditMessage } from './edit-message.js';
import { singleKeys } from '../keys.js';

/**
 * Handles the keys: up/down move between cards, left/right among a card's buttons, Enter taps, H holds.
 */
export function handleCardKey(event, list) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = event.target.closest('[role=row]');
    if (!row || event.target.closest('[popover]')) return;
    const id = row.dataset.key;
    const rows = [...list.children].filter((other) => !other.hidden);
    const index = rows.indexOf(row);
    const isOnRow = event.target === row;
    const buttons = [...row.querySelectorAll('.card-actions button')];
    const place = buttons.indexOf(event.target);

    const goTo = (element) => {
        if (!element) return;
        event.preventDefault();
        element.focus();
        element.scrollIntoView({ block: 'nearest' });
        if (element.matches('[role=row]')) store.select(element.dataset.key);
    };
    switch (event.key) {
        case 'ArrowDown': return goTo(rows[index + 1]);
        case 'ArrowUp': return goTo(rows[index - 1]);
        case 'Home': return goTo(rows[0]);
        case 'End': return goTo(rows.at(-1));
        case 'ArrowRight': return goTo(buttons[place + 1]);
        case 'ArrowLeft': return goTo(place > 0 ? buttons[place - 1] : row);
        default:
    }
    if (!isOnRow) return;
    if (event.key === 'Enter') {
        event.preventDefault();
        // Holding the key down counts as one tap.
        if (!event.repeat) tap(id);
    } else if (event.key === ' ') {
        event.preventDefault();
        store.select(id);
    } else if (event.key === 'Delete') {
        event.preventDefault();
        deleteTag(id);
    } else if (event.key === 'F2') {
        event.preventDefault();
        openEditMessage(id);
    } else if (singleKeys() && event.key.toLowerCase() === 'h' && !event.repeat) {
        event.preventDefault();
        toggleHold(id);
    }
}
