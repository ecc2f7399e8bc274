// SPDX-License-Identifier: Apache-2.0
import { h } from './support/dom.js';
import { t } from './support/texts.js';
import { notify, say } from './support/notices.js';
import { visibleText } from './support/visible.js';
import { act, ask, sentence, store, trace } from './session.js';
import { isVainSearch } from './inspector/row-kinds.js';
import { tagArt } from './drawer/tag-art.js';
import { showView } from './layout.js';

/** How far the pointer moves before it drags, in CSS pixels. */
const threshold = 6;
/** How long a finger rests before it drags, in milliseconds; before that it scrolls. */
const rest = 220;

// MARK: Buttons and keys

/** Holds a tag near for half a second, and says what happened. */
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

/** The tags that are being tapped: the first row of the trace since then, and whether they have come near. */
const taps = new Map();

/** Says what a tap did, when the tag has left. */
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
    const count = trace.rows.slice(from).filter((row) => row.tag === tag.id && row.kind === 'exchange' && !isVainSearch(row)).length;
    return count > 0 ? t('field.tapped', { name, n: count }) : t('field.nobody-asked', { name });
}

/** Holds a tag near until it is taken away; a tag that is near is taken away. */
export async function toggleHold(id) {
    const tag = store.tag(id);
    if (!tag) return;
    store.select(id);
    const name = visibleText(tag.name, 60);
    if (!tag.near) showView('phone');
    // The simulator decides, because a second press may come before the state that follows the first.
    const answer = await act('toggle', { tag: id });
    if (answer) say(t(answer.near ? 'field.held' : 'field.removed', { name }));
}

// MARK: Dragging

/**
 * Lets a person drag a tag to the top of the phone and away again. The tag is near while the pointer is there, and stays
 * when it is dropped there.
 *
 * @param {HTMLElement} element what is dragged
 * @param {string} id the tag
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
    // A finger that moves at once scrolls the list.
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
    // A touch that became a drag does not scroll.
    const touch = (event) => drag && event.cancelable && event.preventDefault();
    // Nor does a long press open a menu.
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

/** Keeps the press that ends a drag from being a click. */
function swallowClick() {
    const swallow = (click) => {
        click.stopPropagation();
        click.preventDefault();
    };
    addEventListener('click', swallow, { capture: true, once: true });
    // The click comes in the same task, or not at all.
    setTimeout(() => removeEventListener('click', swallow, { capture: true }), 0);
}

/** One drag: a picture of the tag that follows the pointer, and whether it is near. */
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

    /** Puts the tag back where it was. */
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

/** Whether a pointer is at the top of the phone: over the zone, or the upper third of the phone. */
function isInside(zone, { clientX, clientY }) {
    const above = zone.getBoundingClientRect();
    const device = document.querySelector('.device').getBoundingClientRect();
    const bottom = device.top + device.height * 0.33;
    const left = Math.min(above.left, device.left) - 12;
    const right = Math.max(above.right, device.right) + 12;
    return clientX >= left && clientX <= right && clientY >= above.top - 24 && clientY <= bottom;
}
