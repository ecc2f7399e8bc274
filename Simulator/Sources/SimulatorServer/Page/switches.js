// SPDX-License-Identifier: Apache-2.0
import { h, newID, renderInto, setText } from './support/dom.js';
import { icon } from './support/icons.js';
import { t } from './support/texts.js';
import { act, store } from './session.js';

/** The conditions that the user can set. `usual`: the value without effect; `isInverted`: the page shows the opposite; `code`: the error that the app gets. */
const switches = [
    { name: 'radio', kind: 'flag', usual: true, isInverted: true, code: 6 },
    { name: 'busy', kind: 'flag', usual: false, code: 203 },
    { name: 'entitlement', kind: 'flag', usual: true, isInverted: true, code: 2 },
    { name: 'usage_text', kind: 'flag', usual: true, isInverted: true },
    { name: 'user_cancels', kind: 'flag', usual: false, code: 200 },
    { name: 'weak_field', kind: 'flag', usual: false, code: 401 },
    { name: 'noise', kind: 'share', usual: 0, code: 100 },
    { name: 'leave_after', kind: 'count', usual: null, least: 0, start: 3, code: 100 },
    { name: 'tear_write', kind: 'count', usual: null, least: 1, start: 1, code: 401 },
    { name: 'instant', kind: 'flag', usual: false },
];

/** In windows with three columns, the conditions are always open, beside the phone. */
const beside = matchMedia('(min-width: 1100px)');

/** Creates the panel of conditions. Its heading lists those that are set. */
export function makeSwitches() {
    const active = h('span', { class: 'set-conditions' });
    const panel = h('details', { class: 'conditions' },
        h('summary', {}, icon('sliders'), h('span', { class: 'conditions-title', text: t('switches.title') }), active, icon('down', 'icon chevron')),
        h('p', { class: 'conditions-intro', text: t('switches.intro') }),
        h('ul', { class: 'condition-list' }, ...switches.map(makeSwitch)),
        h('button', { class: 'button small', type: 'button', text: t('switches.reset'), on: { click: reset } }));
    const arrange = () => {
        panel.open ||= beside.matches;
        panel.firstElementChild.tabIndex = beside.matches ? -1 : 0;
    };
    beside.addEventListener('change', arrange);
    panel.addEventListener('toggle', arrange);
    arrange();
    store.on(['switches'], (state) => {
        const set = switches.filter((item) => isSet(item, state.switches));
        renderInto(active, set.map((item) => [item.name, state.switches[item.name]]), () => set.length === 0
            ? [h('span', { class: 'set-none', text: t('switches.none') })]
            : set.map((item) => h('span', { class: 'chip warning', text: summary(item, state.switches[item.name]) })));
    });
    return panel;
}

function isSet(item, values) {
    const value = values[item.name];
    return value !== undefined && value !== item.usual;
}

function summary(item, value) {
    return t(`switch.${item.name}.short`, { n: item.kind === 'share' ? Math.round(value * 100) : value ?? 0 });
}

async function reset() {
    for (const item of switches) {
        if (isSet(item, store.state.switches)) await act('switch', { name: item.name, value: item.usual });
    }
}

function makeSwitch(item) {
    const id = newID('switch');
    const hint = h('p', { class: 'condition-hint', id: `${id}-hint` });
    const set = (value) => act('switch', { name: item.name, value });
    const control = { flag: flagControl, share: shareControl, count: countControl }[item.kind](item, id, set);
    store.on(['switches'], (state) => {
        const value = state.switches[item.name] ?? item.usual;
        control.show(value);
        setText(hint, t(`switch.${item.name}.hint`));
    });
    const [label, ...controls] = control.elements;
    const code = h('span', { class: 'condition-code', 'aria-hidden': 'true', text: item.code ? String(item.code) : '' });
    const line = h('li', { class: 'condition' }, label, code, ...controls, hint);
    line.title = t(`switch.${item.name}.hint`);
    return line;
}

function flagControl(item, id, set) {
    const box = h('input', { type: 'checkbox', role: 'switch', class: 'switch', id, 'aria-describedby': `${id}-hint` });
    box.addEventListener('change', () => set(item.isInverted ? !box.checked : box.checked));
    return {
        elements: [h('label', { for: id, text: t(`switch.${item.name}`) }), box],
        show: (value) => { box.checked = item.isInverted ? !value : Boolean(value); },
    };
}

function shareControl(item, id, set) {
    const output = h('output', { for: id, class: 'condition-value' });
    const range = h('input', { type: 'range', id, min: '0', max: '100', step: '1', class: 'range', 'aria-describedby': `${id}-hint` });
    const text = (percent) => t('unit.percent', { n: percent });
    range.addEventListener('input', () => setText(output, text(range.valueAsNumber)));
    range.addEventListener('change', () => set(range.valueAsNumber / 100));
    return {
        elements: [h('label', { for: id, text: t(`switch.${item.name}`) }), h('span', { class: 'condition-range' }, range, output)],
        show: (value) => {
            if (document.activeElement === range && range.matches(':active')) return;
            range.value = String(Math.round(value * 100));
            range.setAttribute('aria-valuetext', text(range.valueAsNumber));
            setText(output, text(range.valueAsNumber));
        },
    };
}

function countControl(item, id, set) {
    const box = h('input', { type: 'checkbox', role: 'switch', class: 'switch', id, 'aria-describedby': `${id}-hint` });
    const number = h('input', {
        type: 'number', class: 'field short', min: String(item.least), max: '100000', value: String(item.start),
        'aria-label': t(`switch.${item.name}.number`), disabled: true,
    });
    const send = () => set(box.checked ? Math.max(item.least, number.valueAsNumber || item.least) : null);
    box.addEventListener('change', send);
    number.addEventListener('change', send);
    return {
        elements: [h('label', { for: id, text: t(`switch.${item.name}`) }), h('span', { class: 'condition-count' }, number, box)],
        show: (value) => {
            box.checked = value !== null && value !== undefined;
            number.disabled = !box.checked;
            if (box.checked && document.activeElement !== number) number.value = String(value);
        },
    };
}
