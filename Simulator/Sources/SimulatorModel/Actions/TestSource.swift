// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagImages
import VirtualTags

/// "Copy as test": writes the source of NFCTestKit tests that repeat what happened in each session of an app.
struct TestSource: Sendable {
    /// A session of an app, from its beginning to its end, or until now.
    private struct Session {
        var id: Int
        var near: [Journal.Tag]
        var conditions: [String: JSON]
        var steps: [Journal.Step] = []
        /// The reason of the end; nil if the session is still active.
        var reason: String?
        var messages: [String: [UInt8]] = [:]

        /// The tags, in the order in which they were first near.
        var tags: [Journal.Tag] {
            var tags = near
            for case .bring(let tag, _) in steps where !tags.contains(where: { $0.id == tag.id }) { tags.append(tag) }
            return tags
        }

        func has(_ kinds: FieldFaults.Kind...) -> Bool {
            steps.contains { if case .fault(let kind) = $0 { kinds.contains(kind) } else { false } }
        }
    }

    private var tests: [[String]] = []
    private var notes: [String] = []
    /// Data that is too long for a line, with the name of its constant.
    private var constants: [(source: String, name: String)] = []

    /// - Parameter session: the only session to repeat; nil for all sessions since the trace was cleared.
    init(_ state: SimulatorState, session only: Int? = nil) {
        for session in sessions(state) where only == nil || session.id == only { add(session) }
        if tests.isEmpty, notes.isEmpty { note("No app has begun a session since the trace was cleared.") }
    }

    var json: JSON { ["source": .string(source), "notes": .array(notes.map { JSON.string($0) })] }

    private mutating func note(_ text: String) { if !notes.contains(text) { notes.append(text) } }

    private mutating func sessions(_ state: SimulatorState) -> [Session] {
        var sessions: [Session] = []
        var open: Session?
        var outside: [String] = []
        for step in state.journal.steps {
            switch step {
            case .begin(let id, let near, let conditions):
                if let open { sessions.append(open) }
                open = Session(id: id, near: near, conditions: conditions)
            case .end(let id, let reason, let messages):
                guard var ended = open, ended.id == id else { continue }
                (ended.reason, ended.messages) = (reason, messages)
                sessions.append(ended)
                open = nil
            default:
                open?.steps.append(step)
                if open == nil, case .bring(let tag, _) = step { outside.append(tag.id) }
            }
        }
        if var running = open {
            running.messages = state.journalMessages
            sessions.append(running)
        }
        let inside = Set(sessions.flatMap(\.tags).map(\.id))
        if !inside.isSuperset(of: outside) { note("Tags that no session of an app has read are left out.") }
        return sessions
    }

    // MARK: A session

    private mutating func add(_ session: Session) {
        let number = tests.count + 1
        let refusal = ["6", "203", "2"].first { session.reason?.hasPrefix("\($0):") == true }
        if let refusal {
            return note(
                "A session that ended at once with error \(refusal) is left out: set its condition in withField."
            )
        }
        let tags = session.tags.enumerated().map { (variable: "tag\($0.offset + 1)", tag: $0.element) }
        let before = Dictionary(
            uniqueKeysWithValues: tags.compactMap { tag in Self.summary(of: tag.tag).map { (tag.tag.id, $0) } }
        )
        let readable = tags.map(\.tag.id).filter { before[$0]?.message != nil }
        var alone: [String] = []
        for case .exchangeAlone(let id) in session.steps where readable.contains(id) { alone.append(id) }
        let used = alone.first ?? readable.first
        let written = readable.filter { session.messages[$0] != nil && session.messages[$0] != before[$0]?.message }
        let isTorn = session.has(.tear, .brownOut) || session.has(.loss) && !written.isEmpty
        guard isTorn || written.isEmpty || written == [used] else {
            return note("A session that used several tags in turn is left out.")
        }

        var writing = ""
        if isTorn, let used {
            note("The message of a write that failed is unknown, so the test writes another one.")
            let room = max(1, min((before[used]?.capacity ?? 64) - 16, 200 * (tornWrite(session) ?? 1)))
            writing = "TagMessage.text(String(repeating: \"x\", count: \(room))).bytes"
        } else if let id = written.first, let message = session.messages[id] {
            writing = bytes(message)
        }
        var arguments = writing.isEmpty ? [] : ["writing: \(writing)"]
        if readable.count > 1, !alone.isEmpty { arguments.append("waitsForOneTag: true") }
        var body = ["let session = SimulatedSession(\(arguments.joined(separator: ", ")))"]
        for (variable, tag) in tags { body.append("let \(variable) = try await field.make(\(spec(of: tag)))") }
        let variables = Dictionary(uniqueKeysWithValues: tags.map { ($0.tag.id, $0.variable) })
        body += steps(session, variables, canFinish: used != nil)
        body += expectations(
            session,
            variables,
            read: readable.count == 1 ? used.flatMap { before[$0]?.message } : nil,
            isReadable: used != nil,
            isTorn: isTorn,
            used: used.flatMap { variables[$0] }
        )
        let names = tags.isEmpty ? "Nothing is near" : tags.map { "“\($0.tag.name)”" }.joined(separator: ", ")
        tests.append(
            ["    @Test(\(Self.literal("\(number): \(names)")))", "    func session\(number)() async throws {"]
                + ["        try await withField { field in"] + body.map { "            " + $0 } + [
                    "        }", "    }",
                ]
        )
    }

