// SPDX-License-Identifier: Apache-2.0
import { h, renderInto, newID } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { t } from '../support/texts.js';
import { foreign } from '../support/visible.js';
import { act, store } from '../session.js';

/** How many lines of the output are drawn. */
const outputLines = 200;
let output = null;
/** The line that the simulator adds to the output of a program that did not end by itself in good order. */
const endLine = /^The program ended with status (\d+)\.$/;
/** The status of a program that the user has stopped: SIGTERM, as the process or its shell reports it. */
const stopped = ['15', '143'];

/** Whether an app's program has ended with a failure. */
export function hasFailed(app) {
    const status = endLine.exec(app.output?.at(-1))?.[1];
    return !app.running && status !== undefined && !stopped.includes(status);
}

/** Draws the app in the foreground: either its own screen, or its name and output. */
export function appScreen(container, app, id) {
    if (!app) {
        renderInto(container, ['no-app', id], () => [h('div', { class: 'app-screen' }, h('p', { class: 'app-empty', text: t('app.gone') }))]);
        return;
    }
    if (app.screen) {
        output = null;
        renderInto(container, ['screen', app.id, app.screen], () => ownScreen(app));
        return;
    }
    if (renderInto(container, ['output', app.id, app.name, app.running, app.command, app.installed], () => outputScreen(app)) || output) updateOutput(app);
}

/** Forgets the output of an app that is no longer in the foreground. */
export function setUpAppScreen() {
    store.on(['phone'], ({ phone }) => {
        if (!phone.front) output = null;
    });
}

// MARK: An app with screens

function ownScreen(app) {
    const press = (item) => act('press', { app: app.id, item });
    const { title, items = [], back } = app.screen;
    const alert = items.find((item) => item.kind === 'alert');
    const rest = items.filter((item) => item !== alert);
    const buttons = rest.filter((item) => item.kind === 'button');
    return [
        h('div', { class: 'app-screen' },
            h('div', { class: 'app-bar' },
                back ? h('button', { class: 'app-back', type: 'button', data: { key: 'back' }, on: { click: () => press(back.id) } },
                    icon('back'), h('span', {}, foreign(back.text, { limit: 16 }))) : null),
            h('div', { class: 'app-scroll', tabindex: '0', role: 'group', 'aria-label': t('app.content') },
                h('h3', { class: 'app-title' }, foreign(title ?? app.name, { limit: 80 })),
                ...groups(rest.filter((item) => item.kind !== 'button')).map((group) => group.isRows
                    ? h('ul', { class: 'app-rows' }, ...group.items.map((item) => row(item, press)))
                    : h('div', { class: 'app-texts' }, ...group.items.map(words)))),
            buttons.length > 0 && h('div', { class: 'app-buttons' }, ...buttons.map((item) => h('button', {
                class: `app-button ${item.style === 'destructive' ? 'destructive' : item.style === 'plain' ? 'plain' : 'filled'}`,
                type: 'button', data: { key: `item-${item.id}` }, on: { click: () => press(item.id) },
            }, foreign(item.text, { limit: 40 }))))),
        alert && appAlert(alert, press),
    ];
}

/** Groups successive rows into lists. */
function groups(items) {
    const result = [];
    for (const item of items) {
        const isRows = item.kind === 'row';
        if (result.at(-1)?.isRows === isRows) result.at(-1).items.push(item);
        else result.push({ isRows, items: [item] });
    }
    return result;
}

function row(item, press) {
    const content = [
        h('span', { class: 'app-row-words' },
            h('span', { class: 'app-row-text' }, foreign(item.text, { limit: 300, lines: true })),
            item.detail ? h('span', { class: 'app-row-detail' }, foreign(item.detail, { limit: 600, lines: true })) : null),
        item.badge ? h('span', { class: 'app-badge' }, foreign(item.badge, { limit: 12 })) : null,
    ];
    if (!item.id) return h('li', { class: 'app-row' }, ...content);
    return h('li', {}, h('button', {
        class: 'app-row', type: 'button', data: { key: `item-${item.id}` }, on: { click: () => press(item.id) },
    }, ...content, icon('forward', 'icon app-row-arrow')));
}

function words(item) {
    return h(item.kind === 'heading' ? 'h4' : 'p', { class: item.kind === 'heading' ? 'app-heading' : 'app-text' },
        foreign(item.text, { limit: 2_000, lines: true }),
        item.detail ? h('span', { class: 'app-text-detail' }, foreign(item.detail, { limit: 2_000, lines: true })) : null);
}

function appAlert(item, press) {
    const title = newID('alert');
    const buttons = item.buttons?.length ? item.buttons : [{ id: item.id, text: t('app.ok') }];
    return h('div', { class: 'app-alert-back' }, h('div', { class: 'app-alert', role: 'alertdialog', 'aria-labelledby': title },
        h('p', { class: 'app-alert-title', id: title }, foreign(item.text, { limit: 200 })),
        item.detail ? h('p', { class: 'app-alert-text' }, foreign(item.detail, { limit: 600, lines: true })) : null,
        h('div', { class: 'app-alert-buttons' }, ...buttons.map((button) => h('button', {
            class: button.style === 'destructive' ? 'destructive' : null, type: 'button', data: { key: `item-${button.id}` }, on: { click: () => press(button.id) },
        }, foreign(button.text, { limit: 30 }))))));
}

// MARK: An app without screens

function outputScreen(app) {
    output = h('div', { class: 'app-output', role: 'log', 'aria-label': t('app.output'), tabindex: '0' });
    return [h('div', { class: 'app-screen' },
        h('div', { class: 'app-bar' }, app.command ? h('button', {
            class: 'app-back', type: 'button', data: { key: 'run' }, text: t(app.running ? 'app.stop' : 'app.start'),
            on: { click: () => (app.running ? act('stop_app', { app: app.id }) : act('start_app', { app: app.id })) },
        }) : null,
        !app.running && !app.installed && h('button', {
            class: 'app-back app-remove', type: 'button', data: { key: 'remove' }, text: t('app.remove'), on: { click: () => act('remove_app', { app: app.id }) },
        })),
        h('h3', { class: 'app-title' }, foreign(app.name, { limit: 80 })),
        h('p', { class: 'app-state', text: t(app.running ? 'app.running' : 'app.stopped', { pid: String(app.pid ?? '') }) }),
        output)];
}

function updateOutput(app) {
    if (!output) return;
    const all = app.output ?? [];
    // Opening an app starts its program again. The output of a run that failed before is not shown.
    const lines = all.slice(all.findLastIndex((line, index) => index < all.length - 1 && endLine.test(line)) + 1).slice(-outputLines);
    const isAtEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 40;
    renderInto(output, lines, () => lines.length > 0
        ? lines.map((line) => h('p', { class: endLine.test(line) ? 'app-ended' : null }, foreign(line, { limit: 400 })))
        : [h('p', { class: 'app-empty', text: t('app.no-output') })]);
    if (isAtEnd) output.scrollTop = output.scrollHeight;
}
