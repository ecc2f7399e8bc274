// SPDX-License-Identifier: Apache-2.0
import { svg } from '../support/icons.js';

/**
 * Returns a small drawing of a tag: a round sticker, a card, a label or a booklet, with an antenna. The style sheet
 * sets the color for the technology.
 */
export function tagArt(tag) {
    const shape = shapeOf(tag);
    const drawing = svg('svg', { viewBox: '0 0 48 48', class: 'tag-art', 'data-technology': tag.technology ?? '', 'aria-hidden': 'true', focusable: 'false' });
    drawing.append(...shapes[shape]());
    return drawing;
}

function shapeOf({ product = '', technology, tag_type: type }) {
    if (/emrtd|passport|travel/i.test(product)) return 'booklet';
    if (technology === 'nfc-v') return 'label';
    if (technology === 'nfc-f' || type === 4 || type === null || /classic|desfire|plus/i.test(product)) return 'card';
    return 'sticker';
}

const shapes = {
    sticker: () => [
        svg('circle', { class: 'base', cx: '24', cy: '24', r: '20' }),
        svg('circle', { class: 'coil', cx: '24', cy: '24', r: '15.5' }),
        svg('circle', { class: 'coil', cx: '24', cy: '24', r: '12.5' }),
        svg('path', { class: 'coil', d: 'M24 33.500a9.5 9.5 0 1 1 9.5-9.5' }),
        svg('rect', { class: 'chip', x: '30.5', y: '22', width: '5.5', height: '5.5', rx: '1' }),
    ],
    card: () => [
        svg('rect', { class: 'base', x: '3', y: '9', width: '42', height: '30', rx: '4.5' }),
        svg('rect', { class: 'coil', x: '7', y: '13', width: '34', height: '22', rx: '3' }),
        svg('rect', { class: 'coil', x: '10', y: '16', width: '28', height: '16', rx: '2' }),
        svg('rect', { class: 'chip', x: '14', y: '20', width: '8', height: '7', rx: '1.5' }),
    ],
    label: () => [
        svg('rect', { class: 'base', x: '7', y: '3', width: '34', height: '42', rx: '4' }),
        svg('rect', { class: 'coil', x: '11', y: '7', width: '26', height: '26', rx: '3' }),
        svg('rect', { class: 'coil', x: '14', y: '10', width: '20', height: '20', rx: '2' }),
        svg('rect', { class: 'chip', x: '22', y: '18', width: '5', height: '5', rx: '1' }),
        svg('path', { class: 'print', d: 'M12 38h2M16 38h4M22 38h1M25 38h5M32 38h4' }),
    ],
    booklet: () => [
        svg('rect', { class: 'base', x: '9', y: '4', width: '30', height: '40', rx: '3' }),
        svg('path', { class: 'coil', d: 'M13.5 4v40' }),
        svg('circle', { class: 'coil', cx: '26', cy: '20', r: '7' }),
        svg('path', { class: 'coil', d: 'M19 20h14M26 13c-4 4-4 10 0 14M26 13c4 4 4 10 0 14' }),
        svg('rect', { class: 'chip', x: '22', y: '33', width: '8', height: '4.5', rx: '1' }),
    ],
};
