// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { icon } from '../support/icons.js';
import { notify } from '../support/notices.js';
import { t } from '../support/texts.js';
import { visibleText } from '../support/visible.js';
import { toBase64 } from '../support/download.js';
import { ask, sentence, store } from '../session.js';
import { openSavedFile } from '../files.js';

/** The maximum size of a file, in bytes. Dumps of tags are small. */
const largest = 8 * 1024 * 1024;

/** Creates the button for importing dumps of tags. */
export function importButton() {
    const input = h('input', { type: 'file', multiple: true, hidden: true, 'aria-label': t('drawer.import'), tabindex: '-1' });
    input.addEventListener('change', () => {
        importFiles([...input.files]);
        input.value = '';
    });
    return h('span', {}, input, h('button', { class: 'button', type: 'button', id: 'import', on: { click: () => input.click() } },
        icon('upload'), h('span', { text: t('drawer.import') })));
}

/** Lets the user drop dumps anywhere on the page. */
export function setUpDrop(area) {
    area.append(h('p', {}, icon('upload'), h('span', { text: t('drawer.drop') })));
    let depth = 0;
    const isFiles = (event) => event.dataTransfer?.types.includes('Files');
    const show = (isShown) => {
        if (!isShown) depth = 0;
        area.hidden = !isShown;
    };
    addEventListener('dragenter', (event) => {
        if (!isFiles(event)) return;
        event.preventDefault();
        depth += 1;
        show(true);
    });
    addEventListener('dragleave', (event) => {
        if (!isFiles(event)) return;
        depth -= 1;
        if (depth <= 0) show(false);
    });
    addEventListener('dragover', (event) => {
        if (!isFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'copy';
    });
    addEventListener('drop', (event) => {
        if (!isFiles(event)) return;
        event.preventDefault();
        show(false);
        importFiles([...event.dataTransfer.files]);
    });
}

/** Imports dumps into the drawer, one at a time. A saved file of the whole state is opened instead. */
async function importFiles(files) {
    for (const file of files) {
        const name = visibleText(file.name, 60);
        if (file.size > largest) {
            notify(t('drawer.too-large', { name }), { kind: 'problem' });
            continue;
        }
        if (/\.simulator\.json$/i.test(file.name)) {
            await openSavedFile(file);
            continue;
        }
        try {
            const base64 = toBase64(new Uint8Array(await file.arrayBuffer()));
            const { tag, tags, notes = [] } = await ask('import', { name: file.name, base64 });
            const made = tags ?? (tag ? [tag] : []);
            if (made[0]) store.select(made[0], true);
            notify([t('drawer.imported', { name, n: Math.max(made.length, 1) }), ...notes.map((note) => visibleText(note, 300))].join(' '));
        } catch (error) {
            notify(t('drawer.import-failed', { name, reason: sentence(error) }), { kind: 'problem' });
        }
    }
}
