// SPDX-License-Identifier: Apache-2.0

/// Explains in a sentence why a configuration is invalid and what to fix.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }

    package var description: String { reason }
}
