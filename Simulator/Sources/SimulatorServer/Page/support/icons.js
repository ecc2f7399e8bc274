// SPDX-License-Identifier: Apache-2.0

const namespace = 'http://www.w3.org/2000/svg';

/** The icons, drawn for this page on a 24 × 24 grid. */
const paths = {
    tap: 'M12 3v4M5.6 5.600l2.8 2.800M18.4 5.600l-2.8 2.800M12 21v-9m0 0-3.5 3.500M12 12l3.5 3.5',
    hold: 'M5 20h14M12 4v11m0 0-4-4m4 4 4-4',
    away: 'M5 20h14M12 15V4m0 0L8 8m4-4 4 4',
    more: 'M5 12h.01M12 12h.01M19 12h.01',
    plus: 'M12 5v14M5 12h14',
    upload: 'M12 16V5m0 0L7.5 9.500M12 5l4.5 4.500M5 19h14',
    download: 'M12 5v11m0 0-4.5-4.500M12 16l4.5-4.500M5 19h14',
    lock: 'M8.5 11V8a3.5 3.5 0 0 1 7 0v3M7.5 11h9a1.5 1.5 0 0 1 1.5 1.5v6a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 6 18.5v-6A1.5 1.5 0 0 1 7.5 11z',
    power: 'M12 4v8M7.5 7a7 7 0 1 0 9 0',
    camera: 'M4 8h3l2-2.500h6L17 8h3v11H4zM12 16.500a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.400z',
    airplane: 'M12 3.500c1 0 1.5 1.2 1.5 2.500v4l7 4.200v1.900l-7-2.100v3.800l2.2 1.700v1.500L12 20l-3.7 1v-1.500l2.2-1.700V14l-7 2.100v-1.900l7-4.200V6c0-1.3.5-2.5 1.5-2.500z',
    wallet: 'M4 7.500h15v11H4zM4 7.5 15 4.500v3M15.5 13h.01',
    home: 'M4.5 11.5 12 5l7.5 6.500M6.5 10v9h11v-9',
    sun: 'M12 8.500a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.400M5.6 18.4 7 17M17 7l1.4-1.4',
    moon: 'M19.5 14.500A8 8 0 0 1 9.5 4.500a8 8 0 1 0 10 10z',
    system: 'M4 5.500h16v10.500H4zM9 20h6M12 16v4',
    keyboard: 'M3.5 7h17v10h-17zM7 10.500h.01M10.3 10.500h.01M13.7 10.500h.01M17 10.500h.01M8.5 14h7',
    search: 'M10.5 5.500a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM14.5 14.5 19.5 19.5',
    close: 'M6.5 6.500l11 11M17.5 6.500l-11 11',
    edit: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
    copy: 'M9 9h10v11H9zM5 15V4h10',
    trash: 'M5 7h14M9.5 7V4.500h5V7M7 7l.8 12.500h8.400L17 7M10.5 10.500v6M13.5 10.500v6',
    erase: 'M9 19h11M4.5 14.500l9-9 5.5 5.5-8 8H9zM9 10l5.5 5.5',
    undo: 'M8.5 5 4.5 9l4 4M4.5 9H14a5 5 0 0 1 0 10H9',
    check: 'M5 12.500l4.5 4.500L19 7.5',
    warn: 'M12 4.5 20.5 19.500h-17zM12 10v4.500M12 17h.01',
    link: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.300l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.700l1-1',
    text: 'M5 6h14M12 6v13M9 19h6',
    person: 'M12 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM5 20c.6-3.6 3.3-5.5 7-5.500s6.4 1.9 7 5.5',
    wifi: 'M4 10c4.6-4.3 11.4-4.3 16 0M7 13.500c2.9-2.6 7.1-2.6 10 0M10 17c1.2-1 2.8-1 4 0M12 19.500h.01',
    records: 'M5 5h14v4H5zM5 11h14v4H5zM5 17h14v3H5z',
    document: 'M6 4h12v16H6zM12 8.500a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM9 17h6',
    bell: 'M6 17V11a6 6 0 0 1 12 0v6M4.5 17h15M10.5 20h3',
    sliders: 'M5 7h8M17 7h2M15 5v4M5 12h2M11 12h8M9 10v4M5 17h7M16 17h3M14 15v4',
    trace: 'M4 12h3l2-6 4 12 2-6h5',
    memory: 'M7 7h10v10H7zM10 4v3M14 4v3M10 17v3M14 17v3M4 10h3M4 14h3M17 10h3M17 14h3',
    message: 'M4.5 6h15v10h-8L7 19.500V16H4.500z',
    route: 'M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM6 8v4a4 4 0 0 0 4 4h6',
    phone: 'M7.5 3.500h9v17h-9zM11 18h2',
    tags: 'M4 4.500h8l8 8-7.5 7.5-8.5-8.500zM8 8.500h.01',
    down: 'M6 9.500l6 6 6-6',
    up: 'M6 14.500l6-6 6 6',
    back: 'M14.5 5.5 8 12l6.5 6.5',
    forward: 'M9.5 5.5 16 12l-6.5 6.5',
    bytes: 'M5 6v5M9 6h3v5H9zM5 14h3v5H5zM12 14v5M16 14h3v5h-3zM16 6v5',
    table: 'M4 5.500h16v13H4zM4 10h16M4 14.300h16M10 10v8.5',
    terminal: 'M4 5.500h16v13H4zM7.5 9.500l3 2.5-3 2.500M12.5 14.500h4',
    stop: 'M7 7h10v10H7z',
    minus: 'M5 12h14',
    fit: 'M4 9V5h4M20 9V5h-4M4 15v4h4M20 15v4h-4',
    save: 'M5 5h11l3 3v11H5zM8.5 5v4.500h6V5M8.5 19v-5.500h7V19',
    code: 'M8.5 7.5 4 12l4.5 4.500M15.5 7.5 20 12l-4.5 4.5',
    signal: 'M5 19v-3M9.5 19v-6M14 19v-9M18.5 19V7',
};

/** Returns an icon. It is hidden from screen readers, because the surrounding control has a name. */
export function icon(name, className = 'icon') {
    const element = svg('svg', { viewBox: '0 0 24 24', class: className, 'aria-hidden': 'true', focusable: 'false' });
    element.append(svg('path', { d: paths[name] ?? paths.more }));
    return element;
}

/** Creates an SVG element. */
export function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

/** Returns the project's logo: a dot for the tag and arcs for the field. */
export function fieldMark(className = 'mark') {
    return svg('svg', { viewBox: '0 0 32 32', class: className, 'aria-hidden': 'true', focusable: 'false' },
        svg('path', { class: 'arc arc-3', d: 'M4.6 16a12 12 0 0 1 22.8 0' }),
        svg('path', { class: 'arc arc-2', d: 'M8 19a8 8 0 0 1 16 0' }),
        svg('path', { class: 'arc arc-1', d: 'M12 21.500a4.2 4.2 0 0 1 8 0' }),
        svg('circle', { class: 'dot', cx: '16', cy: '24.5', r: '1.9' }));
}
