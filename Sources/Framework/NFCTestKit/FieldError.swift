// SPDX-License-Identifier: Apache-2.0
import TagLink
public import TagTrace

/// Why the test kit can't do what a test asks for, and what to do instead. Equal by code.
public struct FieldError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        private let name: String

        /// The flow did not end within the field's time limit, or nothing is left that could end it.
        public static let neverEnds = Code(name: "neverEnds")
        /// The test already runs in a field.
        public static let fieldInField = Code(name: "fieldInField")
        /// The field and its tags do not exist any more.
        public static let fieldIsGone = Code(name: "fieldIsGone")
        /// No product has this name.
        public static let unknownProduct = Code(name: "unknownProduct")
        /// The tag can't be created as described: the message does not fit, or the dump can't be read.
        public static let badTag = Code(name: "badTag")
        /// The recording can't be loaded, or does not fit the code under test.
        public static let badRecording = Code(name: "badRecording")
        /// The sheet has no button that can be pressed now.
        public static let noButton = Code(name: "noButton")
        /// Only virtual tags support this, but the test runs on a real reader.
        public static let notVirtual = Code(name: "notVirtual")
        /// A session was created while several fields were open, and its field can't be determined.
        public static let unknownField = Code(name: "unknownField")
        /// Code of the test blocks a queue by waiting for an event that never happens.
        public static let queueIsBlocked = Code(name: "queueIsBlocked")
        /// The time limit is zero or negative, or the grace is negative.
        public static let badDuration = Code(name: "badDuration")
        /// The line that replays a run can't be parsed.
        public static let badReplay = Code(name: "badReplay")
        /// A phone would end the app, for example because its `Info.plist` has no usage description.
        public static let appEnds = Code(name: "appEnds")
        /// The app's property list or its entitlements can't be read.
        public static let badAppFile = Code(name: "badAppFile")
    }

    /// The kind of failure.
    public let code: Code
    /// Sentences for people: the problem, and how to solve it.
    public let reason: String
    /// The events in the field so far; nil if they don't help.
    public let trace: Trace?

    /// Creates an error.
    public init(_ code: Code, _ reason: String, trace: Trace? = nil) {
        self.code = code
        self.reason = reason
        self.trace = trace
    }

    /// The reason, with the end of the trace.
    public var description: String {
        guard let trace else { return reason }
        return "\(reason)\n\(trace.table(last: 60))"
    }

    static let fieldIsGone = FieldError(
        .fieldIsGone,
        "The field and its tags no longer exist. Use them inside the closure of withField, and return what you need."
    )

    public static func == (lhs: FieldError, rhs: FieldError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension Trace {
    /// The beginning of a note about a fault.
    static let faultMark = "fault: "

    /// The last lines of the table, and all earlier lines of a fault with its exchange. "…" replaces the others.
    func table(last count: Int) -> String {
        let lines = description.split(separator: "\n", omittingEmptySubsequences: false)
        var shown: [Substring] = []
        // How many lines of a fault are still to be shown: its own, and the request and answer of its exchange.
        var more = 0
        var hasGap = false
        for (index, line) in lines.enumerated() {
            if line.contains("  " + Self.faultMark) { more = 3 }
            if index >= lines.count - count || more > 0 {
                if hasGap { shown.append("…") }
                shown.append(line)
                hasGap = false
            } else {
                hasGap = true
            }
            more -= 1
        }
        return shown.joined(separator: "\n")
    }
}
