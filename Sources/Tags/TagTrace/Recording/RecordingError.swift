// SPDX-License-Identifier: Apache-2.0

/// Why a recording can't be used or created. Two errors with the same code are equal.
public struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The file can't be read.
        public static let unreadable = Code("unreadable-recording")
        /// The file can't be written.
        public static let unwritable = Code("unwritable-file")
        /// The file is not a recording.
        public static let notARecording = Code("not-a-recording")
        /// The file has an unknown version of the format.
        public static let unknownVersion = Code("unknown-version")
        /// A line of the file is not valid.
        public static let malformed = Code("bad-recording")
        /// The file, or a line of it, is longer than any recording.
        public static let tooLarge = Code("recording-too-large")

        public var description: String { name }
    }

    private final class Contents: Sendable {
        let code: Code
        let reason: String
        let line: Int?

        init(_ code: Code, _ reason: String, _ line: Int?) {
            self.code = code
            self.reason = reason
            self.line = line
        }
    }

    private let contents: Contents

    /// The kind of failure.
    public var code: Code { contents.code }
    /// Sentences that explain the failure and what to do.
    public var reason: String { contents.reason }
    /// The number of the invalid line, from 1; nil when the failure is not in a single line.
    public var line: Int? { contents.line }

    package init(_ code: Code, _ reason: String, line: Int? = nil) {
        contents = Contents(code, reason, line)
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: RecordingError, rhs: RecordingError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
