// SPDX-License-Identifier: Apache-2.0
import { h, newID } from '../support/dom.js';
import { openDialog } from '../support/dialog.js';
import { notify } from '../support/notices.js';
import { t } from '../support/texts.js';
import { foreign, visibleText } from '../support/visible.js';
import { act, store } from '../session.js';
import { download } from '../support/download.js';

/** The actions on a tag, except for bringing it near the phone. */

export async function duplicateTag(id) {
    const name = visibleText(store.tag(id)?.name, 60);
    const result = await act('duplicate', { tag: id });
    if (!result) return;
    if (result.tag) store.select(result.tag, true);
    notify(t('card.duplicated', { name }));
}

export function renameTag(id) {
    const tag = store.tag(id);
    if (!tag) return;
    const field = newID('name');
    const input = h('input', { class: 'field', id: field, value: tag.name, maxlength: '100', autofocus: true });
    openDialog({
        title: t('card.rename'),
        body: [h('label', { class: 'label', for: field, text: t('new.name') }), input],
        buttons: [
            { text: t('dialog.cancel') },
            { text: t('card.rename-now'), primary: true, run: async () => Boolean(await act('rename', { tag: id, name: input.value.trim() })) },
        ],
    });
    input.select();
}

/** Asks before locking, because a lock is permanent. */
export function lockTag(id) {
    confirm(id, 'lock', async () => {
        if (await act('lock_tag', { tag: id })) notify(t('card.locked', { name: visibleText(store.tag(id)?.name, 60) }));
    });
}

export function eraseTag(id) {
    const question = store.tag(id)?.can?.erase === 'message' ? 'card.erase-message-question' : 'card.erase-question';
    confirm(id, 'erase', async () => {
        if (await act('erase', { tag: id })) notify(t('card.erased', { name: visibleText(store.tag(id)?.name, 60) }));
    }, question);
}

function confirm(id, what, run, question = `card.${what}-question`) {
    const tag = store.tag(id);
    if (!tag) return;
    openDialog({
        title: t(`card.${what}`),
        body: [h('p', {}, h('strong', {}, foreign(tag.name, { limit: 60 }))), h('p', { text: t(question) })],
        buttons: [{ text: t('dialog.cancel') }, { text: t(`card.${what}-now`), primary: true, run }],
    });
}

/** Deletes a tag at once, and offers to undo this. */
export async function deleteTag(id) {
    const name = visibleText(store.tag(id)?.name, 60);
    if (!await act('delete', { tag: id })) return;
    notify(t('card.deleted', { name }), {
        button: t('dialog.undo'),
        run: async () => {
            if (await act('undo_delete')) store.select(id);
        },
    });
}

export async function saveTag(id, format) {
    const file = await act('export_tag', { tag: id, format });
    if (file) download(file);
}
