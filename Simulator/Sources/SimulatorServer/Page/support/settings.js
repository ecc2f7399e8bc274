// SPDX-License-Identifier: Apache-2.0

/** The prefix of the page's settings. They are cookies, because all other storage depends on the port, which is new at each start. */
const prefix = 'nfc-simulator-';
const aYear = 31_536_000;

export function setting(name) {
    const start = `${prefix}${name}=`;
    return document.cookie.split('; ').find((cookie) => cookie.startsWith(start))?.slice(start.length);
}

export function keepSetting(name, value) {
    document.cookie = `${prefix}${name}=${value}; Max-Age=${aYear}; Path=/; SameSite=Strict`;
}
