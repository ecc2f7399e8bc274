// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

/// Captures of a trace for Wireshark (pcapng, link type ISO 14443).
struct PacketCaptureTests {
    private static let a = Trace.Medium.frames(.nfcA)

    private static func exchange(
        _ request: Frame,
        _ answer: Result<Frame, LinkError>?,
        over medium: Trace.Medium = a,
        at time: Duration? = nil,
        for duration: Duration? = nil
    ) -> Trace.Entry {
        Trace.Entry(at: time, .exchange(Trace.Exchange(medium, request: request, answer: answer, duration: duration)))
    }

    private static let reqA = Frame(bits: [0x26], validBitsInLastByte: 7)
    private static let atqA = Frame([0x44, 0x00], checksum: .none)

    @Test func `capture file: a section, an interface, and a packet for each frame with its time`() {
        let trace = Trace([Self.exchange(Self.reqA, .success(Self.atqA), at: .seconds(5), for: .nanoseconds(700))])
        let capture = trace.pcapng()
        let expected = """
            0a0d0d0a 30000000 4d3c2b1a 01000000 ffffffffffffffff 04000b00 4f70656e436f72654e4643 00 00000000 30000000
            01000000 28000000 08010000 00000000 02000300 6e666300 09000100 09000000 00000000 28000000
            06000000 34000000 00000000 01000000 00f2052a 05000000 05000000 00fe000126 000000 01000400 52455141 00000000
            34000000
            """
        let start = [UInt8](hexadecimal: expected.utf8.filter { $0 != 0x20 && $0 != 0x0A })
        #expect(Array(capture.bytes.prefix(start?.count ?? 0)) == start)
        #expect(capture.packetCount == 2)
        #expect(capture.notes == [])
        let packets = Packet.all(of: capture)
        #expect(packets.map(\.data) == [[0, 0xFE, 0, 1, 0x26], [0, 0xFF, 0, 2, 0x44, 0x00]])
        #expect(packets.map(\.nanoseconds) == [5_000_000_000, 5_000_000_700])
        #expect(packets[1].comments == ["ATQA: UID of 7 bytes"])
    }

    @Test func `captured frames: end with the checksum that was on the air`() {
        let rall = Frame([0x00, 0x00, 0x00, 1, 2, 3, 4], checksum: .crcB)
        let trace = Trace([
            Self.exchange(Frame([0x30, 0x04]), .success(Frame([UInt8](repeating: 0, count: 16)))),
            Self.exchange(Frame([0x05, 0x00, 0x00]), nil, over: .frames(.nfcB)), Self.exchange(rall, nil),
            // A checksum that the link did not handle stays as it was, right or wrong.
            Self.exchange(Frame([0x50, 0x00, 0x12, 0x34], checksum: .none), nil),
        ])
        let frames: [[UInt8]] = [
            [0x30, 0x04, 0x26, 0xEE], [UInt8](repeating: 0, count: 16) + [0x37, 0x49], [0x05, 0x00, 0x00, 0x71, 0xFF],
            rall.bytes + CyclicRedundancyCheck.b(rall.bytes).littleEndianBytes, [0x50, 0x00, 0x12, 0x34],
        ]
        #expect(Packet.all(of: trace.pcapng()).map(\.frame) == frames)
    }

    @Test func `packets: field events, failed answers, collisions, passwords and loose bits have bytes and comments`() {
        let place = LinkError.Collision(bitIndex: 9, bits: [0x08, 0x01])
        let anticollision = Frame([0x93, 0x20], checksum: .none)
        let nak = Frame(bits: [0x4], validBitsInLastByte: 4)
        let rows: [(Trace.Entry, String)] = [
            (Trace.Entry(at: .zero, .field(isOn: true)), "00fc0000"), (Trace.Entry(.field(isOn: false)), "00fd0000"),
            (Self.exchange(Self.reqA, .failure(LinkError(.timeout, ""))), "00fe000126 REQA"),
            (
                Self.exchange(Self.reqA, .failure(LinkError(.transmission, "noise"))),
                "00fe000126 REQA, no answer: damaged"
            ),
            (
                Self.exchange(anticollision, .failure(LinkError(.collision, "", collision: place))),
                "00fe00029320 ANTICOLLISION, level 1, no answer: several tags at once; "
                    + "00ff00020801 9 bits before the tags differ"
            ),
            (
                Self.exchange(Frame([0x1B, 1, 2, 3, 4]), .success(nak)),
                "00fe00071b00000000faf3 PWD AUTH, 4 bytes not shown; "
                    + "00ff000104 NAK 4: not authenticated, or a counter is full (4 bits in the last byte)"
            ),
        ]
        for (entry, packets) in rows {
            let found = Packet.all(of: Trace([entry]).pcapng()).map {
                ([$0.data.hexText()] + ($0.comments.isEmpty ? [] : [$0.comments.joined(separator: ", ")]))
                    .joined(separator: " ")
            }
            #expect(found.joined(separator: "; ") == packets)
        }
    }

