// SPDX-License-Identifier: Apache-2.0
import { h } from './support/dom.js';
import { t } from './support/texts.js';
import { notify, say } from './support/notices.js';
import { visibleText } from './support/visible.js';
import { act, ask, sentence, store, trace } from './session.js';
import { isUnansweredSearch } from './inspector/row-kinds.js';
import { tagArt } from './drawer/tag-art.js';
import { showView } from './layout.js';

/** How far the pointer must move to begin a drag, in CSS pixels. */
const threshold = 6;
/** How long a finger must rest to begin a drag, in milliseconds. Moving earlier scrolls. */
const rest = 220;

// MARK: Buttons and keys

/** Holds a tag near the phone for half a second, and reports the result. */
export async function tap(id) {
    const tag = store.tag(id);
    if (!tag) return;
    store.select(id);
    showView('phone');
    const name = visibleText(tag.name, 60);
    say(t('field.tapping', { name }));
    taps.set(id, { from: trace.rows.length, wasNear: false });
    try {
        await ask('tap', { tag: id, ms: 500 });
    } catch (error) {
        taps.delete(id);
        notify(sentence(error), { kind: 'problem' });
    }
}

/** The tags being tapped, with the first trace row of the tap and whether the tag has been near. */
const taps = new Map();

/** Reports the result of a tap when its tag has left. */
export function setUpField() {
    store.on(['tags'], () => {
        for (const [id, tapped] of taps) {
            const tag = store.tag(id);
            if (tag?.near) tapped.wasNear = true;
            if (tag?.near || (tag && !tapped.wasNear)) continue;
            taps.delete(id);
            if (tag) say(report(tag, tapped.from));
        }
    });
}

function report(tag, from) {
    const name = visibleText(tag.name, 60);
    if (tag.phone_can?.reason) return t('field.cannot', { name, reason: visibleText(tag.phone_can.reason) });
    const count = trace.rows.slice(from).filter((row) => row.tag === tag.id && row.kind === 'exchange' && !isUnansweredSearch(row)).length;
    return count > 0 ? t('field.tapped', { name, n: count }) : t('field.nobody-asked', { name });
}

/** Brings a tag near until it is taken away, or takes away a tag that is near. */
export async function toggleHold(id) {
    const tag = store.tag(id);
    if (!tag) return;
    store.select(id);
    const name = visibleText(tag.name, 60);
    if (!tag.near) showView('phone');
    // The simulator decides, because a second press may precede the state update of the first.
    const answer = await act('toggle', { tag: id });
    if (answer) say(t(answer.near ? 'field.held' : 'field.removed', { name }));
}

// MARK: Dragging

/**
 * Lets the user drag a tag to the top of the phone and away from it. The tag is near while the pointer is there, and
 * stays if dropped there.
 *
 * @param {HTMLElement} element the element to drag
 * @param {string} id the tag's id
 */
export function makeDraggable(element, id) {
    element.addEventListener('pointerdown', (event) => {
        if (event.button !== 0 || event.target.closest('button:not(.tray-tag), input, a, [popover]')) return;
        begin(event, id);
    });
}

function begin(start, id) {
    const isTouch = start.pointerType !== 'mouse';
    let drag = null;
    let isReady = !isTouch;
    // If the finger moves at once, it scrolls the list.
    const timer = isTouch ? setTimeout(() => { isReady = true; drag ??= new Drag(id, start); }, rest) : null;

    const move = (event) => {
        if (event.pointerId !== start.pointerId) return;
        if (!drag) {
            if (Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < threshold) return;
            if (!isReady) {
                end();
                return;
            }
            drag = new Drag(id, event);
        }
        drag.move(event);
    };
    const up = (event) => {
        if (event.pointerId !== start.pointerId) return;
        if (drag) {
            drag.drop(event);
            swallowClick();
        }
        end();
    };
    const cancel = (event) => {
        if (event.type === 'keydown' && event.key !== 'Escape') return;
        drag?.cancel();
        end();
    };
    // Prevent scrolling during a touch drag.
    const touch = (event) => drag && event.cancelable && event.preventDefault();
    // Prevent the menu of a long press.
    const menu = (event) => isTouch && isReady && event.preventDefault();
    const end = () => {
        clearTimeout(timer);
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', up);
        removeEventListener('pointercancel', cancel);
        removeEventListener('keydown', cancel, true);
        removeEventListener('touchmove', touch);
        removeEventListener('contextmenu', menu);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
    addEventListener('pointercancel', cancel);
    addEventListener('keydown', cancel, true);
    addEventListener('touchmove', touch, { passive: false });
    addEventListener('contextmenu', menu);
}

/** Prevents the end of a drag from counting as a click. */
function swallowClick() {
    const swallow = (click) => {
        click.stopPropagation();
        click.preventDefault();
    };
    addEventListener('click', swallow, { capture: true, once: true });
    // The click follows in the same task, if at all.
    setTimeout(() => removeEventListener('click', swallow, { capture: true }), 0);
}

/** A drag: a picture of the tag follows the pointer, and the tag is near while it is over the field. */
class Drag {
    #id;
    #ghost;
    #zone = document.getElementById('field-zone');
    #wasNear;
    #isNear;

    constructor(id, event) {
        const tag = store.tag(id);
        this.#id = id;
        this.#wasNear = Boolean(tag?.near);
        this.#isNear = this.#wasNear;
        this.#ghost = h('div', { class: 'ghost', 'aria-hidden': 'true', data: { technology: tag?.technology ?? '' } },
            tag ? tagArt(tag) : null, h('span', { text: visibleText(tag?.name, 40) }));
        document.body.append(this.#ghost);
        document.body.classList.add('dragging');
        getSelection()?.removeAllRanges();
        store.select(id);
        if (matchMedia('(max-width: 719px)').matches) showView('phone');
        this.move(event);
    }

    move(event) {
        this.#ghost.style.setProperty('transform', `translate(${event.clientX}px, ${event.clientY}px) translate(-50%, -50%)`);
        this.#set(isInside(this.#zone, event));
    }

    drop(event) {
        this.#set(isInside(this.#zone, event));
        this.#end();
    }

    /** Cancels the drag, and restores whether the tag is near. */
    cancel() {
        this.#set(this.#wasNear);
        this.#end();
    }

    #set(isNear) {
        this.#zone.classList.toggle('target', isNear);
        this.#ghost.classList.toggle('near', isNear);
        if (isNear === this.#isNear) return;
        this.#isNear = isNear;
        act(isNear ? 'bring' : 'remove', { tag: this.#id });
    }

    #end() {
        this.#ghost.remove();
        this.#zone.classList.remove('target');
        document.body.classList.remove('dragging');
    }
}

/** Whether the pointer is over the field zone or the upper third of the phone. */
function isInside(zone, { clientX, clientY }) {
    const above = zone.getBoundingClientRect();
    const device = document.querySelector('.device').getBoundingClientRect();
    const bottom = device.top + device.height * 0.33;
    const left = Math.min(above.left, device.left) - 12;
    const right = Math.max(above.right, device.right) + 12;
    return clientX >= left && clientX <= right && clientY >= above.top - 24 && clientY <= bottom;
}
