// SPDX-License-Identifier: Apache-2.0

/// SCARD_SHARE_…
package enum SmartCardShare: UInt, Sendable {
    case exclusive = 1
    case shared
    case direct
}