    @Test func `exchanges that the link type can't hold: left out with a note`() {
        let command = Self.exchange(Frame([0x00, 0xB0, 0, 0, 2]), nil, over: .commands)
        let capture = Trace([
            Self.exchange(Frame([0x06]), nil, over: .frames(.nfcF)),
            Self.exchange(Frame([0x26, 0x01, 0x00]), nil, over: .frames(.nfcV)), command, command,
        ]).pcapng()
        #expect(capture.packetCount == 0 && capture.notes.count == 3)
        for (note, start) in zip(capture.notes, ["1 exchange of FeliCa", "1 exchange of ISO 15693", "2 exchanges"]) {
            #expect(note.hasPrefix("Left out: \(start)") && capture.bytes.contains(Array(note.utf8)))
        }
    }

    @Test func `notes of a trace: comments of the next packet, or of the file`() {
        let trace = Trace([
            Trace.Entry(.note("look for nfc-a")), Self.exchange(Self.reqA, nil), Trace.Entry(.note("the end")),
        ])
        let capture = trace.pcapng()
        #expect(Packet.all(of: capture).map(\.comments) == [["look for nfc-a", "REQA"]])
        #expect(capture.bytes.contains(Array("the end".utf8)))
    }

    @Test func `times: from the given start, and never negative`() {
        let entries = [
            Self.exchange(Self.reqA, nil, at: .milliseconds(2)), Self.exchange(Self.reqA, nil),
            Self.exchange(Self.reqA, nil, at: .seconds(-3)),
        ]
        let times = { (start: Duration) in Packet.all(of: Trace(entries).pcapng(start: start)).map(\.nanoseconds) }
        #expect(times(.seconds(1)) == [1_002_000_000, 1_002_000_000, 0])
        #expect(times(.seconds(1 << 62)) == [.max, .max, .max])
        #expect(times(.zero) == [2_000_000, 2_000_000, 0])
        let early = Trace([Self.exchange(Self.reqA, nil, at: .milliseconds(-500))])
        #expect(Packet.all(of: early.pcapng()).map(\.nanoseconds) == [0])
        #expect(Packet.all(of: early.pcapng(start: .seconds(2))).map(\.nanoseconds) == [1_500_000_000])
    }

    @Test(arguments: [("n", 65_535), ("ü", 65_534), ("€", 65_535), ("😀", 65_532)])
    func `comment longer than its field: cut behind a whole character, and the packets behind it are whole`(
        character: String,
        count: Int
    ) {
        let size = character.utf8.count
        let note = String(repeating: character, count: 65_536 / size + 1)
        let trace = Trace([Trace.Entry(.note(note)), Self.exchange(Self.reqA, nil), Self.exchange(Self.reqA, nil)])
        let cut = String(repeating: character, count: count / size)
        #expect(Packet.all(of: trace.pcapng()).map(\.comments) == [[cut, "REQA"], ["REQA"]])
    }
}

/// A packet that was read from a capture.
private struct Packet {
    var nanoseconds: Int
    var data: [UInt8]
    var comments: [String] = []

    /// The frame after the pseudo header.
    var frame: [UInt8] { Array(data.dropFirst(4)) }

    static func all(of capture: PacketCapture) -> [Packet] {
        let bytes = capture.bytes
        var packets: [Packet] = []
        var place = 0
        while place + 12 <= bytes.count {
            let length = bytes.littleEndian(at: place + 4, count: 4)
            if bytes.littleEndian(at: place, count: 4) == 6 {
                packets.append(Packet(Array(bytes[place..<place + length])))
            }
            place += length
        }
        return packets
    }

    private init(_ block: [UInt8]) {
        nanoseconds = block.littleEndian(at: 12, count: 4) << 32 | block.littleEndian(at: 16, count: 4)
        let count = block.littleEndian(at: 20, count: 4)
        data = Array(block[28..<28 + count])
        var place = 28 + ((count + 3) & ~3)
        while place + 4 <= block.count - 4, block.littleEndian(at: place, count: 2) == 1 {
            let length = block.littleEndian(at: place + 2, count: 2)
            comments.append(String(decoding: block[place + 4..<place + 4 + length], as: UTF8.self))
            place += 4 + ((length + 3) & ~3)
        }
    }
}
