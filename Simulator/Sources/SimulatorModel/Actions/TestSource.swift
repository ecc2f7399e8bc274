// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagImages
import VirtualTags

/// "Copy as test": writes the source of NFCTestKit tests that repeat what happened in each session of an app.
///
/// A test makes the app's calls itself, in the order of the journal, and checks each result, the session's end, and what
/// the tags hold after it.
struct TestSource: Sendable {
    /// A session of an app, from its beginning to its end, or until now.
    private struct Session {
        var id: Int
        var kind: String
        var near: [Journal.Tag]
        var conditions: [String: JSON]
        var steps: [Journal.Step] = []
        /// The reason of the end; nil if the session is still active.
        var reason: String?
        var messages: [String: [UInt8]] = [:]

        /// The code of the error that ended the session; nil for no error of Core NFC.
        var code: Int? { reason.flatMap { Int($0.prefix { $0.isNumber }) } }

        /// The tags, in the order in which they were first near.
        var tags: [Journal.Tag] {
            var tags = near
            for case .bring(let tag) in steps where !tags.contains(where: { $0.id == tag.id }) { tags.append(tag) }
            return tags
        }

        var calls: [Journal.Call] { steps.compactMap { if case .call(let call) = $0 { call } else { nil } } }

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

    /// Adds a sentence about what a test does not repeat, for the page and for the source.
    private mutating func note(_ text: String) { if !notes.contains(text) { notes.append(text) } }

    private mutating func sessions(_ state: SimulatorState) -> [Session] {
        var sessions: [Session] = []
        var open: Session?
        var outside: [String] = []
        for step in state.journal.steps {
            switch step {
            case .begin(let id, let kind, let near, let conditions):
                if let open { sessions.append(open) }
                open = Session(id: id, kind: kind, near: near, conditions: conditions)
            case .end(let id, let reason, let messages):
                guard var ended = open, ended.id == id else { continue }
                (ended.reason, ended.messages) = (reason, messages)
                sessions.append(ended)
                open = nil
            default:
                open?.steps.append(step)
                if open == nil, case .bring(let tag) = step { outside.append(tag.id) }
            }
        }
        if var running = open {
            running.messages = state.journalMessages
            sessions.append(running)
        }
        let inside = Set(sessions.flatMap(\.tags).map(\.id))
        if !inside.isSuperset(of: outside) {
            note("Tags that no session of an app has read are left out: NFCTestKit has no background reading.")
        }
        return sessions
    }

    // MARK: A session

    private mutating func add(_ session: Session) {
        if let reason = Self.reasonToOmit(session) { return note(reason) }
        let number = tests.count + 1
        let tags = session.tags.enumerated().map { (variable: "tag\($0.offset + 1)", tag: $0.element) }
        let variables = Dictionary(uniqueKeysWithValues: tags.map { ($0.tag.id, $0.variable) })
        var body = ["let session = try SimulatedSession(\(Self.form(session)))"]
        for (variable, tag) in tags { body.append("let \(variable) = try await field.make(\(spec(of: tag)))") }
        body += steps(session, variables)
        body += end(session)
        body += contents(session, variables)
        let names = tags.isEmpty ? "Nothing is near" : tags.map { "“\($0.tag.name)”" }.joined(separator: ", ")
        tests.append(
            ["    @Test(\(Self.literal("\(number): \(names)")))", "    func session\(number)() async throws {"]
                + ["        try await withField\(Self.app(session)) { field in"] + body.map { "            " + $0 } + [
                    "        }", "    }",
                ]
        )
    }

    /// Why a test can't repeat a session; nil if it can.
    private static func reasonToOmit(_ session: Session) -> String? {
        switch session.code {
        case 6: "A session that ended with error 6 is left out: a test can't turn the radio off."
        case 203: "A session that ended with error 203 is left out: a test has no other app that uses the reader."
        case nil where session.reason != nil && session.conditions["usage_text"]?.bool == false:
            "A session without a usage text is left out: it ends the app, and would end the test."
        default:
            session.kind.hasPrefix("NFCVAS") ? "A session for passes is left out: NFCTestKit has no passes." : nil
        }
    }

    /// How the app gets tags.
    private static func form(_ session: Session) -> String {
        let calls = session.calls.map(\.name)
        if session.kind.hasPrefix("NFCTagReaderSession") || calls.contains(.command) { return ".tags" }
        if session.code == 204 { return ".firstMessage" }
        return calls.contains(.didDetectNDEFs) ? ".messages" : ".ndef"
    }

