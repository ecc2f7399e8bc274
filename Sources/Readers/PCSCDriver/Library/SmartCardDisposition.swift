// SPDX-License-Identifier: Apache-2.0

/// What to do with a card when it is closed: SCARD_LEAVE_CARD and so on.
package enum SmartCardDisposition: UInt, Sendable {
    case leave
    case reset
    case unpower
}
