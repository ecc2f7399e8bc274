// SPDX-License-Identifier: Apache-2.0
import { h } from './support/dom.js';
import { icon } from './support/icons.js';
import { menuButton } from './support/menu.js';
import { openDialog } from './support/dialog.js';
import { notify } from './support/notices.js';
import { t } from './support/texts.js';
import { visibleText } from './support/visible.js';
import { download, toBase64 } from './support/download.js';
import { act, store, trace } from './session.js';

/** Creates the menu for saving and opening the whole state, and for exporting the trace. */
export function makeFilesMenu() {
    const input = h('input', { type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': t('files.open'), tabindex: '-1' });
    input.addEventListener('change', () => {
        if (input.files[0]) openSavedFile(input.files[0]);
        input.value = '';
    });
    const button = menuButton({
        label: t('files.title'), icon: 'save', text: t('files.title'), className: 'button', items: () => [
            { text: t('files.save'), icon: 'download', run: () => save('save') },
            { text: t('files.open'), icon: 'upload', run: () => input.click() },
            null,
            { text: t('files.pcapng'), icon: 'trace', run: () => save('export_trace', { format: 'pcapng' }) },
            { text: t('files.recording'), icon: 'records', run: () => save('export_trace', { format: 'recording' }) },
            { text: t('files.text'), icon: 'text', run: () => save('export_trace', { format: 'text' }) },
            null,
            { text: t('files.test'), icon: 'code', run: () => copyAsTest() },
        ],
    });
    return h('span', {}, input, button);
}

async function save(action, values = {}) {
    const file = await act(action, values);
    if (file) download(file);
}

/** Opens a saved file of the whole state. Asks first, because it replaces the drawer. */
export async function openSavedFile(file) {
    const base64 = toBase64(new Uint8Array(await file.arrayBuffer()));
    // First check that the file can be opened, so that the question makes sense.
    if (!await act('open', { name: file.name, base64, check: true })) return;
    openDialog({
        title: t('files.open-title'),
        body: [h('p', { text: t('files.open-question', { name: visibleText(file.name, 60) }) })],
        buttons: [
            { text: t('dialog.cancel') },
            {
                text: t('files.open-now'), primary: true, run: async () => {
                    if (await act('open', { name: file.name, base64 })) notify(t('files.opened', { name: visibleText(file.name, 60) }));
                },
            },
        ],
    });
}

/** Shows a test for each session of an app, or for that of the selected row. */
async function copyAsTest(session = sessionOfRow(trace.rows[trace.active])) {
    const test = await act('copy_as_test', session ? { session: session.id } : {});
    if (!test) return;
    openDialog({
        title: t('files.test'),
        isWide: true,
        body: [
            h('p', { class: 'hint', text: t(session ? 'files.test-of-row' : 'files.test-hint') }),
            ...(test.notes ?? []).map((note) => h('p', { class: 'card-reason' }, icon('warn'), visibleText(note, 400))),
            h('pre', { class: 'source', tabindex: '0', role: 'region', 'aria-label': t('files.test'), text: test.source ?? '' }),
        ],
        buttons: [
            { text: t('dialog.close') },
            ...(session ? [{ text: t('files.test-all'), run: () => { copyAsTest(null); } }] : []),
            {
                text: t('files.copy'), primary: true, run: async () => {
                    try {
                        await navigator.clipboard.writeText(test.source ?? '');
                        notify(t('files.copied'));
                        return true;
                    } catch {
                        notify(t('details.copy-failed'), { kind: 'problem' });
                        return false;
                    }
                },
            },
        ],
    });
}

/** The session of an app in which a row was added; null if there is none. */
function sessionOfRow(row) {
    if (!row) return null;
    return store.state.sessions.find((session) => session.started_us <= row.t_us && row.t_us <= (session.ended_us ?? Infinity)) ?? null;
}