    /// The argument with the app's declarations, for those on which the session depends.
    private static func app(_ session: Session) -> String {
        var arguments: [String] = []
        var applications: [String] = []
        for call in session.calls where call.name == .connect && !call.received.isEmpty {
            let name = literal(call.received.hex.uppercased())
            if !applications.contains(name) { applications.append(name) }
        }
        if !applications.isEmpty {
            let key = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
            let list = applications.joined(separator: ", ")
            arguments.append("infoPlist: [\"NFCReaderUsageDescription\": \"Reads cards.\", \"\(key)\": [\(list)]]")
        }
        if session.conditions["entitlement"]?.bool == false { arguments.append("entitlements: [:]") }
        return arguments.isEmpty ? "" : "(app: AppProperties(\(arguments.joined(separator: ", "))))"
    }

    // MARK: Steps

    /// The steps without the repetitions that depend on time: an app that polls again finds the same tags several times a
    /// second.
    private static func essential(_ steps: [Journal.Step]) -> [Journal.Step] {
        var result: [Journal.Step] = []
        /// The tags that were found last and the calls on them, while the user has changed nothing.
        var last: [Journal.Step] = []
        /// The number of tags that the app found last without a call.
        var unused: Int?
        var rest = steps[...]
        while let step = rest.popFirst() {
            switch step {
            case .detect(let count):
                var calls: [Journal.Step] = []
                while let next = rest.first, next.isResult {
                    if case .call = next { calls.append(next) }
                    rest.removeFirst()
                }
                let isRepeated = calls.isEmpty ? unused == count : last == [step] + calls
                unused = calls.isEmpty ? count : nil
                last = [step] + calls
                if !isRepeated { result += last }
            case .call(let call):
                // The result of a call that has succeeded may arrive after the tag was taken away.
                var place = result.endIndex
                while call.error == nil, place > 0, case .remove = result[place - 1] { place -= 1 }
                result.insert(step, at: place)
            case .fault, .active: continue
            default:
                last = []
                result.append(step)
            }
        }
        return result
    }

    private mutating func steps(_ session: Session, _ variables: [String: String]) -> [String] {
        var lines = session.near.compactMap { tag in variables[tag.id].map { "try await field.bring(\($0))" } }
        var faults = session.conditions
        for (name, value) in faults.sorted(by: { $0.key < $1.key }) { noteCondition(name, value) }
        if let plan = Self.plan(faults) { lines.append("try field.inject(\(plan))") }
        lines.append("session.begin()")
        var isConnected = false
        for step in Self.essential(session.steps) {
            switch step {
            case .bring(let tag):
                guard let variable = variables[tag.id] else { continue }
                if faults["leave_after"]?.int != nil, let plan = Self.plan(faults),
                    lines.last != "try field.inject(\(plan))"
                {
                    // The exchanges are counted from the tag's arrival.
                    lines += ["await field.settle()", "try field.inject(\(plan))"]
                }
                lines.append("try await field.bring(\(variable))")
            case .remove(let id):
                guard let variable = variables[id] else { continue }
                lines += Self.stay(lines) + ["try await field.takeAway(\(variable))"]
            case .cancel: lines += Self.stay(lines) + ["try await field.cancelSheet()"]
            case .set(let name, let value):
                faults[name] = value
                noteCondition(name, value)
                guard ["leave_after", "tear_write", "weak_field"].contains(name) else { continue }
                lines += ["await field.settle()", "try field.inject(\(Self.plan(faults) ?? "FaultPlan()"))"]
            case .detect(let count):
                isConnected = false
                lines.append("try await session.detect(\(count == 1 ? "" : "\(count)"))")
            case .call(let call):
                if ![.connect, .didDetectNDEFs].contains(call.name), !isConnected {
                    lines.append("try await session.connect()")
                }
                isConnected = true
                if call.error != nil, faults["noise"]?.double ?? 0 > 0 {
                    lines.append("// The noise made \(call.name) fail here.")
                } else {
                    lines.append(line(for: call))
                }
            case .begin, .end, .active, .fault: continue
            }
        }
        if !session.tags.isEmpty, !session.steps.contains(where: \.showsCalls) {
            let text = "A program that does not report its calls has a test without calls."
            note(text)
            lines.append("// \(text)")
        }
        return lines + Self.stay(lines)
    }

