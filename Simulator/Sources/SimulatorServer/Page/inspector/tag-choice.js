// SPDX-License-Identifier: Apache-2.0
import { h, renderInto } from '../support/dom.js';
import { t } from '../support/texts.js';
import { visibleText } from '../support/visible.js';
import { store } from '../session.js';

/** Creates the list for choosing the tag to show. All panels show the same tag. */
export function makeTagChoice() {
    const select = h('select', { class: 'field', 'aria-label': t('inspector.which-tag') });
    select.addEventListener('change', () => store.select(select.value));
    store.on(['tags', 'selected'], ({ tags }) => {
        const selected = store.selectedTag?.id;
        renderInto(select, [tags.map(({ id, name, near }) => [id, name, near]), selected], () => tags.map((tag) => h('option', {
            value: tag.id, selected: tag.id === selected,
            text: tag.near ? t('inspector.tag-near', { name: visibleText(tag.name, 40) }) : visibleText(tag.name, 40),
        })));
    });
    return select;
}
