// SPDX-License-Identifier: Apache-2.0

/// Why a configuration can't be used, as a sentence that says what to do.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }

    package var description: String { reason }
}