    /// Lets a tag that the app has not used be near for a while.
    private static func stay(_ lines: [String]) -> [String] {
        lines.last?.hasPrefix("try await field.bring(") == true ? ["await field.settle()"] : []
    }

    /// Source that makes a call and checks its result.
    private mutating func line(for call: Journal.Call) -> String {
        var source: String
        var value: String?
        switch call.name {
        case .connect:
            let index = call.sent.first ?? 0
            source = "connect(\(index == 0 ? "" : "\(index)"))"
        case .queryNDEFStatus:
            source = "status()"
            value = [1: ".notSupported", 2: ".readWrite", 3: ".readOnly"][call.received.first ?? 0]
        case .readNDEF, .didDetectNDEFs:
            source = call.name == .readNDEF ? "read()" : "message()"
            // The test encodes the records in the shortest form, which is not always that of the tag.
            let shortest = try? NDEFMessage(decoding: call.received).encoded()
            value = bytes(shortest ?? call.received)
        case .writeNDEF: source = "write(\(bytes(call.sent)))"
        case .writeLock: source = "lock()"
        case .command:
            source = "send(\(bytes(call.sent)))"
            value = bytes(call.received)
        }
        source = "try await session.\(source)"
        guard let error = call.error else { return value.map { "#expect(\(source) == \($0))" } ?? source }
        if value != nil { source = "_ = " + source }
        guard let name = Self.codes[error] else { return "await #expect(throws: (any Error).self) { \(source) }" }
        return "#expect(await failure { \(source) } == \(name))"
    }

    /// The end of the session, and the check of its code.
    private mutating func end(_ session: Session) -> [String] {
        let check = session.code.flatMap { Self.codes[$0] }.map { "#expect(await session.end() == \($0))" }
        switch (session.code, check) {
        case (200, let check?): return (session.steps.contains(.cancel) ? [] : ["session.invalidate()"]) + [check]
        case (201, let check?): return ["await field.wait(for: .seconds(60))", check]
        case (2, let check?), (204, let check?): return [check]
        default:
            note(
                session.reason == nil
                    ? "A session that is still active is ended by its test, which does not check the end."
                    : "The end of a session by \"\(session.reason ?? "")\" is not repeated, so its code is not checked."
            )
            return ["session.invalidate()"]
        }
    }

    /// The checks of what the tags hold after the session.
    private mutating func contents(_ session: Session, _ variables: [String: String]) -> [String] {
        let failed = session.calls.last { $0.error != nil && [.writeNDEF, .command].contains($0.name) }
        let isTorn = session.has(.tear, .brownOut) || session.has(.loss) && failed != nil
        var lines: [String] = []
        for tag in session.tags {
            guard let variable = variables[tag.id], let message = session.messages[tag.id] ?? Self.message(of: tag)
            else { continue }
            if isTorn, session.tags.count == 1 || message != Self.message(of: tag) {
                // What a torn write leaves differs from run to run of the simulator.
                guard let failed, failed.name == .writeNDEF else {
                    note("What a torn write has left on a tag is not checked.")
                    continue
                }
                lines.append("let torn = try? await \(variable).message()")
                lines.append("#expect(torn?.bytes != \(bytes(failed.sent)))")
            } else if session.messages[tag.id] != nil {
                lines.append("#expect(try await \(variable).message() == TagMessage(bytes: \(bytes(message))))")
            }
        }
        return lines
    }

    private mutating func noteCondition(_ name: String, _ value: JSON) {
        guard let usual = Self.usualConditions[name], value.double != usual.double || value.bool != usual.bool else {
            return
        }
        note("The condition \"\(name)\" is left out, and so are the calls that it made fail.")
    }

    /// The conditions that a test does not repeat, with the values that have no effect.
    private static let usualConditions: [String: JSON] = ["noise": 0, "radio": true, "busy": false, "usage_text": true]

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

