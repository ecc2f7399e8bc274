// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Why the spool can't be used. Errors with the same code are equal.
package struct SpoolError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let description: String
        private init(_ name: String) { description = name }

        /// The disk is full.
        package static let diskFull = Code("disk-full")
        /// Another agent is using the folder.
        package static let inUse = Code("in-use")
        /// The file is damaged, or has a newer version.
        package static let unusable = Code("spool-unusable")
    }

    package var code: Code
    /// A sentence that says what to do.
    package var reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ error: any Error, path: String) {
        guard let error = error as? DatabaseError else {
            self.init(.unusable, "The spool \(path) can't be used: \(error)")
            return
        }
        switch error.resultCode {
        case .SQLITE_FULL: self.init(.diskFull, "The disk has no room for \(path). Free some space.")
        case .SQLITE_IOERR:
            self.init(
                .diskFull,
                "The spool \(path) can't be written. Check the disk and its free space."
            )
        case .SQLITE_BUSY, .SQLITE_LOCKED: self.init(.inUse, "Another program has locked the spool \(path).")
        default:
            let text = error.message ?? "error \(error.resultCode.rawValue)"
            self.init(.unusable, "The spool \(path) can't be used (\(text)). To start with a new one, move it away.")
        }
    }

    package var description: String { "\(code): \(reason)" }
    package static func == (left: SpoolError, right: SpoolError) -> Bool { left.code == right.code }
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
