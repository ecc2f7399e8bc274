// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCSessions
import NFCTestKit
import SimulatorDriver
import SimulatorTesting
import TagLink
import Testing
import VirtualTags

/// What a reader and a simulator say to each other: greetings, frames, and their errors.
@Suite(.timeLimit(.minutes(5))) struct FrameTests {
    @Test(arguments: ReaderConformance.scenarios)
    func `simulator's reader: passes every scenario of ReaderConformance`(scenario: ReaderConformance.Scenario)
        async throws
    {
        let field = VirtualField()
        let simulator = FakeSimulator.serving(field)
        let setup = ReaderSetup(name: ".simulator", field: field) { NFCEnvironment(reader: .field(simulator.reader)) }
        #expect(try await scenario.run(in: setup) == nil)
    }

    // MARK: Greetings

    @Test func `greeting: the reader says which program it is, and has the simulator's name and technologies`()
        async throws
    {
        let runs = Locked(0)
        let simulator = FakeSimulator { _, request in
            guard request["hello"] != nil else { return (request["id"] as? Int).map { [#"{"id":\#($0)}"#] } ?? [] }
            let isFirst = runs.withLock { runs in
                runs += 1
                return runs == 1
            }
            return isFirst
                ? [#"{"hello":1,"name":"A\u001bB","technologies":["nfc-a"],"radio":false}"#]
                : [#"{"hello":1,"name":"Two","technologies":["nfc-f","nfc-v"],"busy":true}"#]
        }
        let reader = simulator.reader
        #expect(reader.name == "simulator" && !reader.wasAvailable && reader.technologies == Set(Technology.allCases))
        for technology in Technology.allCases { #expect(reader.link(for: technology)?.maximumFrameLength == 256) }
        try await reader.prepare()
        // Control characters are escaped.
        #expect(reader.name == "A\\u{1b}B" && reader.wasAvailable && reader.technologies == [.nfcA])
        #expect(reader.link(for: .nfcF) == nil && !reader.switches.hasRadio && !reader.switches.isBusy)
        let hello = try #require(simulator.lines.first)
        let members = try #require(try JSONSerialization.jsonObject(with: Data(hello.utf8)) as? FakeSimulator.Request)
        #expect(members["hello"] as? Int == 1 && members["client"] as? String == "app")
        #expect(members["pid"] as? Int32 == getpid())
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(members["name"] as? String == URL(fileURLWithPath: program).lastPathComponent)
        // The next simulator counts.
        try await simulator.restart(for: reader)
        #expect(reader.name == "Two" && reader.technologies == [.nfcF, .nfcV] && reader.link(for: .nfcA) == nil)
        #expect(reader.switches.hasRadio && reader.switches.isBusy)
    }

    private static let start = "The simulator sent invalid data: "

    @Test(arguments: [
        ("{}", start), (#"{"hello":2,"name":"x","technologies":[]}"#, start),
        (#"{"hello":1,"technologies":[]}"#, start),
        (#"{"hello":1,"name":"x"}"#, start), (#"{"hello":1,"name":5,"technologies":[]}"#, start),
        (#"{"hello":"1","name":"x","technologies":[]}"#, start), (#"{"name":"x","technologies":[]}"#, start),
        (#"{"hello":1,"name":"x","technologies":["nfc-a","nfc-z"]}"#, start + "A technology is unknown."),
        (#"{"error":"full"}"#, "The simulator refused this program: full"),
        (#"{"error":"full","message":"A\u001bB"}"#, "The simulator refused this program: A\\u{1b}B"),
    ]) func `invalid or refusing greeting: readerUnavailable with the reason, and the connection is closed`(
        line: String,
        reason: String
    ) async {
        let pairs = SocketPairs(greeting: line)
        let error = await pairs.makeReader().failure()
        #expect(error?.code == .readerUnavailable && error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
        let isClosed = pairs.all.allSatisfy(\.hasEnded)
        #expect(isClosed)
    }

    // MARK: Frames

    @Test(arguments: [nil, 1]) func `frame: sent unchanged, and its answer is read whole or byte by byte`(piece: Int?)
        async throws
    {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6]))
        let simulator = FakeSimulator.serving(field, piece: piece)
        let reader = simulator.reader
        try await reader.setCarrier(true)
        #expect(try await reader.ask() == Frame([0x44, 0x00], checksum: .none))
        #expect(
            simulator.lines.last
                == #"{"id":2,"do":"frame","technology":"nfc-a","bytes":"26","bits":7,"checksum":"none","timeout_us":1000}"#
        )
    }

    @Test func `answer: the frame has the bytes, last bits and checksum kind that the simulator states`() async throws {
        let long = String(repeating: "5a", count: 4096)
        var rows: [(String, Frame)] = [
            (#""bytes":"4400","checksum":"none""#, Frame([0x44, 0], checksum: .none)),
            (#""bytes":"4400","checksum":"crc-b""#, Frame([0x44, 0], checksum: .crcB)),
            (#""bytes":"4400","checksum":"automatic""#, Frame([0x44, 0], checksum: .automatic)),
            (#""bytes":"4400""#, Frame([0x44, 0], checksum: .automatic)),
            (#""bytes":"\#(long)","checksum":"none""#, Frame([UInt8](repeating: 0x5A, count: 4096), checksum: .none)),
        ]
        for bits in 1...7 {
            rows.append((#""bytes":"0a","bits":\#(bits)"#, Frame(bits: [0x0A], validBitsInLastByte: bits)))
        }
        for (members, frame) in rows {
            let answer = try await FakeSimulator.answering(members).reader.ask()
            #expect(answer == frame && answer.checksum == frame.checksum, "\(members.prefix(50))")
        }
    }

    @Test(
        arguments: [
            (0, 0), (5000, 5000), (1 << 40, 1 << 40), ((1 << 40) + 1, nil), (-1, nil), (nil, nil),
        ] as [(Int?, Int64?)]
    ) func `time of an exchange: the simulator's elapsed_us, or the airtime if that is missing, invalid or shorter`(
        reported: Int?,
        counted: Int64?
    ) async throws {
        let time = reported.map { #","elapsed_us":\#($0)"# } ?? ""
        let reader = FakeSimulator.answering(#""bytes":"4400","checksum":"none"\#(time)"#).reader
        try await reader.ask()
        let counts = reader.statistics
        #expect(counts.exchanges == 1 && counts.bytesOnAir == 3 && counts.airtime > .zero)
        let expected = counted.map { max(.microseconds($0), counts.airtime) } ?? counts.airtime
        #expect(counts.airtime + counts.tagWorkTime == expected)
    }

    /// An error's name, its code, and the time that a frame waits for; nil where it was not sent.
    private static let errors: [(String, LinkError.Code, Airtime?)] = [
        ("timeout", .timeout, .milliseconds(1)), ("tag-removed", .tagRemoved, nil),
        ("transmission", .transmission, .zero), ("collision", .collision, .zero),
        ("frame-too-long", .frameTooLong, nil),
        ("reader-unavailable", .readerUnavailable, nil), ("cancelled", .cancelled, nil),
        ("unsupported", .unsupported, nil),
        ("protocol-violation", .protocolViolation, nil), ("in-use", .inUse, nil),
        ("a-new-one", .readerUnavailable, nil),
    ]

    @Test(arguments: errors) func `error of an exchange: its code and reason, and the connection goes on`(
        name: String,
        code: LinkError.Code,
        wait: Airtime?
    ) async throws {
        for (message, reason) in [(#","message":"Why\u001b.""#, "Why\\u{1b}."), ("", name)] {
            let simulator = FakeSimulator.scripted { _, id in
                [id > 1 ? #"{"id":\#(id),"bytes":"4400"}"# : #"{"id":1,"error":"\#(name)"\#(message)}"#]
            }
            let reader = simulator.reader
            let error = await reader.failure()
            #expect(error?.code == code && error?.reason == reason && error?.collision == nil)
            var expected = LinkStatistics.zero
            if let wait { expected.count(request: reqA, response: nil, timing: FrameTiming(.nfcA), timeout: wait) }
            #expect(reader.statistics == expected)
            #expect(try await reader.ask().bytes == [0x44, 0x00])
            #expect(simulator.count("hello") == 1)
        }
    }

    @Test(arguments: [(0, ""), (1, "01"), (8, "ff"), (9, "ff01"), (4096, String(repeating: "00", count: 512))])
    func `collision: has its bit and the bits before it; readerUnavailable if they don't fit together`(
        bit: Int,
        bits: String
    ) async {
        for (index, isValid) in [(bit, true), (bit + 8, false), (-1, false), (4097, false)] {
            let place = #""error":"collision","collision_bit":\#(index),"collision_bits":"\#(bits)""#
            let error = await FakeSimulator.answering(place).reader.failure()
            #expect(error?.code == (isValid ? .collision : .readerUnavailable), "\(index)")
            #expect(error?.collision?.bitIndex == (isValid ? bit : nil))
            #expect(error?.collision?.bits.hexText() == (isValid ? bits : nil))
        }
    }

    @Test(arguments: [
        "hello", "[]", "{}", "\u{0}", #"{"id":1"#, #"{"id":1}"#, #"{"id":1,"bytes":"4"}"#, #"{"id":1,"bytes":"xx"}"#,
        #"{"id":1,"bytes":"44","bits":9}"#, #"{"id":1,"bytes":"44","bits":0}"#, #"{"id":1,"bytes":"44","bits":"8"}"#,
        #"{"id":1,"bytes":"44","checksum":"crc-c"}"#, #"{"id":2,"bytes":"44"}"#, #"{"id":1,"id":1,"bytes":"44"}"#,
        #"{"bytes":"44"}"#, #"{"id":1,"bytes":{"a":1}}"#, #"{"id":1,"error":"collision","collision_bit":9}"#,
        #"{"id":1,"error":"collision","collision_bit":"9","collision_bits":"ff01"}"#,
        #"{"id":1,"bytes":"\#(String(repeating: "5a", count: 4097))"}"#, String(repeating: "a", count: 70_000),
    ]) func `line that is not of the protocol: the reader is unavailable, with the reason`(line: String) async {
        let error = await FakeSimulator.scripted { _, _ in [line] }.reader.failure()
        #expect(error?.code == .readerUnavailable)
        #expect(error?.reason.hasPrefix(Self.start) == true, "\(error?.reason ?? "")")
    }

    @Test(arguments: [256 << 10, (256 << 10) + 1]) func `line of 256 KiB: read, and a longer one is refused`(count: Int)
        async
    {
        let simulator = FakeSimulator.scripted { _, id in
            let start = #"{"id":\#(id),"bytes":"4400","checksum":"none","more":""#
            return [start + String(repeating: "a", count: count - start.utf8.count - 2) + "\"}"]
        }
        #expect(await simulator.reader.failure()?.code == (count > 256 << 10 ? .readerUnavailable : nil))
    }

    @Test func `error line without a request's id: ignored, and the connection stays`() async throws {
        let simulator = FakeSimulator.answering()
        let reader = simulator.reader
        try await reader.ask()
        simulator.push(#"{"error":"invalid","message":"A line was no object."}"#)
        try await reader.ask()
        #expect(simulator.count("hello") == 1)
    }
}
