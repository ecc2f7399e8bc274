// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a reader can't be offered to other programs.
package struct EmulationError: Error, Sendable {
    /// What happened and what to do, as a sentence.
    package var reason: String

    /// Creates an error.
    package init(_ reason: String) {
        self.reason = reason
    }

    /// The error of a failed system call.
    static func system(_ what: String) -> EmulationError {
        EmulationError("\(what): \(unsafe String(cString: strerror(errno))).")
    }
}
