// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Why the test kit can't do what a test asks for, and what to write instead. Equal by code.
public struct FieldError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        private let name: String

        /// The flow had not ended when the field's time was up, or when nothing was left that could end it.
        public static let neverEnds = Code(name: "neverEnds")
        /// There is a field around the test already.
        public static let fieldInField = Code(name: "fieldInField")
        /// The field is gone, with its tags.
        public static let fieldIsGone = Code(name: "fieldIsGone")
        /// There is no product of this name.
        public static let unknownProduct = Code(name: "unknownProduct")
        /// The tag can't be made as it is described: the message does not fit, the dump can't be read.
        public static let badTag = Code(name: "badTag")
        /// The recording can't be played here.
        public static let badRecording = Code(name: "badRecording")
        /// The sheet has no button that can be pressed now.
        public static let noButton = Code(name: "noButton")
        /// This can be had of virtual tags alone, and the test runs on a reader.
        public static let notVirtual = Code(name: "notVirtual")
        /// A session was made while several fields were open, and nothing says to which of them it belongs.
        public static let unknownField = Code(name: "unknownField")
        /// A queue is blocked by code of the test that waits for what never comes.
        public static let queueIsBlocked = Code(name: "queueIsBlocked")
        /// A limit that no time is left for, or a grace below zero.
        public static let badDuration = Code(name: "badDuration")
        /// The line that replays a run can't be read.
        public static let badReplay = Code(name: "badReplay")
        /// The app's property list or its entitlements can't be read.
        public static let badAppFile = Code(name: "badAppFile")
    }

    private final class Contents: Sendable {
        let code: Code
        let reason: String
        let trace: Trace?

        init(_ code: Code, _ reason: String, _ trace: Trace?) {
            self.code = code
            self.reason = reason
            self.trace = trace
        }
    }

    private let contents: Contents

    /// The kind of failure.
    public var code: Code { contents.code }
    /// What happened and what to do, in sentences for people.
    public var reason: String { contents.reason }
    /// What happened in the field up to then, where that helps.
    public var trace: Trace? { contents.trace }

    /// Creates an error.
    public init(_ code: Code, _ reason: String, trace: Trace? = nil) {
        contents = Contents(code, reason, trace)
    }

    /// The reason, with the end of the trace.
    public var description: String {
        guard let trace else { return reason }
        return "\(reason)\n\(trace.table(last: 60))"
    }

    static let fieldIsGone = FieldError(
        .fieldIsGone,
        "The field is gone, and its tags with it. Use them inside the closure of withField, and return what you need."
    )

    public static func == (lhs: FieldError, rhs: FieldError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension Trace {
    /// The last lines of the table.
    func table(last count: Int) -> String {
        let lines = description.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.count > count ? "…\n" : "") + lines.suffix(count).joined(separator: "\n")
    }
}
