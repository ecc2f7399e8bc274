// SPDX-License-Identifier: Apache-2.0
import TagImages
import VirtualTags

/// "Copy as test": writes the source of an NFCTestKit test that repeats the user's actions.
struct TestSource: Sendable {
    /// The tags of the test, in the order in which they were first brought near.
    private var tags: [(id: String, variable: String, name: String, image: String, after: [UInt8]?, before: [UInt8]?)] =
        []
    private var steps: [String] = []
    private var notes: [String] = []
    private var hasFaults = false
    private var hasSession = false
    private var isCancelled = false

    init(_ state: SimulatorState) {
        for step in state.journal.steps {
            if case .session = step { hasSession = true }
        }
        if !hasSession { beginSession() }
        for step in state.journal.steps { add(step, state) }
        if steps.count <= 1 { notes.append("No tag was held near the phone since the trace was cleared.") }
    }

    var json: JSON { ["source": .string(source), "notes": .array(notes.map { JSON.string($0) })] }

    // MARK: Steps

    private mutating func add(_ step: Journal.Step, _ state: SimulatorState) {
        switch step {
        case .bring(let id, let name, let image, _, let milliseconds):
            let variable = variable(id, name, image, state)
            steps.append("try await field.bring(\(variable))")
            guard let milliseconds else { return }
            steps.append("await field.wait(for: .milliseconds(\(milliseconds)))")
            steps.append("try await field.takeAway(\(variable))")
        case .remove(let id):
            guard let tag = tags.last(where: { $0.id == id }) else { return }
            steps.append("try await field.takeAway(\(tag.variable))")
        case .removeAll: steps.append("try await field.takeAway()")
        case .cancel:
            isCancelled = true
            steps.append("try await field.cancelSheet()")
        case .session: beginSession()
        case .set(let name, let value): set(name, value)
        }
    }

    private mutating func beginSession() {
        guard !steps.contains(where: { $0.hasPrefix("let scan") }) else { return }
        steps.append("let scan = Task { try await session.run() }")
    }

    /// The variable of a tag. A tag that returns keeps its variable, unless the user changed the tag in between.
    private mutating func variable(_ id: String, _ name: String, _ image: String, _ state: SimulatorState) -> String {
        if let earlier = tags.last(where: { $0.id == id }) { return earlier.variable }
        let card = state.drawer[id]
        let before = Self.message(ofImage: image)
        let variable = "tag\(tags.count + 1)"
        tags.append((id, variable, name, image, card?.summary.message, before))
        return variable
    }

    /// Source that creates a tag: from product and message if they describe it fully, otherwise from its image.
    private static func spec(ofImage image: String) -> String {
        let whole = ".dump(Array(\(literal(image)).utf8))"
        guard let contents = try? TagImage(parsing: Array(image.utf8)).contents,
            let product = TagProduct(named: contents.model),
            product.identifierLengths.contains(contents.uid.count)
        else { return whole }
        let message = NDEFSummary(of: contents).message ?? []
        let blank = product.blank(uid: contents.uid)
        let rewritten = message.isEmpty ? blank : try? NewTag.written(message, on: blank)
        guard rewritten == contents else { return whole }
        let holding = message.isEmpty ? "" : ", holding: TagMessage(bytes: \(bytes(message)))"
        return ".product(\(literal(product.name))\(holding), uid: \(bytes(contents.uid)))"
    }

    private static func message(ofImage image: String) -> [UInt8]? {
        guard let contents = try? DrawerCard(id: "x", name: "x", image: .init(parsing: Array(image.utf8))) else {
            return nil
        }
        return contents.summary.message
    }

    private mutating func set(_ name: String, _ value: JSON) {
        switch name {
        case "leave_after":
            hasFaults = true
            steps.append("try field.inject(\(value.int.map { ".loss(atExchange: \($0))" } ?? "FaultPlan()"))")
        case "tear_write":
            hasFaults = true
            let plan = value.int.map { ".tear(duringWrite: \($0), leaving: .mixed(seed: 1))" } ?? "FaultPlan()"
            steps.append("try field.inject(\(plan))")
        case "weak_field":
            hasFaults = true
            steps.append("try field.inject(\(value.bool == true ? ".weakField" : "FaultPlan()"))")
        case "instant": return
        default: notes.append("The switch \"\(name)\" is omitted: set it with withField, or in the test.")
        }
    }

    // MARK: The source

    /// The message that the app wrote; nil if it wrote none.
    private var writtenMessage: [UInt8]? {
        guard !hasFaults else { return nil }
        return tags.lazy.compactMap { tag in tag.after.flatMap { $0 == tag.before ? nil : $0 } }.first
    }

    private var source: String {
        var lines = [
            "// Generated by the simulator from what was just done. Replace SimulatedSession with your app's own code.",
            "@preconcurrency import CoreNFC", "import Foundation", "import NFCTestKit", "import Testing", "",
            "@Suite(.timeLimit(.minutes(1))) struct SimulatedTests {",
            "    @Test(\(Self.literal(title)))", "    func flow() async throws {",
            "        try await withField { field in",
            "            let session = SimulatedSession(\(writtenMessage.map { "writing: \(Self.bytes($0))" } ?? ""))",
        ]
        for tag in tags {
            lines.append("            let \(tag.variable) = try await field.make(\(Self.spec(ofImage: tag.image)))")
        }
        lines += steps.map { "            " + $0 }
        lines += expectations.map { "            " + $0 }
        lines += ["        }", "    }", "}", ""]
        return lines.joined(separator: "\n") + Self.session
    }

    private var title: String {
        tags.isEmpty ? "Nothing is near" : tags.map { "“\($0.name)”" }.joined(separator: ", ") + " near the phone"
    }

    private var expectations: [String] {
        guard hasFaults || isCancelled || tags.isEmpty else {
            return ["let read = try await scan.value"]
                + tags.compactMap { tag in
                    tag.after.map {
                        "#expect(try await \(tag.variable).message() == TagMessage(bytes: \(Self.bytes($0))))"
                    }
                }
                + (tags.count == 1 && tags[0].before?.isEmpty == false
                    ? ["#expect(read == \(Self.bytes(tags[0].before ?? [])))"] : ["_ = read"])
        }
        return isCancelled
            ? ["await #expect(throws: (any Error).self) { try await scan.value }"]
            : ["scan.cancel()", "session.end()", "_ = await scan.result"]
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

    private static func bytes(_ bytes: [UInt8]) -> String {
        "[" + bytes.map { "0x" + CollectionOfOne($0).hex }.joined(separator: ", ") + "]"
    }

    /// The source of the session class, which reads the first tag or writes to it.
    private static let session = """

        /// What the app did: it reads the first tag's message, and writes another one if it has one.
        final class SimulatedSession: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
            private let message: [UInt8]?
            private let lock = NSLock()
            private var session: NFCNDEFReaderSession?
            private var waiting: CheckedContinuation<[UInt8], any Error>?

            init(writing message: [UInt8]? = nil) { self.message = message }

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
                guard let tag = tags.first else { return }
                session.connect(to: tag) { error in
                    if let error { return self.fail(session, error) }
                    tag.readNDEF { message, error in
                        // An empty tag has no message, which is no failure here.
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