    /// The codes of Core NFC's errors, with their names in Swift.
    private static let codes: [Int: String] = [
        1: ".readerErrorUnsupportedFeature", 2: ".readerErrorSecurityViolation", 3: ".readerErrorInvalidParameter",
        4: ".readerErrorInvalidParameterLength", 5: ".readerErrorParameterOutOfBound",
        6: ".readerErrorRadioDisabled", 7: ".readerErrorIneligible", 8: ".readerErrorAccessNotAccepted",
        100: ".readerTransceiveErrorTagConnectionLost", 101: ".readerTransceiveErrorRetryExceeded",
        102: ".readerTransceiveErrorTagResponseError", 103: ".readerTransceiveErrorSessionInvalidated",
        104: ".readerTransceiveErrorTagNotConnected", 105: ".readerTransceiveErrorPacketTooLong",
        200: ".readerSessionInvalidationErrorUserCanceled", 201: ".readerSessionInvalidationErrorSessionTimeout",
        202: ".readerSessionInvalidationErrorSessionTerminatedUnexpectedly",
        203: ".readerSessionInvalidationErrorSystemIsBusy", 204: ".readerSessionInvalidationErrorFirstNDEFTagRead",
        300: ".tagCommandConfigurationErrorInvalidParameters", 400: ".ndefReaderSessionErrorTagNotWritable",
        401: ".ndefReaderSessionErrorTagUpdateFailure", 402: ".ndefReaderSessionErrorTagSizeTooSmall",
        403: ".ndefReaderSessionErrorZeroLengthMessage",
    ]

    // MARK: Tags

    private static func message(of tag: Journal.Tag) -> [UInt8]? {
        guard let contents = try? TagImage(parsing: Array(tag.image.utf8)).contents else { return nil }
        return NDEFSummary(of: contents).message
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
        ]
        lines += notes.map { "// Not repeated: \($0)" }
        lines.append("@Suite(.timeLimit(.minutes(1))) private struct SimulatedTests {")
        lines += Array(tests.joined(separator: [""])) + ["}", ""]
        if !constants.isEmpty {
            lines += ["/// Data that is too long for a line.", "private enum Long {"]
            lines += constants.map { "    static let \($0.name)\($0.source)" } + ["}", ""]
        }
        return lines.joined(separator: "\n") + (tests.isEmpty ? "" : Self.session)
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

