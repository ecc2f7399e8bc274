// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { t } from '../support/texts.js';
import { makeDevice } from './device.js';
import { makeControls } from './controls.js';
import { makeFieldZone, makeReasons } from './field-zone.js';
import { makeTray } from './tray.js';
import { makeSwitches } from '../switches.js';

/** Fills the middle column with the field, the phone, its controls and the conditions. */
export function setUpStage(section) {
    section.append(
        h('h2', { class: 'hidden-text', id: 'stage-title', text: t('phone.title') }),
        h('div', { class: 'stage-phone' }, makeFieldZone(), makeDevice()),
        makeReasons(),
        makeControls(),
        makeTray(),
        makeSwitches());
}