    /// Which write is torn; nil for none.
    private func tornWrite(_ session: Session) -> Int? {
        var write = session.conditions["tear_write"]?.int
        for case .set("tear_write", let value) in session.steps { write = value.int ?? write }
        return write
    }

    private mutating func steps(_ session: Session, _ variables: [String: String], canFinish: Bool) -> [String] {
        var lines = session.near.compactMap { tag in variables[tag.id].map { "try await field.bring(\($0))" } }
        var faults = session.conditions
        for (name, value) in faults.sorted(by: { $0.key < $1.key }) { noteCondition(name, value) }
        if let plan = Self.plan(faults) { lines.append("try field.inject(\(plan))") }
        lines.append("let scan = Task { try await session.run() }")
        var wasNear = !session.near.isEmpty
        for step in session.steps {
            switch step {
            case .bring(let tag, let milliseconds):
                guard let variable = variables[tag.id] else { continue }
                if faults["leave_after"]?.int != nil, let plan = Self.plan(faults),
                    lines.last != "try field.inject(\(plan))"
                {
                    // The exchanges are counted from the tag's arrival.
                    lines += ["await field.settle()", "try field.inject(\(plan))"]
                }
                lines.append("try await field.bring(\(variable))")
                wasNear = true
                guard let milliseconds else { continue }
                lines += [
                    "await field.wait(for: .milliseconds(\(milliseconds)))", "try await field.takeAway(\(variable))",
                ]
            case .remove(let id):
                guard let variable = variables[id] else { continue }
                lines.append("try await field.takeAway(\(variable))")
            case .removeAll: lines.append("try await field.takeAway()")
            case .cancel:
                // The session of the test ends after its first tag.
                if !wasNear || !canFinish { lines.append("try await field.cancelSheet()") }
            case .set(let name, let value):
                faults[name] = value
                noteCondition(name, value)
                guard ["leave_after", "tear_write", "weak_field"].contains(name) else { continue }
                lines += ["await field.settle()", "try field.inject(\(Self.plan(faults) ?? "FaultPlan()"))"]
            case .begin, .end, .exchangeAlone, .fault: continue
            }
        }
        return lines
    }

    private mutating func noteCondition(_ name: String, _ value: JSON) {
        guard let usual = Self.usualConditions[name], value.double != usual.double || value.bool != usual.bool else {
            return
        }
        note("The condition \"\(name)\" is left out: set it with withField, or in the test.")
    }

    /// The conditions that a test does not repeat, with the values that have no effect.
    private static let usualConditions: [String: JSON] = [
        "noise": 0, "radio": true, "busy": false, "entitlement": true, "usage_text": true,
    ]

    /// The source of the faults for conditions; nil for none.
    private static func plan(_ conditions: [String: JSON]) -> String? {
        var plans: [String] = []
        var faults: [String] = []
        if let count = conditions["leave_after"]?.int {
            plans.append(".loss(atExchange: \(count))")
            faults.append("Fault(.loss, at: .exchange(\(count)))")
        }
        if let write = conditions["tear_write"]?.int {
            plans.append(".tear(duringWrite: \(write), leaving: .mixed(seed: 1))")
            faults.append("Fault(.powerCut(.mixed(seed: 1)), at: .write(\(write)))")
        }
        if conditions["weak_field"]?.bool == true {
            plans.append(".weakField")
            faults.append("Fault(.brownOut, at: .everyWrite)")
        }
        return plans.count > 1 ? "FaultPlan([\(faults.joined(separator: ", "))])" : plans.first
    }

