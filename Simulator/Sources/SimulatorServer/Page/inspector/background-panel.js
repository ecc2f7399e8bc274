// SPDX-License-Identifier: Apache-2.0
import { h, renderInto } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { ask, sentence, store } from '../session.js';

/** What became of a tag, with its icon. */
const outcomeIcons = { announced: 'bell', opened: 'check', nothing: 'minus', 'not-read': 'warn' };

/** Creates the panel that explains why background reading opened an app, or nothing. */
export function makeBackgroundPanel() {
    const body = h('div', { class: 'why', tabindex: '0', role: 'region', 'aria-label': t('why.explanation') });
    const choice = h('select', { class: 'field', 'aria-label': t('why.which') });
    let wanted = 'last';
    let isShown = false;
    choice.addEventListener('change', () => {
        wanted = choice.value;
        load();
    });
    const element = h('div', { class: 'panel background' },
        h('div', { class: 'panel-head' }, choice, h('button', { class: 'button', type: 'button', text: t('why.again'), on: { click: load } })), body);

    /** Loads the explanation again each time, because the last decision changes with each tag. */
    async function load() {
        if (!isShown) return;
        try {
            const why = await ask('why', { notification: wanted });
            renderInto(body, ['why', wanted, why], () => explain(why));
        } catch (error) {
            renderInto(body, ['problem', error.code], () => [h('p', { class: 'empty', text: error.code === 'no-decision' ? t('why.none') : sentence(error) })]);
        }
    }
    store.on(['notifications', 'phone', 'tags'], ({ notifications }) => {
        if (wanted !== 'last' && !notifications.some(({ id }) => String(id) === wanted)) wanted = 'last';
        renderInto(choice, [wanted, notifications.map(({ id, title, body: text }) => [id, title, text])], () => [
            h('option', { value: 'last', text: t('why.last'), selected: wanted === 'last' }),
            ...notifications.map(({ id, title, body: text, time }) => h('option', {
                value: String(id), selected: wanted === String(id), text: visibleText([time, text || title].filter(Boolean).join(' · '), 80),
            })),
        ]);
        load();
    });
    return {
        element,
        setShown: (value) => {
            isShown = value;
            load();
        },
        show: (notification) => {
            wanted = String(notification);
            choice.value = wanted;
            load();
        },
    };
}

function explain(why) {
    const steps = why.steps ?? [];
    const outcome = why.outcome in outcomeIcons ? why.outcome : 'nothing';
    const app = store.app(why.app);
    const tag = store.tag(why.tag);
    return [
        h('div', { class: `why-head ${outcome}` }, icon(outcomeIcons[outcome]), h('div', {},
            h('p', { class: 'why-kind', text: t(`why.${outcome}`) }),
            h('p', { class: 'why-title' }, foreign(why.title ?? '', { limit: 300 })))),
        h('dl', { class: 'facts' },
            tag ? fact('trace.tag', foreign(tag.name, { limit: 60 })) : null,
            why.url ? fact('why.link', foreign(why.url, { limit: 300, more: true })) : null,
            app ? fact('details.app', foreign(app.name, { limit: 60 })) : null),
        h('ol', { class: 'steps' }, ...steps.map((step) => {
            const state = step.ok === true ? 'yes' : step.ok === false ? 'no' : 'open';
            return h('li', { class: `step ${state}` },
                h('span', { class: 'step-sign', role: 'img', 'aria-label': t(`why.step-${state}`) }, icon({ yes: 'check', no: 'close', open: 'minus' }[state])),
                h('div', {}, h('p', { class: 'step-rule' }, foreign(step.rule ?? '', { limit: 120 })), h('p', { class: 'step-text' }, foreign(step.text ?? '', { limit: 600, more: true }))));
        })),
    ];
}

function fact(key, value) {
    return h('div', {}, h('dt', { text: t(key) }), h('dd', {}, value));
}
