// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import NFCTestKit
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

@Suite(.timeLimit(.minutes(5))) struct `The reader of a simulator` {
    private static let reqA = Frame(bits: [0x26], validBitsInLastByte: 7)

    @Test(.serialized, arguments: ReaderConformance.scenarios) func `passes the scenarios of every reader`(
        scenario: ReaderConformance.Scenario
    ) async throws {
        let field = VirtualField()
        let simulator = FakeSimulator.serving(field)
        let setup = ReaderSetup(name: ".simulator", field: field) {
            NFCEnvironment(reader: .field(simulator.reader))
        }
        #expect(try await scenario.run(in: setup) == nil)
    }

    @Test func `greets with the program and its process`() async throws {
        let simulator = FakeSimulator.serving(VirtualField())
        let reader = simulator.reader
        #expect(reader.name == "simulator")
        #expect(!reader.wasThere)
        try await reader.prepare()
        #expect(reader.name == "Test")
        #expect(reader.wasThere)
        #expect(reader.technologies == Set(Technology.allCases))
        let hello = try #require(simulator.lines.first)
        let members = try #require(try JSONSerialization.jsonObject(with: Data(hello.utf8)) as? [String: Any])
        #expect(members["hello"] as? Int == 1)
        #expect(members["client"] as? String == "app")
        #expect(members["pid"] as? Int32 == getpid())
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(members["name"] as? String == URL(fileURLWithPath: program).lastPathComponent)
    }

    @Test func `sends frames as they are, byte by byte too`() async throws {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6]))
        for piece in [nil, 1] {
            let simulator = FakeSimulator.serving(field, piece: piece)
            let reader = simulator.reader
            try await reader.prepare()
            try await reader.setCarrier(true)
            let link = try #require(reader.link(for: .nfcA))
            let answer = try await link.transceive(Self.reqA, timeout: .milliseconds(1))
            #expect(answer == Frame([0x44, 0x00], checksum: .none))
            #expect(
                simulator.lines.last
                    == #"{"id":2,"do":"frame","technology":"nfc-a","bytes":"26","bits":7,"checksum":"none","timeout_us":1000}"#
            )
            try await reader.setCarrier(false)
        }
    }

    @Test func `counts the time that the simulator reports`() async throws {
        let reader = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [#"{"id":\#(id),"bytes":"4400","bits":8,"checksum":"none","elapsed_us":5000}"#]
        }
        let driver = reader.reader
        let link = try #require(driver.link(for: .nfcA))
        _ = try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        let counts = link.statistics
        #expect(counts.exchanges == 1)
        #expect(counts.bytesOnAir == 3)
        #expect((counts.airtime + counts.tagWorkTime).microseconds == 5000)
        #expect(driver.statistics == counts)
    }

    @Test(
        arguments: [
            ("timeout", Airtime.milliseconds(1)), ("transmission", .zero), ("collision", .zero), ("unsupported", nil),
            ("in-use", nil), ("reader-unavailable", nil),
        ] as [(String, Airtime?)]
    )
    func `counts a frame without an answer, if it was sent`(name: String, wait: Airtime?) async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [#"{"id":\#(id),"error":"\#(name)","message":"Why."}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        await #expect(throws: LinkError.self) { try await link.transceive(Self.reqA, timeout: .milliseconds(1)) }
        var expected = LinkStatistics.zero
        if let wait { expected.count(request: Self.reqA, response: nil, timing: FrameTiming(.nfcA), timeout: wait) }
        #expect(link.statistics == expected)
    }

    // MARK: Failures

    @Test func `says what to do when no simulator runs`() async {
        let error = await #expect(throws: LinkError.self) {
            try await SimulatorReader(path: "/nowhere/simulator.sock").prepare()
        }
        #expect(error?.code == .readerUnavailable)
        #expect(
            error?.reason == "No simulator runs at /nowhere/simulator.sock. Start it with: nfc simulator"
        )
    }

    @Test(arguments: [
        ("timeout", LinkError.Code.timeout), ("tag-removed", .tagRemoved), ("transmission", .transmission),
        ("frame-too-long", .frameTooLong), ("reader-unavailable", .readerUnavailable), ("cancelled", .cancelled),
        ("unsupported", .unsupported), ("protocol-violation", .protocolViolation), ("in-use", .inUse),
        ("a-new-one", .readerUnavailable),
    ])
    func `reports the errors of exchanges, and goes on`(name: String, code: LinkError.Code) async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] as? Int else { return [FakeSimulator.greeting] }
            if id > 1 { return [#"{"id":\#(id),"bytes":"4400","checksum":"none"}"#] }
            return [#"{"id":1,"error":"\#(name)","message":"Why."}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let error = await #expect(throws: LinkError.self) {
            try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        }
        #expect(error?.code == code)
        #expect(error?.reason == "Why.")
        #expect(try await link.transceive(Self.reqA, timeout: .milliseconds(1)).bytes == [0x44, 0x00])
        #expect(simulator.lines.count { $0.contains("hello") } == 1)
    }

    @Test func `reports where tags collide`() async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [#"{"id":\#(id),"error":"collision","message":"","collision_bit":9,"collision_bits":"0801"}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let error = await #expect(throws: LinkError.self) {
            try await link.transceive(Frame([0x93, 0x20], checksum: .none), timeout: .milliseconds(1))
        }
        #expect(error?.collision == LinkError.Collision(bitIndex: 9, bits: [0x08, 0x01]))
    }

    @Test(arguments: [("none", .none), ("crc-b", .crcB), ("automatic", .automatic)] as [(String, Frame.Checksum)])
    func `takes frames with the checksum that the simulator names`(name: String, checksum: Frame.Checksum) async throws
    {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [#"{"id":\#(id),"bytes":"4400","checksum":"\#(name)"}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let frame = try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        #expect(frame == Frame([0x44, 0x00], checksum: checksum))
    }

    @Test(arguments: [1, 2, 4096], [1, 8])
    func `takes frames of any length and end`(count: Int, bits: Int) async throws {
        let bytes = String(repeating: "5a", count: count)
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [#"{"id":\#(id),"bytes":"\#(bytes)","bits":\#(bits),"checksum":"none"}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let frame = try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        #expect(frame.bytes.count == count && frame.validBitsInLastByte == bits)
    }

    @Test(arguments: [
        "hello", "[]", "{}", #"{"id":1"#, #"{"id":1,"bytes":"4"}"#, #"{"id":1,"bytes":"xx"}"#,
        #"{"id":1,"bytes":"44","bits":9}"#, #"{"id":1,"bytes":"44","bits":"8"}"#, #"{"id":1}"#,
        #"{"id":1,"bytes":"44","checksum":"crc-c"}"#, #"{"id":2,"bytes":"44"}"#, #"{"id":1,"id":1,"bytes":"44"}"#,
        #"{"id":1,"error":"collision","message":"","collision_bit":9,"collision_bits":"08"}"#,
        #"{"id":1,"bytes":"\#(String(repeating: "5a", count: 4097))"}"#, #"{"id":1,"bytes":"44","bits":0}"#,
        #"{"id":1,"bytes":{"a":1}}"#, String(repeating: "a", count: 70_000),
        #"{"id":1,"bytes":"\#(String(repeating: "00", count: 40_000))"}"#, "\u{0}",
    ])
    func `refuses what no simulator sends`(line: String) async throws {
        let simulator = FakeSimulator { _, request in request["id"] == nil ? [FakeSimulator.greeting] : [line] }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let error = await #expect(throws: LinkError.self) {
            try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        }
        #expect(error?.code == .readerUnavailable)
        #expect(
            error?.reason.hasPrefix("What the simulator sent is not understood: ") == true,
            "\(error?.reason ?? "")"
        )
    }

    @Test(arguments: [
        ("{}", "not understood"), (#"{"hello":2,"name":"x","technologies":[]}"#, "not understood"),
        (#"{"hello":1,"name":"x","technologies":["nfc-z"]}"#, "A technology is unknown."),
        (#"{"error":"unknown-version","message":"Update it."}"#, "refused this program: Update it."),
    ])
    func `refuses another greeting`(line: String, reason: String) async {
        let simulator = FakeSimulator { _, _ in [line] }
        let error = await #expect(throws: LinkError.self) { try await simulator.reader.prepare() }
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [(0, ""), (1, "01"), (8, "ff"), (9, "ff01"), (4096, String(repeating: "00", count: 512))])
    func `takes a collision up to the longest frame`(bit: Int, bits: String) async throws {
        for (index, isOne) in [(bit, true), (bit + 8, false), (-1, false), (4097, false)] {
            let simulator = FakeSimulator { _, request in
                guard let id = request["id"] else { return [FakeSimulator.greeting] }
                let place = #""collision_bit":\#(index),"collision_bits":"\#(bits)""#
                return [#"{"id":\#(id),"error":"collision","message":"",\#(place)}"#]
            }
            let link = try #require(simulator.reader.link(for: .nfcA))
            let error = await #expect(throws: LinkError.self) {
                try await link.transceive(Self.reqA, timeout: .milliseconds(1))
            }
            #expect(error?.code == (isOne ? .collision : .readerUnavailable), "\(index)")
            if isOne { #expect(error?.collision?.bitIndex == bit) }
        }
    }

    @Test(arguments: 1...8) func `takes a frame with so many bits in its last byte`(bits: Int) async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            return [#"{"id":\#(id),"bytes":"0a","bits":\#(bits)}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let answer = try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        #expect(answer.validBitsInLastByte == bits && answer.checksum == (bits == 8 ? .automatic : .none))
    }

    @Test func `keeps events that come with an error`() async throws {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            guard request["do"] as? String == "frame" else { return [#"{"id":\#(id)}"#] }
            return [#"{"event":"presence"}"#, #"{"id":\#(id),"error":"timeout","message":""}"#]
        }
        let reader = simulator.reader
        let events = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { events.continuation.yield() }
        #expect(observation != nil)
        defer { withExtendedLifetime(observation) {} }
        let link = try #require(reader.link(for: .nfcA))
        await #expect(throws: LinkError.self) { try await link.transceive(Self.reqA, timeout: .milliseconds(1)) }
        for await _ in events.stream { break }
    }

    @Test func `connects again after the simulator has ended`() async throws {
        let simulator = FakeSimulator { simulator, request in
            if request["hello"] != nil { return [FakeSimulator.greeting] }
            guard request["id"] as? Int ?? 0 > 1 else {
                simulator.end()
                return []
            }
            return [#"{"id":2,"bytes":"4400","checksum":"none"}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let error = await #expect(throws: LinkError.self) {
            try await link.transceive(Self.reqA, timeout: .milliseconds(1))
        }
        #expect(error?.reason == "The simulator has ended. Start it with: nfc simulator")
        #expect(try await link.transceive(Self.reqA, timeout: .milliseconds(1)).bytes == [0x44, 0x00])
        #expect(simulator.lines.count { $0.contains("hello") } == 2)
    }

    @Test func `has the technologies of its simulator`() async throws {
        let greeting = #"{"hello":1,"name":"Test","technologies":["nfc-a","nfc-f"]}"#
        let reader = FakeSimulator { _, _ in [greeting] }.reader
        try await reader.prepare()
        #expect(reader.technologies == [.nfcA, .nfcF])
        #expect(reader.link(for: .nfcF)?.technology == .nfcF && reader.link(for: .nfcV) == nil)
    }

    @Test func `is what the simulator says that runs now`() async throws {
        let runs = Locked(0)
        let simulator = FakeSimulator { _, request in
            guard request["hello"] != nil else { return (request["id"] as? Int).map { [#"{"id":\#($0)}"#] } ?? [] }
            let run = runs.withLock {
                $0 += 1
                return $0
            }
            guard run > 1 else { return [#"{"hello":1,"name":"One","technologies":["nfc-a"],"radio":false}"#] }
            return [#"{"hello":1,"name":"Two","technologies":["nfc-f","nfc-v"],"busy":true}"#]
        }
        let reader = simulator.reader
        try await reader.prepare()
        #expect(reader.name == "One" && reader.technologies == [.nfcA] && reader.link(for: .nfcF) == nil)
        #expect(!reader.switches.hasRadio && !reader.switches.isBusy)
        try await simulator.restart(for: reader)
        #expect(reader.name == "Two" && reader.technologies == [.nfcF, .nfcV])
        #expect(reader.link(for: .nfcA) == nil && reader.link(for: .nfcF) != nil)
        #expect(reader.switches.hasRadio && reader.switches.isBusy)
    }

    @Test func `takes what comes together with the greeting`() async throws {
        let simulator = FakeSimulator { _, request in
            // One piece, so that both lines are there when the first one is read.
            request["hello"] == nil ? [] : [FakeSimulator.greeting + "\n" + #"{"event":"press","item":"first"}"#]
        }
        let reader = simulator.reader
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        reader.onPress { events.yield($0) }
        try await reader.prepare()
        var received = stream.makeAsyncIterator()
        #expect(await received.next() == "first")
        withExtendedLifetime(reader) {}
    }

    @Test func `closes the connection to a simulator that refuses it`() async throws {
        let pairs = Locked<[SocketPair]>([])
        let reader = SimulatorReader { () throws(LinkError) in
            let pair = try SocketPair()
            pair.send(#"{"error":"no","message":"No."}"#)
            pairs.withLock { $0.append(pair) }
            return pair.reader
        }
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await reader.prepare() }
        let end = try #require(pairs.withLock { $0.first }).simulator
        defer { close(end) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        // The greeting, and then the end.
        #expect(unsafe read(end, &buffer, buffer.count) > 0)
        var poller = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&poller, 1, 0) == 1)
        #expect(unsafe read(end, &buffer, buffer.count) == 0)
    }

    @Test(arguments: [256 << 10, (256 << 10) + 1]) func `takes a line of 256 KiB, and no longer one`(count: Int)
        async throws
    {
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] else { return [FakeSimulator.greeting] }
            let start = #"{"id":\#(id),"bytes":"4400","checksum":"none","more":""#
            return [start + String(repeating: "a", count: count - start.utf8.count - 2) + "\"}"]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        do throws(LinkError) {
            let answer = try await link.transceive(Self.reqA, timeout: .milliseconds(1))
            #expect(answer.bytes == [0x44, 0x00] && count == 256 << 10)
        } catch {
            #expect(error.reason.contains("A line is too long.") && count > 256 << 10)
        }
    }

    // MARK: Cancelling

    @Test func `stops waiting when its task is cancelled, and ignores the late answer`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let simulator = FakeSimulator { _, request in
            guard let id = request["id"] as? Int else { return [FakeSimulator.greeting] }
            guard id > 1 else {
                asked.continuation.yield()
                return []
            }
            return [#"{"id":1,"bytes":"00"}"#, #"{"id":2,"bytes":"4400","checksum":"none"}"#]
        }
        let link = try #require(simulator.reader.link(for: .nfcA))
        let task = Task { try await link.transceive(Self.reqA, timeout: .milliseconds(1)) }
        for await _ in asked.stream { break }
        task.cancel()
        let error = await #expect(throws: LinkError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await link.transceive(Self.reqA, timeout: .milliseconds(1)).bytes == [0x44, 0x00])
        #expect(simulator.lines.count { $0.contains("hello") } == 1)
    }
}
