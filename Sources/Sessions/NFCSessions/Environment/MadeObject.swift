// SPDX-License-Identifier: Apache-2.0

/// An object that should be freed when a test has ended.
package enum MadeObject: Sendable {
    case session, delegate, tag
}
