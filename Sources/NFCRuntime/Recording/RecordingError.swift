// SPDX-License-Identifier: Apache-2.0

/// Why a recording can't be used or made. Equal by code.
public struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The file can't be read or written.
        public static let unreadable = Code("unreadable-recording")
        /// The file is something else.
        public static let notARecording = Code("not-a-recording")
        /// The file has a version of the format that is not known here.
        public static let unknownVersion = Code("unknown-version")
        /// A line of the file is none of a recording.
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
    /// What is wrong, and what to do, as sentences for people.
    public var reason: String { contents.reason }
    /// The line that is wrong, from 1; nil when it is no single one.
    public var line: Int? { contents.line }

    init(_ code: Code, _ reason: String, line: Int? = nil) {
        contents = Contents(code, reason, line)
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: RecordingError, rhs: RecordingError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
