// SPDX-License-Identifier: Apache-2.0
import { menuButton } from '../support/menu.js';
import { openDialog } from '../support/dialog.js';
import { h, newID } from '../support/dom.js';
import { hasText, t } from '../support/texts.js';
import { store } from '../session.js';
import { showTag } from '../inspector/show.js';
import { openEditMessage } from './edit-message.js';
import { deleteTag, duplicateTag, eraseTag, lockTag, renameTag, saveTag } from './card-actions.js';

/** The file formats to offer if the server does not list those that can store the tag. */
const formats = ['flipper', 'json', 'proxmark-json', 'proxmark-bin', 'proxmark-eml', 'mfd'];

/** Creates the button for the other actions of a card. */
export function cardMenu(id) {
    const button = menuButton({
        label: t('card.more'), icon: 'more', className: 'icon-button more', items: () => {
            const tag = store.tag(id);
            if (!tag) return [];
            return [
                { text: t('card.memory'), icon: 'memory', run: () => showTag(id, 'memory') },
                { text: t('card.edit'), icon: 'edit', run: () => openEditMessage(id), disabled: reason(tag, 'edit') },
                { text: t('card.rename'), icon: 'text', run: () => renameTag(id) },
                { text: t('card.duplicate'), icon: 'copy', run: () => duplicateTag(id) },
                { text: t('card.save'), icon: 'download', run: () => openSave(id) },
                null,
                { text: t('card.lock'), icon: 'lock', run: () => lockTag(id), disabled: reason(tag, 'lock') },
                { text: t('card.erase'), icon: 'erase', run: () => eraseTag(id), disabled: reason(tag, 'erase') },
                { text: t('card.delete'), icon: 'trash', isDanger: true, run: () => deleteTag(id) },
            ];
        },
    });
    button.tabIndex = -1;
    return button;
}

/** The reason why an action is not possible; null if it is. */
function reason(tag, action) {
    const can = tag.can?.[action];
    if (can?.reason) return can.reason;
    return can === false ? t('card.not-possible') : null;
}

function openSave(id) {
    const tag = store.tag(id);
    if (!tag) return;
    const field = newID('format');
    const choices = (tag.formats ?? formats).map((format) => (typeof format === 'string' ? { name: format } : format));
    const select = h('select', { class: 'field', id: field }, ...choices.map((format) => h('option', {
        value: format.name, text: format.title ?? (hasText(`format.${format.name}`) ? t(`format.${format.name}`) : format.name),
        selected: format.name === tag.format,
    })));
    openDialog({
        title: t('card.save'),
        body: [h('label', { class: 'label', for: field, text: t('card.format') }), select],
        buttons: [{ text: t('dialog.cancel') }, { text: t('dialog.save'), primary: true, run: () => saveTag(id, select.value) }],
    });
}
