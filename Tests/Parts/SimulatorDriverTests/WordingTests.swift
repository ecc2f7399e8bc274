// SPDX-License-Identifier: Apache-2.0
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing

/// What a simulator says, and what a person reads of it.
@Suite(.timeLimit(.minutes(2))) struct `The words of a simulator` {
    private static let reqA = Frame(bits: [0x26], validBitsInLastByte: 7)

    private func misunderstood(_ reason: String) -> String {
        "What the simulator sent is not understood: \(reason) Use the same version of both."
    }

    /// Why a simulator that greets with a line can't be used.
    private func refusal(of line: String) async -> LinkError? {
        let simulator = FakeSimulator { _, _ in [line] }
        return await #expect(throws: LinkError.self) { try await simulator.reader.prepare() }
    }

    @Test(arguments: [
        #"{"hello":1,"technologies":[]}"#, #"{"hello":1,"name":"x"}"#, #"{"hello":1,"name":5,"technologies":[]}"#,
        #"{"hello":"1","name":"x","technologies":[]}"#, #"{"name":"x","technologies":[]}"#,
    ])
    func `A line that lacks a part of the greeting is none`(line: String) async {
        let error = await refusal(of: line)
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason == misunderstood("The first line is no greeting."))
    }

    @Test func `A technology that is unknown beside others is refused`() async {
        let line = #"{"hello":1,"name":"x","technologies":["nfc-a","nfc-z","nfc-b"]}"#
        let error = await refusal(of: line)
        #expect(error?.reason == misunderstood("A technology is unknown."))
    }

    @Test(arguments: [
        (#"{"error":"full"}"#, "full"), (#"{"error":"full","message":"Wait."}"#, "Wait."),
        (#"{"error":"full","message":"A\u001bB"}"#, "A\\u{1b}B"),
    ])
    func `A refusal has its reason, which is shown as text`(line: String, reason: String) async {
        let error = await refusal(of: line)
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason == "The simulator refused this program: \(reason)")
    }

    @Test func `A name is shown as text`() async throws {
        let reader = FakeSimulator { _, _ in [#"{"hello":1,"name":"A\u001bB","technologies":["nfc-a"]}"#] }.reader
        try await reader.prepare()
        #expect(reader.name == "A\\u{1b}B")
    }

    /// The error of a frame that is answered with a line.
    private func error(_ line: String) async throws -> LinkError? {
        let simulator = FakeSimulator { _, request in request["id"] == nil ? [FakeSimulator.greeting] : [line] }
        let link = try #require(simulator.reader.link(for: .nfcA))
        return await #expect(throws: LinkError.self) {
            try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        }
    }

    @Test(arguments: [
        (#"{"id":1,"error":"timeout"}"#, "timeout"), (#"{"id":1,"error":"timeout","message":"Late."}"#, "Late."),
        (#"{"id":1,"error":"timeout","message":"A\u001bB"}"#, "A\\u{1b}B"),
    ])
    func `An error of an exchange has its reason, which is shown as text`(line: String, reason: String) async throws {
        let error = try await error(line)
        #expect(error?.code == .timeout && error?.reason == reason && error?.collision == nil)
    }

    @Test(arguments: [
        (#"{"id":2,"bytes":"44"}"#, "It answers a request that was not made."),
        (#"{"bytes":"44"}"#, "A line is neither an answer nor an event."),
        (#"{"id":1,"bytes":"4"}"#, "A frame is invalid."), (#"{"id":1,"bytes":"44","bits":9}"#, "A frame is invalid."),
        (#"{"id":1,"bytes":"44","checksum":"crc-c"}"#, "A frame has an unknown checksum."),
        (
            #"{"id":1,"error":"collision","collision_bit":9,"collision_bits":"08"}"#,
            "The place of a collision is invalid."
        ),
        (#"{"id":1,"error":"collision","collision_bit":"9"}"#, "The place of a collision is invalid."),
        (#"{"id":1,"error":"collision","collision_bit":9}"#, "The place of a collision is invalid."),
        ("[]", "A line has to be a JSON object."), (#"{"id":1,"id":1}"#, #""id" is there twice."#),
    ])
    func `What can't be understood is named`(line: String, reason: String) async throws {
        let error = try await error(line)
        #expect(error?.code == .readerUnavailable && error?.reason == misunderstood(reason))
    }

    @Test func `Events that lack a part are ignored, and what comes after them is not`() async throws {
        let simulator = FakeSimulator { _, _ in [FakeSimulator.greeting] }
        let reader = simulator.reader
        try await reader.prepare()
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        reader.onPress { events.yield("press \($0)") }
        reader.onLink { events.yield("link \($0.activityType) \($0.url) \($0.message)") }
        let parts = [#""activity_type":"T""#, #""url":"https://a.example/""#, #""message_hex":"d101""#]
        for missing in parts.indices {
            let others = parts.indices.filter { $0 != missing }.map { parts[$0] }
            simulator.push(#"{"event":"link",\#(others.joined(separator: ","))}"#)
        }
        for digits in [#""d10""#, #""xx""#, "5"] {
            simulator.push(#"{"event":"link",\#(parts[0]),\#(parts[1]),"message_hex":\#(digits)}"#)
        }
        for event in [#""press""#, #""press","item":5"#, #""other","item":"other""#] {
            simulator.push(#"{"event":\#(event)}"#)
        }
        simulator.push(#"{"event":"link",\#(parts.joined(separator: ","))}"#)
        simulator.push(#"{"event":"press","item":"last"}"#)
        var received = stream.makeAsyncIterator()
        #expect(await received.next() == "link T https://a.example/ [209, 1]")
        #expect(await received.next() == "press last")
        #expect(simulator.lines.count { $0.contains("hello") } == 1)
    }

    @Test func `A switch that an event does not name withholds nothing`() async throws {
        let switches = #""radio":false,"busy":true,"entitlement":false,"usage_text":false"#
        let simulator = FakeSimulator { _, _ in ["\(FakeSimulator.greeting.dropLast()),\(switches)}"] }
        let reader = simulator.reader
        let (stream, events) = AsyncStream.makeStream(of: Void.self)
        reader.onPress { _ in events.yield() }
        try await reader.prepare()
        #expect(!reader.switches.hasRadio && reader.switches.isBusy)
        #expect(!reader.switches.hasEntitlement && !reader.switches.hasUsageText)
        simulator.push(#"{"event":"switches"}"#)
        simulator.push(#"{"event":"press","item":"after"}"#)
        for await _ in stream { break }
        #expect(reader.switches == SimulatorSwitches())
    }

    @Test func `A frame may have 256 bytes`() {
        let reader = FakeSimulator { _, _ in [] }.reader
        for technology in Technology.allCases {
            let link = reader.link(for: technology)
            #expect(link?.technology == technology && link?.maximumFrameLength == 256)
        }
    }
}
