// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCReaders
import NFCSessions
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

/// An app on the phone of a simulator: its sessions, its sheet, its screen, presses, links, and what the phone withholds.
@Suite(.timeLimit(.minutes(5))) struct PhoneTests {
    // MARK: Sessions

    /// A delegate that only reads messages.
    private final class Delegate: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
        let ends: AsyncStream<NFCReaderError.Code>
        let count = Locked(0)
        private let end: AsyncStream<NFCReaderError.Code>.Continuation

        override init() { (ends, end) = AsyncStream.makeStream(of: NFCReaderError.Code.self) }

        func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}

        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
            count.withLock { $0 += messages.count }
        }

        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
            if let error = error as? NFCReaderError { end.yield(error.code) }
        }
    }

    /// Reads one message of a tag, in a session of Core NFC.
    ///
    /// - Parameter switches: members of the simulator's greeting.
    /// - Returns: the simulator, how many messages came, and why the session ended.
    private static func read(
        switches: String = ""
    ) async throws -> (simulator: FakeSimulator, messages: Int, end: NFCReaderError.Code?) {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6])
        let message: [UInt8] = [0x03, 0x06, 0xD1, 0x01, 0x02, 0x55, 0x03, 0x61, 0xFE]
        contents.memory.replaceSubrange(16..<16 + message.count, with: message)
        field.bring(VirtualType2Tag(contents))
        let simulator = FakeSimulator { _, request in
            if request["hello"] != nil { return ["\(FakeSimulator.greeting.dropLast())\(switches)}"] }
            guard request["do"] as? String == "claim" else { return FakeSimulator.answers(to: request, from: field) }
            return [#"{"id":\#(request["id"] ?? 0),"granted":true}"#]
        }
        let made = ResolvedReader(simulator.reader)
        var limits = SessionLimits()
        limits.sheetDismissal = .milliseconds(10)
        let environment = NFCEnvironment(
            reader: made.reader,
            clock: SystemClock.shared,
            sheet: try #require(made.sheet),
            limits: limits,
            belongsToTest: true,
            gate: made.gate,
            host: made.host
        )
        let delegate = Delegate()
        let end = await NFCEnvironment.$scoped.withValue(environment) {
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.alertMessage = "Hold it here."
            session.begin()
            return await delegate.ends.first { _ in true }
        }
        try await simulator.receives("didInvalidateWithError")
        return (simulator, delegate.count.withLock { $0 }, end)
    }

    @Test func `NDEF session: claim, sheet states, callbacks and release are sent to the simulator`() async throws {
        let (simulator, messages, end) = try await Self.read()
        #expect(messages == 1 && end == .readerSessionInvalidationErrorFirstNDEFTagRead)
        try await simulator.receives("\"dismissed\"")
        try await simulator.receives("\"release\"")
        let requests = try simulator.lines.compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? FakeSimulator.Request
        }
        func values(_ key: String, of request: String) -> [String] {
            requests.filter { $0["do"] as? String == request }.compactMap { $0[key] as? String }
        }
        #expect(values("state", of: "sheet") == ["ready", "scanning", "success", "dismissed"])
        #expect(values("message", of: "sheet").first == "Hold it here.")
        #expect(
            values("name", of: "event") == [
                "begin", "readerSessionDidBecomeActive(_:)", "didDetectNDEFs", "readerSession(_:didDetectNDEFs:)",
                "invalidate", "readerSession(_:didInvalidateWithError:)",
            ]
        )
        #expect(values("detail", of: "event").contains("NFCNDEFReaderSession"))
        let order = requests.compactMap { $0["do"] as? String }
        #expect(try #require(order.firstIndex(of: "claim")) < #require(order.firstIndex(of: "frame")))
    }

    @Test func `app without the entitlement: the session ends with securityViolation, without a sheet`() async throws {
        let (simulator, _, end) = try await Self.read(switches: #","entitlement":false"#)
        #expect(end == .readerErrorSecurityViolation && simulator.count("\"sheet\"") == 0)
    }

    // MARK: The reader's side of the phone

    /// A simulator that greets and answers with nothing, its reader, and what the reader's handlers report.
    private struct Phone {
        let simulator: FakeSimulator
        let reader: SimulatorReader
        let events: AsyncStream<String>.Continuation
        var heard: AsyncStream<String>.Iterator

        init(_ simulator: FakeSimulator = .answering()) {
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            (self.simulator, reader, events) = (simulator, simulator.reader, continuation)
            heard = stream.makeAsyncIterator()
            reader.onPress { continuation.yield("press \($0)") }
        }

        func listenToLinks(as name: String = "link") {
            reader.onLink { [events] in events.yield("\(name) \($0.activityType) \($0.url) \($0.message.hexText())") }
        }

        mutating func hears(_ events: [String]) async {
            for event in events { #expect(await heard.next(isolation: #isolation) == event) }
        }
    }

    private static func link(_ number: Int) -> String {
        #"{"event":"link","activity_type":"T","url":"https://a.example/\#(number)","message_hex":"d101"}"#
    }

    private static func press(_ item: String) -> String { #"{"event":"press","item":"\#(item)"}"# }

    private static func heard(_ links: ClosedRange<Int>, as name: String = "link") -> [String] {
        links.map { "\(name) T https://a.example/\($0) d101" }
    }

    @Test func `presses: delivered in order, also in one piece with the greeting or with an answer`() async throws {
        let simulator = FakeSimulator { _, request in
            // One piece, so that both lines are there when the first one is read.
            guard let id = request["id"] else { return [FakeSimulator.greeting + "\n" + Self.press("first")] }
            return ["a", "b", "c"].map(Self.press) + [#"{"id":\#(id)}"#]
        }
        var phone = Phone(simulator)
        try await phone.reader.setCarrier(true)
        await phone.hears(["press first", "press a", "press b", "press c"])
    }

    @Test(arguments: [1, 16, 17, 20]) func `links before an app asks for them: the last sixteen are kept and delivered`(
        count: Int
    ) async throws {
        let simulator = FakeSimulator.scripted { _, id in
            (1...count).map(Self.link) + [Self.press("ask"), Self.link(count + 1), #"{"id":\#(id)}"#]
        }
        var phone = Phone(simulator)
        // The app asks between the last two links.
        let (reader, events) = (phone.reader, phone.events)
        reader.onPress { [weak reader] _ in reader?.onLink { events.yield("link T \($0.url) \($0.message.hexText())") }
        }
        try await reader.setCarrier(true)
        await phone.hears(Self.heard(max(1, count - 14)...(count + 1)))
        // They are not given to whoever asks later.
        phone.listenToLinks(as: "later")
        simulator.push(Self.link(99))
        await phone.hears(Self.heard(99...99, as: "later"))
    }

    @Test func `link just before the simulator ends: delivered`() async throws {
        let simulator = FakeSimulator { simulator, request in
            guard request["hello"] == nil else { return [FakeSimulator.greeting] }
            simulator.push(Self.link(1))
            simulator.end()
            return []
        }
        var phone = Phone(simulator)
        phone.listenToLinks()
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await phone.reader.setCarrier(true) }
        await phone.hears(Self.heard(1...1))
    }

    @Test func `unknown event: ignored, and the next one is handled`() async throws {
        var phone = Phone()
        try await phone.reader.prepare()
        phone.simulator.push(#"{"event":"other","item":"other"}"#)
        phone.simulator.push(Self.press("last"))
        await phone.hears(["press last"])
    }

    @Test func `switches: each event replaces all of them, and a missing member has its default`() async throws {
        let all = #""radio":false,"busy":true,"entitlement":false,"usage_text":false"#
        var phone = Phone(.scripted(greeting: "\(FakeSimulator.greeting.dropLast()),\(all)}") { _, _ in [] })
        let reader = phone.reader
        // To ask for them connects.
        #expect(!reader.switches.hasRadio && reader.switches.isBusy)
        #expect(!reader.switches.hasEntitlement && !reader.switches.hasUsageText)
        for (members, isBusy) in [("", false), (#","busy":true"#, true)] {
            phone.simulator.push(#"{"event":"switches"\#(members)}"#)
            phone.simulator.push(Self.press("after"))
            await phone.hears(["press after"])
            var expected = SimulatorSwitches()
            expected.isBusy = isBusy
            #expect(reader.switches == expected)
        }
    }

    @Test func `sheet and note: sent with all their members; Cancel is reported until the sheet is dismissed`()
        async throws
    {
        var phone = Phone()
        let (reader, events) = (phone.reader, phone.events)
        for (state, heard) in [("failure", ["cancel", "press after"]), ("dismissed", ["press after"])] {
            reader.showSheet(state: state, title: "Ready to Scan", message: "\"Gone.\"", showsErrorSymbol: true) {
                events.yield("cancel")
            }
            try await phone.simulator.receives(state)
            phone.simulator.push(#"{"event":"cancel"}"#)
            phone.simulator.push(Self.press("after"))
            await phone.hears(heard)
        }
        reader.note("session", session: 2, name: "begin", detail: "NFCTagReaderSession")
        try await phone.simulator.receives("\"event\"")
        let sheet = #""title":"Ready to Scan","message":"\"Gone.\"","shows_error_symbol":true}"#
        #expect(
            Array(phone.simulator.lines.dropFirst()) == [
                #"{"do":"sheet","state":"failure",\#(sheet)"#, #"{"do":"sheet","state":"dismissed",\#(sheet)"#,
                #"{"do":"event","kind":"session","session":2,"name":"begin","detail":"NFCTagReaderSession"}"#,
            ]
        )
    }

    @Test func `screen of an app: sent at once and after each restart of the simulator, until the app shows none`()
        async throws
    {
        let phone = Phone()
        let (simulator, reader) = (phone.simulator, phone.reader)
        reader.showScreen(#"{"title":"One","items":[]}"#)
        for count in 1...3 {
            try await simulator.receives(#""screen":{"title":"One","items":[]}"#, times: count)
            if count < 3 { try await simulator.restart(for: reader) }
        }
        reader.showScreen(nil)
        try await simulator.receives(#""screen":null"#)
        try await simulator.restart(for: reader)
        #expect(simulator.count("\"screen\"") == 4)
    }
}
