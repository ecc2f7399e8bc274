// SPDX-License-Identifier: Apache-2.0
import { h } from './support/dom.js';
import { icon } from './support/icons.js';
import { keepSetting, setting } from './support/settings.js';
import { t } from './support/texts.js';

const settingName = 'theme';
const themes = ['system', 'light', 'dark'];
const icons = { system: 'system', light: 'sun', dark: 'moon' };

/** Creates the button that cycles through system, light and dark colors. */
export function makeThemeButton() {
    const stored = setting(settingName);
    let theme = themes.includes(stored) ? stored : 'system';
    const button = h('button', { class: 'icon-button', type: 'button', id: 'theme' });
    const show = () => {
        if (theme === 'system') delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = theme;
        button.setAttribute('aria-label', t(`theme.${theme}`));
        button.replaceChildren(icon(icons[theme]));
        dispatchEvent(new Event('theme'));
    };
    button.addEventListener('click', () => {
        theme = themes[(themes.indexOf(theme) + 1) % themes.length];
        keepSetting(settingName, theme);
        show();
    });
    show();
    return button;
}