    /// The source of the session class.
    private static let session = """

        /// An app's session. The test makes the app's calls, one after the other.
        private final class SimulatedSession: @unchecked Sendable {
            /// What the app gets: messages, or tags for NDEF, or tags for commands.
            enum Form { case messages, firstMessage, ndef, tags }

            enum Event: @unchecked Sendable {
                case message([UInt8])
                case tags([any NFCNDEFTag], [NFCTag])
                case ended(any Error)
            }

            private let (events, event) = AsyncStream<Event>.makeStream()
            private let delegate: NSObject
            private let session: NFCReaderSession
            private var hasDetected = false
            private var found: (ndef: [any NFCNDEFTag], tags: [NFCTag]) = ([], [])
            private var connected = 0

            init(_ form: Form) throws {
                switch form {
                case .messages, .firstMessage:
                    let delegate = MessageDelegate(event)
                    let once = form == .firstMessage
                    session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: once)
                    self.delegate = delegate
                case .ndef:
                    let delegate = TagDelegate(event)
                    session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
                    self.delegate = delegate
                case .tags:
                    let delegate = TagDelegate(event)
                    let all: NFCTagReaderSession.PollingOption = [.iso14443, .iso15693, .iso18092]
                    guard let session = NFCTagReaderSession(pollingOption: all, delegate: delegate) else {
                        throw NFCReaderError(.readerErrorInvalidParameter)
                    }
                    (self.session, self.delegate) = (session, delegate)
                }
            }

            func begin() { session.begin() }

            func invalidate() { session.invalidate() }

            /// Waits for the end of the session, and returns its code.
            func end() async -> NFCReaderError.Code? {
                for await case .ended(let error) in events { return (error as? NFCReaderError)?.code }
                return nil
            }

            /// Waits for the next message.
            func message() async throws -> [UInt8] {
                guard case .message(let message) = try await next() else { return [] }
                return message
            }

            /// Waits until so many tags are found together.
            func detect(_ count: Int = 1) async throws {
                repeat {
                    if hasDetected {
                        (session as? NFCNDEFReaderSession)?.restartPolling()
                        (session as? NFCTagReaderSession)?.restartPolling()
                    }
                    guard case .tags(let ndef, let tags) = try await next() else { continue }
                    (hasDetected, found) = (true, (ndef, tags))
                } while found.ndef.count != count
            }

            private func next() async throws -> Event {
                let next = await events.first { _ in true }
                guard let next else { throw CancellationError() }
                if case .ended(let error) = next { throw error }
                return next
            }

            // MARK: Calls on the tag

            func connect(_ index: Int = 0) async throws {
                connected = index
                if let session = session as? NFCTagReaderSession {
                    try await session.connect(to: found.tags[index])
                } else if let session = session as? NFCNDEFReaderSession {
                    try await session.connect(to: found.ndef[index])
                }
            }

            func status() async throws -> NFCNDEFStatus { try await found.ndef[connected].queryNDEFStatus().0 }

            func read() async throws -> [UInt8] { try await found.ndef[connected].readNDEF().bytes }

            func write(_ message: [UInt8]) async throws {
                guard let message = NFCNDEFMessage(data: Data(message)) else { return }
                try await found.ndef[connected].writeNDEF(message)
            }

            func lock() async throws { try await found.ndef[connected].writeLock() }

            /// Sends a command in the form of the tag's technology, and returns the answer.
            func send(_ command: [UInt8]) async throws -> [UInt8] {
                switch found.tags[connected] {
                case .miFare(let tag): return [UInt8](try await tag.sendMiFareCommand(commandPacket: Data(command)))
                case .feliCa(let tag): return [UInt8](try await tag.sendFeliCaCommand(commandPacket: Data(command)))
                case .iso15693(let tag):
                    let (flags, code, data) = (Int(command[0]), Int(command[1]), Data(command.dropFirst(2)))
                    let answer = try await tag.sendRequest(requestFlags: flags, commandCode: code, data: data)
                    return [answer.0.rawValue] + (answer.1 ?? Data())
                case .iso7816(let tag):
                    guard let apdu = NFCISO7816APDU(data: Data(command)) else { return [] }
                    let (data, sw1, sw2) = try await tag.sendCommand(apdu: apdu)
                    return data + [sw1, sw2]
                }
            }
        }

        /// The code of the error with which a call fails; nil if it succeeds.
        private func failure(_ call: () async throws -> Void) async -> NFCReaderError.Code? {
            do {
                try await call()
                return nil
            } catch {
                return (error as? NFCReaderError)?.code
            }
        }

        /// A delegate that gets messages.
        private final class MessageDelegate: NSObject, NFCNDEFReaderSessionDelegate {
            let event: AsyncStream<SimulatedSession.Event>.Continuation

            init(_ event: AsyncStream<SimulatedSession.Event>.Continuation) { self.event = event }

            func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                for message in messages { event.yield(.message(message.bytes)) }
            }

            func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                event.yield(.ended(error))
            }

            func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}
        }

        /// A delegate that gets tags.
        private final class TagDelegate: NSObject, NFCNDEFReaderSessionDelegate, NFCTagReaderSessionDelegate {
            private let event: AsyncStream<SimulatedSession.Event>.Continuation

            init(_ event: AsyncStream<SimulatedSession.Event>.Continuation) { self.event = event }

            func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                event.yield(.tags(tags, []))
            }

            func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                let ndef: [any NFCNDEFTag] = tags.map {
                    switch $0 {
                    case .feliCa(let tag): tag
                    case .iso7816(let tag): tag
                    case .iso15693(let tag): tag
                    case .miFare(let tag): tag
                    }
                }
                event.yield(.tags(ndef, tags))
            }

            func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

            func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                event.yield(.ended(error))
            }

            func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
                event.yield(.ended(error))
            }

            func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}
            func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
        }

        extension NFCNDEFMessage {
            /// The message's bytes, with short records where the payload is short.
            fileprivate var bytes: [UInt8] {
                var bytes: [UInt8] = []
                for (index, record) in records.enumerated() {
                    var header = record.typeNameFormat.rawValue
                    if index == 0 { header |= 0x80 }
                    if index == records.count - 1 { header |= 0x40 }
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

extension Journal.Step {
    /// Whether the step shows that the app reports its calls.
    fileprivate var showsCalls: Bool {
        switch self {
        case .active, .detect, .call: true
        default: false
        }
    }

    /// Whether the step is not the user's, but follows from the app's calls.
    fileprivate var isResult: Bool {
        switch self {
        case .call, .fault: true
        default: false
        }
    }
}
