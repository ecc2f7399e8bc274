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

    @Test func `frames: with the checksum that was on the air`() {
        let rall = Frame([0x00, 0x00, 0x00, 1, 2, 3, 4], checksum: .crcB)
        let trace = Trace([
            Self.exchange(Frame([0x30, 0x04]), .success(Frame([UInt8](repeating: 0, count: 16)))),
            Self.exchange(Frame([0x05, 0x00, 0x00]), nil, over: .frames(.nfcB)),
            Self.exchange(rall, nil),
            // A checksum that the link did not handle stays as it was, right or wrong.
            Self.exchange(Frame([0x50, 0x00, 0x12, 0x34], checksum: .none), nil),
        ])
        #expect(
            Packet.all(of: trace.pcapng()).map(\.frame) == [
                [0x30, 0x04, 0x26, 0xEE], [UInt8](repeating: 0, count: 16) + [0x37, 0x49],
                [0x05, 0x00, 0x00, 0x71, 0xFF], rall.bytes + CyclicRedundancyCheck.b(rall.bytes).littleEndianBytes,
                [0x50, 0x00, 0x12, 0x34],
            ]
        )
    }

    @Test func `field events: packets without a frame; a missing answer is no packet`() {
        let trace = Trace([
            Trace.Entry(at: .zero, .field(isOn: true)), Self.exchange(Self.reqA, .failure(LinkError(.timeout, ""))),
            Trace.Entry(.field(isOn: false)),
        ])
        let packets = Packet.all(of: trace.pcapng())
        #expect(packets.map(\.data) == [[0, 0xFC, 0, 0], [0, 0xFE, 0, 1, 0x26], [0, 0xFD, 0, 0]])
        #expect(packets.map(\.comments) == [[], ["REQA"], []])
    }

    @Test func `damaged answer: a comment; collision: a packet with the bits before it`() {
        let collision = LinkError.Collision(bitIndex: 9, bits: [0x08, 0x01])
        let anticollision = Frame([0x93, 0x20], checksum: .none)
        let trace = Trace([
            Self.exchange(Self.reqA, .failure(LinkError(.transmission, "noise"))),
            Self.exchange(anticollision, .failure(LinkError(.collision, "", collision: collision))),
        ])
        let packets = Packet.all(of: trace.pcapng())
        #expect(packets.map(\.frame) == [[0x26], [0x93, 0x20], [0x08, 0x01]])
        #expect(packets[0].comments == ["REQA", "no answer: damaged"])
        #expect(packets[1].comments.last == "no answer: several tags at once")
        #expect(packets[2].comments == ["9 bits before the tags differ"])
    }

    @Test func `password: zeros; incomplete byte: its bits in the comment`() {
        let nak = Frame(bits: [0x4], validBitsInLastByte: 4)
        let packets = Packet.all(of: Trace([Self.exchange(Frame([0x1B, 1, 2, 3, 4]), .success(nak))]).pcapng())
        let zeros: [UInt8] = [0x1B, 0, 0, 0, 0]
        #expect(packets.map(\.frame) == [zeros + CyclicRedundancyCheck.a(zeros).littleEndianBytes, [0x04]])
        #expect(packets[0].comments == ["PWD AUTH, 4 bytes not shown"])
        #expect(packets[1].comments.first?.hasSuffix(" (4 bits in the last byte)") == true)
    }

    @Test(
        arguments: [
            (1, 7, false), (1, 6, true), (1, 8, false), (2, 7, true), (3, 7, true), (3, 1, true), (3, 8, false),
        ]
    )
    func `incomplete last byte: its bits in the comment, but for a whole byte and a short frame`(
        count: Int,
        bits: Int,
        isSaid: Bool
    ) {
        let frame = Frame(bits: Array([0x26, 0x27, 0x01].prefix(count)), validBitsInLastByte: bits)
        let packets = Packet.all(of: Trace([Self.exchange(frame, .success(frame))]).pcapng())
        let end = " (\(bits) bit\(bits == 1 ? "" : "s") in the last byte)"
        #expect(packets.count == 2)
        for packet in packets {
            #expect(packet.comments.count == 1)
            #expect(packet.comments.first?.hasSuffix(isSaid ? end : " in the last byte)") == isSaid)
        }
    }

    @Test func `exchanges that the link type can't hold: left out with a note`() {
        let trace = Trace([
            Self.exchange(Frame([0x06]), nil, over: .frames(.nfcF)),
            Self.exchange(Frame([0x26, 0x01, 0x00]), nil, over: .frames(.nfcV)),
            Self.exchange(Frame([0x00, 0xB0, 0, 0, 2]), nil, over: .commands),
            Self.exchange(Frame([0x00, 0xB0, 0, 0, 2]), nil, over: .commands),
        ])
        let capture = trace.pcapng()
        #expect(capture.packetCount == 0)
        #expect(
            capture.notes == [
                "Left out: 1 exchange of FeliCa: the capture can hold ISO 14443 only.",
                "Left out: 1 exchange of ISO 15693: the capture can hold ISO 14443 only.",
                "Left out: 2 exchanges of commands whose frames the reader made by itself: the recording does not have "
                    + "the frames.",
            ]
        )
        for note in capture.notes { #expect(capture.bytes.contains(Array(note.utf8))) }
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

    @Test func `comment longer than its field: cut, and the packets behind it are whole`() {
        let note = String(repeating: "n", count: 0x1_0000)
        let trace = Trace([
            Trace.Entry(.note(note)), Self.exchange(Self.reqA, nil), Trace.Entry(.note(String(note.dropLast()))),
            Self.exchange(Self.reqA, nil),
        ])
        let packets = Packet.all(of: trace.pcapng())
        #expect(packets.map { $0.comments.map(\.utf8.count) } == [[0xFFFF, 4], [0xFFFF, 4]])
        #expect(packets.map { $0.comments.last } == ["REQA", "REQA"])
    }

    @Test(arguments: [("ü", 65_534), ("€", 65_535), ("😀", 65_532)])
    func `comment that is cut: it ends with a whole character`(character: String, count: Int) {
        let size = character.utf8.count
        let note = String(repeating: character, count: 65_536 / size + 1)
        let packets = Packet.all(of: Trace([Trace.Entry(.note(note)), Self.exchange(Self.reqA, nil)]).pcapng())
        #expect(packets.map(\.comments) == [[String(repeating: character, count: count / size), "REQA"]])
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
