// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCReaders
import NFCRuntime
import PhoneScreens
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

/// An app's sessions on the phone of a simulator: its turn, its sheet, and what the simulator learns and withholds.
@Suite(.timeLimit(.minutes(5))) struct `An app on the phone of a simulator` {
    private typealias Request = FakeSimulator.Request

    /// A simulator that grants turns, with a tag near.
    ///
    /// - Parameters:
    ///   - switches: members of the greeting.
    ///   - grants: whether a claim is answered.
    private static func simulator(switches: String = "", grants: Bool = true) -> FakeSimulator {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6])
        let message: [UInt8] = [0x03, 0x06, 0xD1, 0x01, 0x02, 0x55, 0x03, 0x61, 0xFE]
        contents.memory.replaceSubrange(16..<16 + message.count, with: message)
        field.bring(VirtualType2Tag(contents))
        return FakeSimulator { _, request in
            if request["hello"] != nil { return ["\(FakeSimulator.greeting.dropLast())\(switches)}"] }
            if request["do"] as? String == "claim" {
                return grants ? [#"{"id":\#(request["id"] ?? 0),"granted":true}"#] : []
            }
            return FakeSimulator.answers(to: request, from: field)
        }
    }

    private static func environment(_ simulator: FakeSimulator) throws -> NFCEnvironment {
        let made = MadeReader(simulator.reader)
        var limits = SessionLimits()
        limits.sheetDismissal = .milliseconds(10)
        return NFCEnvironment(
            reader: made.reader,
            clock: SystemClock.shared,
            sheet: try #require(made.sheet),
            limits: limits,
            isOfTest: true,
            gate: made.gate,
            host: made.host,
            place: nil
        )
    }

    /// Reads one message.
    ///
    /// - Returns: how many messages came, and why the session ended.
    private static func read(
        _ simulator: FakeSimulator
    ) async throws -> (messages: Int, end: NFCReaderError.Code) {
        let environment = try environment(simulator)
        return await NFCEnvironment.$scoped.withValue(environment) {
            let delegate = Delegate()
            let session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: true)
            session.alertMessage = "Hold it here."
            session.begin()
            for await end in delegate.ends { return (delegate.count.withLock { $0 }, end) }
            return (0, .readerErrorUnsupportedFeature)
        }
    }

    /// Waits until the simulator has received a line.
    private static func received(_ part: String, by simulator: FakeSimulator) async throws {
        while !simulator.lines.contains(where: { $0.contains(part) }) { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test func `The sheet, the turn and the callbacks are on the phone`() async throws {
        let simulator = Self.simulator()
        let (messages, end) = try await Self.read(simulator)
        #expect(messages == 1 && end == .readerSessionInvalidationErrorFirstNDEFTagRead)
        try await Self.received("\"dismissed\"", by: simulator)
        try await Self.received("\"release\"", by: simulator)
        try await Self.received("didInvalidateWithError", by: simulator)
        let requests = simulator.lines.compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? Request
        }
        let states = requests.filter { $0["do"] as? String == "sheet" }.compactMap { $0["state"] as? String }
        #expect(states == ["ready", "scanning", "success", "dismissed"])
        #expect(requests.first { $0["do"] as? String == "sheet" }?["message"] as? String == "Hold it here.")
        let events = requests.filter { $0["do"] as? String == "event" }
        #expect(
            events.compactMap { $0["name"] as? String } == [
                "begin", "readerSessionDidBecomeActive(_:)", "readerSession(_:didDetectNDEFs:)", "invalidate",
                "readerSession(_:didInvalidateWithError:)",
            ]
        )
        #expect(events.compactMap { $0["detail"] as? String }.contains("NFCNDEFReaderSession"))
        let order = requests.compactMap { $0["do"] as? String }
        let (claim, frame) = (order.firstIndex(of: "claim"), order.firstIndex(of: "frame"))
        #expect(try #require(claim) < #require(frame))
    }

    @Test func `Cancel on the phone ends the session as a person's cancel, also before its turn`() async throws {
        let simulator = Self.simulator(grants: false)
        // A session that is cancelled before it asks for its turn has nothing to give back.
        async let isPressed: Void = {
            try await Self.received("\"claim\"", by: simulator)
            simulator.push(#"{"event":"cancel"}"#)
        }()
        let (messages, end) = try await Self.read(simulator)
        try await isPressed
        #expect(messages == 0 && end == .readerSessionInvalidationErrorUserCanceled)
        try await Self.received("\"release\"", by: simulator)
    }

    @Test(arguments: [
        (#","radio":false"#, NFCReaderError.Code.readerErrorRadioDisabled),
        (#","busy":true"#, .readerSessionInvalidationErrorSystemIsBusy),
        (#","entitlement":false"#, .readerErrorSecurityViolation),
    ])
    func `What the phone withholds ends a session before its sheet`(
        switches: String,
        code: NFCReaderError.Code
    ) async throws {
        let simulator = Self.simulator(switches: switches)
        #expect(try await Self.read(simulator).end == code)
        try await Self.received("didInvalidateWithError", by: simulator)
        #expect(!simulator.lines.contains { $0.contains("\"sheet\"") })
    }

    @Test func `A switch that changes is known to the next session`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        #expect(reader.switches == SimulatorSwitches())
        simulator.push(#"{"event":"switches","radio":false,"busy":true,"entitlement":true,"usage_text":false}"#)
        while reader.switches == SimulatorSwitches() { try await Task.sleep(for: .milliseconds(2)) }
        #expect(!reader.switches.hasRadio && reader.switches.isBusy)
        #expect(reader.switches.hasEntitlement && !reader.switches.hasUsageText)
    }

    // MARK: Screens

    @Test func `A screen is shown at once on a phone that knows the app already`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        try await reader.prepare()
        reader.showScreen(PhoneScreen(title: "One").json)
        // The simulator answers this after it has the screen.
        try await reader.setCarrier(true)
        #expect(simulator.lines.contains { $0.contains(#""screen":{"title":"One","items":[]}"#) })
        #expect(simulator.lines.count { $0.contains("hello") } == 1)
    }

    @Test func `A screen is shown again each time that the simulator has ended and runs again`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        reader.showScreen(PhoneScreen(title: "One").json)
        try await Self.received(#""screen":{"title":"One","items":[]}"#, by: simulator)
        for count in 2...3 {
            simulator.end()
            while simulator.lines.count(where: { $0.contains("\"screen\"") }) < count {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test func `Presses and links reach the app, links also before it asks for them`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        try await reader.prepare()
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        reader.onPress { events.yield($0) }
        simulator.push(
            #"{"event":"link","activity_type":"T","url":"https://a.example/","message_hex":"d101025503"}"#
        )
        simulator.push(#"{"event":"press","item":"scan"}"#)
        var received = stream.makeAsyncIterator()
        #expect(await received.next() == "scan")
        reader.onLink { events.yield("\($0.activityType) \($0.url) \($0.message.count)") }
        #expect(await received.next() == "T https://a.example/ 5")
    }

    @Test func `Presses come in the order in which they were made, also when they come with an answer`() async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return ["a", "b", "c"].map { #"{"event":"press","item":"\#($0)"}"# } + [#"{"id":\#(id)}"#]
        }
        let reader = simulator.reader
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        reader.onPress { events.yield($0) }
        try await reader.setCarrier(true)
        var received = stream.makeAsyncIterator()
        for item in ["a", "b", "c"] { #expect(await received.next() == item) }
    }

    @Test func `The last hundred presses wait for an app that asks for none yet`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        let host = try #require(MadeReader(reader).host as? SimulatorPhone)
        let phone = SimulatedPhone(host)
        try await reader.prepare()
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        host.onLink { _, url, _ in events.yield(url) }
        for number in 1...101 { simulator.push(#"{"event":"press","item":"\#(number)"}"#) }
        simulator.push(#"{"event":"link","activity_type":"T","url":"https://a.example/","message_hex":"d10100"}"#)
        var links = stream.makeAsyncIterator()
        // It came after all presses.
        #expect(await links.next() == "https://a.example/")
        var presses = phone.presses.makeAsyncIterator()
        for number in 2...100 { #expect(await presses.next() == "\(number)") }
    }

    @Test(arguments: [1, 16, 17, 20]) func `The last sixteen links wait for an app that asks for none yet`(count: Int)
        async throws
    {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            let links = (1...count).map {
                #"{"event":"link","activity_type":"T","url":"https://a.example/\#($0)","message_hex":"d10100"}"#
            }
            return links + [#"{"event":"press","item":"last"}"#, #"{"id":\#(id)}"#]
        }
        let reader = simulator.reader
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        reader.onPress { events.yield($0) }
        try await reader.setCarrier(true)
        var received = stream.makeAsyncIterator()
        #expect(await received.next() == "last")
        reader.onLink { events.yield($0.url) }
        for number in max(1, count - 15)...count {
            #expect(await received.next() == "https://a.example/\(number)")
        }
    }

    @Test func `Links that came before are first, also when others come while the app asks for them`() async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            func link(_ name: String) -> String {
                #"{"event":"link","activity_type":"T","url":"https://a.example/\#(name)","message_hex":"d10100"}"#
            }
            return [link("1"), #"{"event":"press","item":"ask"}"#, link("2"), #"{"id":\#(id)}"#]
        }
        let reader = simulator.reader
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        // It runs between the two links.
        reader.onPress { [weak reader] _ in reader?.onLink { events.yield($0.url) } }
        try await reader.setCarrier(true)
        var received = stream.makeAsyncIterator()
        for number in 1...2 { #expect(await received.next() == "https://a.example/\(number)") }
        withExtendedLifetime(reader) {}
    }

    @Test func `A link that comes just before the simulator ends is not lost`() async throws {
        let simulator = FakeSimulator { simulator, request in
            guard request["hello"] == nil else { return [FakeSimulator.greeting] }
            simulator.push(
                #"{"event":"link","activity_type":"T","url":"https://a.example/","message_hex":"d101025503"}"#
            )
            simulator.end()
            return []
        }
        let reader = simulator.reader
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        reader.onLink { events.yield($0.url) }
        let error = await #expect(throws: LinkError.self) { try await reader.setCarrier(true) }
        #expect(error?.code == .readerUnavailable)
        var received = stream.makeAsyncIterator()
        #expect(await received.next() == "https://a.example/")
    }

    @Test func `A link that the app has received is not given to whoever asks for links later`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        try await reader.prepare()
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        var received = stream.makeAsyncIterator()
        reader.onPress { events.yield($0) }
        simulator.push(
            #"{"event":"link","activity_type":"T","url":"https://a.example/","message_hex":"d101025503"}"#
        )
        simulator.push(#"{"event":"press","item":"before"}"#)
        #expect(await received.next() == "before")
        reader.onLink { events.yield("first \($0.url)") }
        #expect(await received.next() == "first https://a.example/")
        reader.onLink { events.yield("second \($0.url)") }
        simulator.push(#"{"event":"press","item":"after"}"#)
        #expect(await received.next() == "after")
    }

    @Test func `A sheet that is gone is not cancelled any more`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        try await reader.prepare()
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        var received = stream.makeAsyncIterator()
        reader.onPress { events.yield($0) }
        for (state, wanted) in [("ready", ["cancel", "ready"]), ("dismissed", ["dismissed"])] {
            reader.showSheet(state: state, title: "", message: "", showsErrorSymbol: false) { events.yield("cancel") }
            simulator.push(#"{"event":"cancel"}"#)
            simulator.push(#"{"event":"press","item":"\#(state)"}"#)
            for event in wanted { #expect(await received.next() == event) }
        }
    }

    @Test func `An app that shows no screen any more shows none to a simulator that runs again`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        reader.showScreen(PhoneScreen(title: "One").json)
        reader.showScreen(nil)
        try await Self.received(#""screen":null"#, by: simulator)
        try await simulator.restart(for: reader)
        let screens = simulator.lines.filter { $0.contains("\"screen\"") }
        #expect(screens.count == 2 && screens.last?.contains("null") == true)
    }

    @Test func `A sheet is sent with all that it shows`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        for showsErrorSymbol in [true, false] {
            let message = "A \"message\" \(showsErrorSymbol)"
            reader.showSheet(
                state: "failure",
                title: "Ready to Scan",
                message: message,
                showsErrorSymbol: showsErrorSymbol
            ) {
            }
            try await Self.received("message\\\" \(showsErrorSymbol)", by: simulator)
            let line = try #require(simulator.lines.last { $0.contains("\"sheet\"") })
            let request = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? Request)
            #expect(request["state"] as? String == "failure" && request["title"] as? String == "Ready to Scan")
            #expect(request["message"] as? String == message)
            #expect(request["shows_error_symbol"] as? Bool == showsErrorSymbol)
        }
    }

    @Test func `A sheet and a note are sent with these members, in this order`() async throws {
        let simulator = Self.simulator()
        let reader = simulator.reader
        reader.showSheet(state: "failure", title: "Ready to Scan", message: "Gone.", showsErrorSymbol: true) {}
        reader.note("session", session: 2, name: "begin", detail: "NFCTagReaderSession")
        try await Self.received("\"event\"", by: simulator)
        #expect(
            Array(simulator.lines.dropFirst()) == [
                #"{"do":"sheet","state":"failure","title":"Ready to Scan","message":"Gone.","shows_error_symbol":true}"#,
                #"{"do":"event","kind":"session","session":2,"name":"begin","detail":"NFCTagReaderSession"}"#,
            ]
        )
    }

    @Test func `The switches can be asked for on the reader's own thread, after the simulator has ended too`()
        async throws
    {
        let simulator = Self.simulator(switches: #","radio":false"#)
        let reader = simulator.reader
        try await reader.prepare()
        let (stream, answers) = AsyncStream.makeStream(of: Bool.self)
        let observation = reader.observePresence { [weak reader] in
            if let reader { answers.yield(reader.switches.hasRadio) }
        }
        simulator.end()
        for await hasRadio in stream {
            #expect(!hasRadio)
            break
        }
        #expect(simulator.lines.count { $0.contains("hello") } == 2)
        withExtendedLifetime(observation) {}
    }
}

/// A delegate that only reads messages.
private final class Delegate: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    let ends: AsyncStream<NFCReaderError.Code>
    let count = Locked(0)
    private let end: AsyncStream<NFCReaderError.Code>.Continuation

    override init() {
        (ends, end) = AsyncStream.makeStream(of: NFCReaderError.Code.self)
    }

    func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        count.withLock { $0 += messages.count }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        if let error = error as? NFCReaderError { end.yield(error.code) }
        end.finish()
    }
}