    private mutating func expectations(
        _ session: Session,
        _ variables: [String: String],
        read: [UInt8]?,
        isReadable: Bool,
        isTorn: Bool,
        used: String?
    ) -> [String] {
        var lines: [String] = []
        if isTorn, let used {
            lines.append("await #expect(throws: (any Error).self) { try await scan.value }")
            lines.append("let message = try? await \(used).message()")
            lines.append("#expect(message?.bytes != session.message)")
        } else if session.has(.loss) {
            lines += ["await field.settle()", "session.end()", "_ = await scan.result"]
        } else if !isReadable {
            if !session.steps.contains(.cancel) { lines += ["await field.settle()", "session.end()"] }
            lines.append("await #expect(throws: (any Error).self) { try await scan.value }")
        } else if let read, !read.isEmpty, let decoded = try? NDEFMessage(decoding: read),
            (try? decoded.encoded()) == read
        {
            lines.append("#expect(try await scan.value == \(bytes(read)))")
        } else {
            lines.append("_ = try await scan.value")
        }
        for tag in session.tags {
            guard let variable = variables[tag.id], !isTorn || variable != used, let message = session.messages[tag.id]
            else { continue }
            lines.append("#expect(try await \(variable).message() == TagMessage(bytes: \(bytes(message))))")
        }
        return lines
    }

    // MARK: Tags

    /// What a session learns of a tag; nil if a phone can't read it.
    private static func summary(of tag: Journal.Tag) -> NDEFSummary? {
        guard let contents = try? TagImage(parsing: Array(tag.image.utf8)).contents,
            PhoneLimits.reason(contents) == nil
        else { return nil }
        return NDEFSummary(of: contents)
    }

    /// Source that creates a tag: from product and message if they describe it fully, otherwise from its image.
    private mutating func spec(of tag: Journal.Tag) -> String {
        guard let contents = try? TagImage(parsing: Array(tag.image.utf8)).contents,
            let product = TagProduct(named: contents.model),
            product.identifierLengths.contains(contents.uid.count)
        else { return dump(tag.image) }
        let message = NDEFSummary(of: contents).message ?? []
        let blank = product.blank(uid: contents.uid)
        let rewritten = message.isEmpty ? blank : try? NewTag.written(message, on: blank)
        guard rewritten == contents else { return dump(tag.image) }
        let holding = message.isEmpty ? "" : ", holding: TagMessage(bytes: \(bytes(message)))"
        return ".product(\(Self.literal(product.name))\(holding), uid: \(bytes(contents.uid)))"
    }

    private mutating func dump(_ image: String) -> String {
        // A line of a dump continues after a backslash.
        let lines = image.split(separator: "\n").map { line -> String in
            let parts = stride(from: 0, to: line.count, by: 96).map { String(line.dropFirst($0).prefix(96)) }
            return "        " + parts.joined(separator: "\\#\n        ")
        }
        let text = " = #\"\"\"\n\(lines.joined(separator: "\n"))\n        \"\"\"#"
        return ".dump(Array(\(constant("dump", text)).utf8))"
    }

    // MARK: The source

    private var source: String {
        var lines = [
            "// Generated by the simulator from what was just done. Replace SimulatedSession with your app's own code.",
            "@preconcurrency import CoreNFC", "import Foundation", "import NFCTestKit", "import Testing", "",
            "@Suite(.timeLimit(.minutes(1))) private struct SimulatedTests {",
        ]
        lines += Array(tests.joined(separator: [""])) + ["}", ""]
        if !constants.isEmpty {
            lines += ["/// Data that is too long for a line.", "private enum Long {"]
            lines += constants.map { "    static let \($0.name)\($0.source)" } + ["}", ""]
        }
        return lines.joined(separator: "\n") + Self.session
    }

