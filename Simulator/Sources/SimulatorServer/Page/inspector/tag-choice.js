// SPDX-License-Identifier: Apache-2.0
import { h, keyed, setText } from '../support/dom.js';
import { t } from '../support/texts.js';
import { visibleText } from '../support/visible.js';
import { store } from '../session.js';

/** Creates the list for choosing the tag to show. All panels show the same tag. */
export function makeTagChoice() {
    const select = h('select', { class: 'field', 'aria-label': t('inspector.which-tag') });
    select.addEventListener('change', () => store.select(select.value));
    store.on(['tags', 'selected'], ({ tags }) => {
        keyed(select, tags, ({ id }) => id, ({ id }) => h('option', { value: id }), (option, tag) => {
            const name = visibleText(tag.name, 40);
            setText(option, tag.near ? t('inspector.tag-near', { name }) : name);
        });
        select.value = store.selectedTag?.id ?? '';
    });
    return select;
}
