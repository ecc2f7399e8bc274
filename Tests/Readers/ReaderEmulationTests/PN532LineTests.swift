// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// The frames of a PN532 and its serial line (PN532 user manual UM0701-02, 6.2.1).
struct PN532LineTests {
    /// A host's normal frame around the bytes after D4.
    static func hostFrame(_ command: String) -> [UInt8] {
        let payload = [0xD4] + [UInt8](hex: command)
        let length = UInt8(payload.count)
        return [0x00, 0x00, 0xFF, length, 0 &- length] + payload + [0 &- payload.reduce(0, &+), 0x00]
    }

    /// A host's extended frame, whose length checksum is wrong by so much.
    private static func extended(_ command: [UInt8], difference: UInt8 = 0) -> [UInt8] {
        let payload = [0xD4] + command
        let (high, low) = (UInt8(payload.count >> 8), UInt8(payload.count & 0xFF))
        return [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, 0 &- high &- low &+ difference] + payload
            + [0 &- payload.reduce(0, &+), 0x00]
    }

    /// The frame of an answer to a command.
    static func answer(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
        PN53xFrame.bytes([code + 1] + data, from: .chip)
    }

    private static let negativeAcknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]

    /// What a decoder finds in bytes that arrive in pieces.
    private static func decode(_ bytes: [UInt8], pieces: Int = 1) -> [PN53xFrame] {
        var decoder = PN53xFrameDecoder(from: .host)
        var frames: [PN53xFrame] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            decoder.append(Array(bytes[start...].prefix(pieces)))
            while let frame = decoder.next() { frames.append(frame) }
        }
        return frames
    }

    @Test func `frame decoder: the same frames whole, in pieces of any size, and among wake-up bytes`() {
        let long = [0x42] + [UInt8](repeating: 0x11, count: 262)
        let wakeUp: [UInt8] = [0x55, 0x55, 0x00, 0x00, 0x00, 0x00, 0x00]
        let bytes =
            wakeUp + Self.hostFrame("02") + PN53xFrame.acknowledgeBytes + Self.negativeAcknowledge + Self.extended(long)
            + [0x55, 0x55] + Self.hostFrame("4A 01 00")
        let frames: [PN53xFrame] = [
            .message([0x02]), .acknowledge, .negativeAcknowledge, .message(long), .message([0x4A, 0x01, 0x00]),
        ]
        for pieces in [1, 2, 3, 5, 7, 100, 1000] { #expect(Self.decode(bytes, pieces: pieces) == frames, "\(pieces)") }
        // The postamble does not belong to a frame: without it, the next frame is found.
        let first = Array(Self.hostFrame("2D 00").dropLast())
        #expect(first.suffix(2) == [0x00, 0xFF], "a checksum that could start a frame")
        let next = Array(Self.hostFrame("04").dropFirst())
        #expect(Self.decode(first + next, pieces: 100) == [.message([0x2D, 0x00]), .message([0x04])])
        #expect(Self.decode([0x00, 0xFF, 0x00, 0xFF] + next) == [.acknowledge, .message([0x04])])
        #expect(Self.decode([0x00, 0xFF, 0xFF, 0x00] + next.dropFirst()) == [.negativeAcknowledge])
    }

    @Test func `frame decoder: a frame cut at any byte gives nothing`() {
        for bytes in [Self.hostFrame("4A 01 00"), Self.extended([0x02]), [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]] {
            for count in 0..<bytes.count - 1 { #expect(Self.decode(Array(bytes.prefix(count))) == [], "\(count)") }
        }
    }

    @Test func `frame decoder: damaged frames are skipped, and the next one is found`() {
        let next = Self.hostFrame("04")
        var (badChecksum, badLength) = (Self.hostFrame("02"), Self.hostFrame("02"))
        badChecksum[7] ^= 1
        badLength[4] ^= 1
        let longest = [0x42] + [UInt8](repeating: 0x11, count: 263)
        let rows: [(String, [UInt8], [PN53xFrame])] = [
            ("wrong checksum", badChecksum, [.damaged(code: 0x02)]), ("wrong length checksum", badLength, []),
            ("from a chip", [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD5, 0x03, 0x28, 0x00], []),
            ("length FFFF", [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], []),
            ("wrong extended length checksum", Self.extended([0x02], difference: 1), []),
            ("2 bytes", Self.extended([0x02]), [.message([0x02])]), ("1 byte", Self.hostFrame(""), []),
            ("265 bytes", Self.extended(longest), [.message(longest)]),
            ("266 bytes", Self.extended(longest + [0x11]), []),
        ]
        for (name, bytes, frames) in rows {
            for pieces in [1, 7, 1000] {
                #expect(Self.decode(bytes + next, pieces: pieces) == frames + [.message([0x04])], "\(name)")
            }
        }
    }

    @Test func `chip frames: normal up to 255 bytes, extended above`() {
        #expect(PN53xFrame.acknowledgeBytes.hex == "0000FF00FF00")
        #expect(PN53xFrame.syntaxErrorBytes.hex == "0000FF01FF7F8100")
        #expect(Self.answer(0x02, [0x32, 0x01, 0x06, 0x07]).hex == "0000FF06FAD50332010607E800")
        for (count, head, end) in [
            (253, "0000FFFF01D541", "EA00"), (254, "0000FFFFFF0100FFD541", "EA00"),
            (263, "0000FFFFFF0109F6D541", "EA00"),
        ] {
            let text = Self.answer(0x40, [UInt8](repeating: 0, count: count)).hex
            #expect(text.hasPrefix(head) && text.hasSuffix(end), "\(count)")
            #expect(text.count == 2 * count + head.count + end.count)
        }
    }

    // MARK: The line

    /// A host at a line.
    private struct Host {
        let field = VirtualField()
        var device: PN532SerialDevice

        init() { device = PN532SerialDevice(field: field) }

        /// What the chip sends for bytes, in hexadecimal; `ACK` for an acknowledgement.
        mutating func send(_ bytes: [UInt8]) async -> [String] {
            var sent: [String] = []
            await device.receive(bytes) { sent.append($0 == PN53xFrame.acknowledgeBytes ? "ACK" : $0.hex) }
            return sent
        }

        mutating func send(_ command: String) async -> [String] { await send(PN532LineTests.hostFrame(command)) }

        mutating func presenceChanged() async -> [String] {
            var sent: [String] = []
            await device.presenceChanged { sent.append($0.hex) }
            return sent
        }
    }

    private static let version = Self.answer(0x02, [0x32, 0x01, 0x06, 0x07]).hex
    private static let ports = Self.answer(0x0C, [0x3F, 0x07, 0x07]).hex
    private static let listed = Self.answer(0x4A, [1, 1, 0x00, 0x44, 0x00, 7] + SampleTag.ntagUID).hex

    @Test func `a line: commands are acknowledged and answered, and NACK repeats the last answer`() async {
        var host = Host()
        #expect(await host.send("02") == ["ACK", Self.version])
        for _ in 0..<2 { #expect(await host.send(Self.negativeAcknowledge) == [Self.version]) }
        #expect(await host.send("99") == ["ACK", PN53xFrame.syntaxErrorBytes.hex])
    }

    @Test func `a line: a command that waits for a tag is answered once, when the tag arrives`() async {
        var host = Host()
        #expect(await host.send("4A 01 00") == ["ACK"])
        #expect(await host.send(Self.negativeAcknowledge) == [])
        for _ in 0..<2 { #expect(await host.presenceChanged() == []) }
        host.field.bring(SampleTag.ntag())
        #expect(await host.presenceChanged() == [Self.listed])
        #expect(await host.presenceChanged() == [])
        #expect(await host.send(Self.negativeAcknowledge) == [Self.listed])
    }

    @Test func `a line: an ACK of the host or its next command ends the wait for a tag`() async {
        var host = Host()
        #expect(await host.send(Self.hostFrame("4A 01 00") + PN53xFrame.acknowledgeBytes) == ["ACK"])
        host.field.bring(SampleTag.ntag())
        #expect(await host.presenceChanged() == [])
        host.field.removeAll()
        #expect(await host.send("4A 01 00") == ["ACK"])
        #expect(await host.send("0C") == ["ACK", Self.ports])
        host.field.bring(SampleTag.ntag())
        #expect(await host.presenceChanged() == [])
        #expect(await host.send(Self.negativeAcknowledge) == [Self.ports])
    }

    @Test func `line after a power-off: the chip has no target, no partial frame and no answer to repeat`() async {
        var host = Host()
        host.field.bring(SampleTag.ntag())
        _ = await host.send("4A 01 00")
        await host.device.powerOff()
        #expect(await host.send("04") == ["ACK", Self.answer(0x04, [0, 0, 0, 0]).hex])
        _ = await host.send("02")
        // The start of a frame of 200 bytes.
        _ = await host.send([0x00, 0x00, 0xFF, 200, 56, 0xD4])
        await host.device.powerOff()
        #expect(await host.send(Self.negativeAcknowledge) == [])
        #expect(await host.send("0C") == ["ACK", Self.ports])
    }
}
