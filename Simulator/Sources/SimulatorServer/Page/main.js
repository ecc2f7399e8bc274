// SPDX-License-Identifier: Apache-2.0
import { renderInto } from './support/dom.js';
import { fieldMark } from './support/icons.js';
import { duration } from './support/format.js';
import { setUpNotices } from './support/notices.js';
import { fillTexts, loadTexts, t } from './support/texts.js';
import { connection, enter, store } from './session.js';
import { setUpTimes } from './phone/notification-list.js';
import { setUpStage } from './phone/stage.js';
import { setUpDrawer } from './drawer/drawer.js';
import { setUpDrop } from './drawer/import.js';
import { setUpInspector } from './inspector/inspector.js';
import { makeFilesMenu } from './files.js';
import { makeThemeButton } from './theme.js';
import { makeKeysButton, setUpKeys } from './keys.js';
import { setUpAway, setUpUnsaved } from './away.js';
import { setUpField } from './field.js';
import { setUpViews } from './layout.js';

const element = (id) => document.getElementById(id);

await loadTexts();
fillTexts(document);
document.title = t('page.name');
setUpNotices();
element('brand-mark').append(fieldMark());
element('bar-actions').append(makeFilesMenu(), makeKeysButton(), makeThemeButton());
setUpField();
setUpStage(element('stage'));
setUpDrawer(element('drawer'));
const inspector = setUpInspector(element('inspector'));
setUpTimes();
setUpViews(element('views'));
setUpDrop(element('drop'));
setUpKeys(inspector.focusSearch);
setUpAway(element('away'));
setUpUnsaved(element('unsaved'));

store.on(['summary'], ({ summary }) => {
    renderInto(element('figures'), [summary.used, summary.exchanges, summary.airtime_us], () => [
        // Show the counts only after the user has done something, because background reading searches constantly.
        summary.used ? t('page.figures', { n: summary.exchanges ?? 0, airtime: duration(summary.airtime_us ?? 0) }) : '',
    ]);
});
await enter();
connection.connect();