    /// Bytes as source. Long ones become a constant, so that the test stays readable.
    private mutating func bytes(_ bytes: [UInt8]) -> String {
        let digits = bytes.map { "0x" + CollectionOfOne($0).hex }
        guard digits.count > 20 else { return "[" + digits.joined(separator: ", ") + "]" }
        let lines = stride(from: 0, to: digits.count, by: 16).map {
            "        " + digits[$0..<min($0 + 16, digits.count)].joined(separator: ", ") + ","
        }
        return constant("bytes", ": [UInt8] = [\n\(lines.joined(separator: "\n"))\n    ]")
    }

    private mutating func constant(_ kind: String, _ source: String) -> String {
        if let known = constants.first(where: { $0.source == source }) { return "Long.\(known.name)" }
        constants.append((source, "\(kind)\(constants.count + 1)"))
        return "Long.\(constants[constants.count - 1].name)"
    }

    /// A string as Swift source, on one line.
    private static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default:
                if isHidden(scalar) {
                    result += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    /// Whether a character must be escaped. Characters that style or join emoji stay readable.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        default: false
        }
    }

    /// The source of the session class, which reads the first tag or writes to it.
    private static let session = """

        /// What the app did: it reads a tag's message, and writes its own message if it has any.
        private final class SimulatedSession: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
            let message: [UInt8]?
            /// Whether it waits until a single tag is near.
            private let waitsForOneTag: Bool
            private let lock = NSLock()
            private var session: NFCNDEFReaderSession?
            private var waiting: CheckedContinuation<[UInt8], any Error>?

            init(writing message: [UInt8]? = nil, waitsForOneTag: Bool = false) {
                self.message = message
                self.waitsForOneTag = waitsForOneTag
            }

            /// Scans, and returns the bytes of the message that was read.
            func run() async throws -> [UInt8] {
                try await withCheckedThrowingContinuation { continuation in
                    lock.withLock { waiting = continuation }
                    let session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false)
                    lock.withLock { self.session = session }
                    session.alertMessage = "Hold your phone near the tag."
                    session.begin()
                }
            }

            /// Ends the session without a result.
            func end() { lock.withLock { session }?.invalidate() }

            private func finish(_ result: Result<[UInt8], any Error>) {
                lock.withLock {
                    defer { waiting = nil }
                    return waiting
                }?.resume(with: result)
            }

            func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                guard let tag = tags.first, tags.count == 1 || !waitsForOneTag else { return session.restartPolling() }
                session.connect(to: tag) { error in
                    if let error { return self.fail(session, error) }
                    tag.readNDEF { message, error in
                        // An empty tag has no message, which is no failure here. Without NDEF, it waits for another tag.
                        let isEmpty = (error as? NFCReaderError)?.code == .ndefReaderSessionErrorZeroLengthMessage
                        if error != nil, !isEmpty { return session.restartPolling() }
                        let read = message.map(Self.bytes) ?? []
                        guard let new = self.message, let message = NFCNDEFMessage(data: Data(new)) else {
                            return self.succeed(session, read)
                        }
                        tag.writeNDEF(message) { error in
                            if let error { return self.fail(session, error) }
                            self.succeed(session, read)
                        }
                    }
                }
            }

            private func succeed(_ session: NFCNDEFReaderSession, _ read: [UInt8]) {
                finish(.success(read))
                session.invalidate()
            }

            private func fail(_ session: NFCNDEFReaderSession, _ error: any Error) {
                finish(.failure(error))
                session.invalidate(errorMessage: "The tag could not be used. Try again.")
            }

            func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

            func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                finish(.failure(error))
            }

            func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}

            /// The bytes of a message, with short records where the payload is short.
            private static func bytes(_ message: NFCNDEFMessage) -> [UInt8] {
                var bytes: [UInt8] = []
                for (index, record) in message.records.enumerated() {
                    var header = record.typeNameFormat.rawValue
                    if index == 0 { header |= 0x80 }
                    if index == message.records.count - 1 { header |= 0x40 }
                    let size = record.payload.count
                    if size < 256 { header |= 0x10 }
                    if !record.identifier.isEmpty { header |= 0x08 }
                    bytes += [header, UInt8(record.type.count)]
                    bytes += size < 256 ? [UInt8(size)] : (0..<4).map { UInt8(size >> (24 - 8 * $0) & 0xFF) }
                    if !record.identifier.isEmpty { bytes.append(UInt8(record.identifier.count)) }
                    bytes += record.type + record.identifier + record.payload
                }
                return bytes
            }
        }

        """
}
