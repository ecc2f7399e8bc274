// SPDX-License-Identifier: Apache-2.0
import { h } from '../support/dom.js';
import { makeTabs } from '../support/tabs.js';
import { keep, kept } from '../support/settings.js';
import { t } from '../support/texts.js';
import { makeTracePanel } from './trace-panel.js';
import { makeTimeline } from './timeline.js';
import { makeMemoryPanel } from './memory-panel.js';
import { makeMessagePanel } from './message-panel.js';
import { makeBackgroundPanel } from './background-panel.js';
import { setTargets } from './show.js';

/** In wider windows, the trace is next to the other panels. */
const wide = matchMedia('(min-width: 2000px)');

/** Fills the inspector with the timeline and the panels below it. */
export function setUpInspector(section) {
    const trace = makeTracePanel();
    const memory = makeMemoryPanel();
    const message = makeMessagePanel();
    const background = makeBackgroundPanel();
    const panels = { trace, memory, message, background };
    let isSetUp = false;
    const tabs = makeTabs(t('inspector.panels'), [
        { id: 'trace', text: t('inspector.trace'), icon: 'trace', panel: trace.element },
        { id: 'memory', text: t('inspector.memory'), icon: 'memory', panel: memory.element },
        { id: 'message', text: t('inspector.message'), icon: 'message', panel: message.element },
        { id: 'background', text: t('inspector.background'), icon: 'route', panel: background.element },
    ], (id) => {
        for (const [other, panel] of Object.entries(panels)) panel.setShown?.(other === id || (other === 'trace' && wide.matches));
        if (isSetUp) keep('tab', id);
    });
    const arrange = () => {
        section.classList.toggle('side-by-side', wide.matches);
        tabs.detach('trace', wide.matches);
        trace.setShown(wide.matches || tabs.current === 'trace');
    };
    setTargets({ tab: (id) => tabs.select(id), why: background.show });
    section.append(
        h('h2', { class: 'hidden-text', id: 'inspector-title', text: t('inspector.title') }),
        makeTimeline((index) => {
            if (!wide.matches) tabs.select('trace');
            trace.goTo(index);
        }),
        tabs.list,
        h('div', { class: 'panels' }, trace.element, h('div', { class: 'panel-stack' }, memory.element, message.element, background.element)));
    wide.addEventListener('change', arrange);
    const tab = kept('tab');
    arrange();
    if (tab in panels && !(tab === 'trace' && wide.matches)) tabs.select(tab);
    isSetUp = true;
    return { focusSearch: () => { if (!wide.matches) tabs.select('trace'); trace.focusSearch(); } };
}
