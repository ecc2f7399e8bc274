// SPDX-License-Identifier: Apache-2.0

/** What a person has chosen for the page itself. It is in cookies, because the port, and with it all other storage, is new at each start. */
const prefix = 'nfc-simulator-';
const aYear = 31_536_000;

export function setting(name) {
    const start = `${prefix}${name}=`;
    return document.cookie.split('; ').find((cookie) => cookie.startsWith(start))?.slice(start.length);
}

export function keepSetting(name, value) {
    document.cookie = `${prefix}${name}=${value}; Max-Age=${aYear}; Path=/; SameSite=Strict`;
}
