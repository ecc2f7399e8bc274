// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Testing

@testable import PN532Driver

/// Checks frames to and from the chip (PN532 user manual, 6.2.1).
struct ChipFrameDecoderTests {
    private static let long = (0..<262).map { UInt8(truncatingIfNeeded: $0) }

    private static func frames(in bytes: [UInt8], step: Int) -> [ChipFrame] {
        var decoder = ChipFrameDecoder()
        var frames: [ChipFrame] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            decoder.append(Array(bytes[start..<min(start + step, bytes.count)]))
            while let frame = decoder.next() { frames.append(frame) }
        }
        return frames
    }

    @Test("Commands are framed as the manual's examples")
    func commands() {
        #expect(HostFrame.acknowledge == [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00])
        #expect(HostFrame.negativeAcknowledge == [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00])
        #expect(HostFrame.wakeUp == [0x55, 0x55] + [UInt8](repeating: 0, count: 14))
        #expect(HostFrame.command(0x02, []) == [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD4, 0x02, 0x2A, 0x00])
        let long = HostFrame.command(0x42, Self.long)
        #expect(long.prefix(8) == [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x08, 0xF7])
        #expect(long.count == 8 + 264 + 2)
        // With the direction and the code, 255 bytes are the most for a short frame.
        let longest = HostFrame.command(0x42, Array(Self.long.prefix(253)))
        #expect(longest.prefix(5) == [0x00, 0x00, 0xFF, 0xFF, 0x01] && longest.count == 5 + 255 + 2)
        let extended = HostFrame.command(0x42, Array(Self.long.prefix(254)))
        #expect(extended.prefix(8) == [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x00, 0xFF])
    }

    @Test("Frames are found however the line cuts them", arguments: [1, 2, 3, 7, 64, 1000])
    func pieces(step: Int) {
        let bytes =
            ScriptedChip.acknowledge + ScriptedChip.frame(0x02, [0x32, 1, 6, 7]) + ScriptedChip.frame(0x42, Self.long)
            + [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]
        let expected: [ChipFrame] = [
            .acknowledge, .answer(code: 0x03, data: [0x32, 1, 6, 7]), .answer(code: 0x43, data: Self.long),
            .syntaxError,
        ]
        #expect(Self.frames(in: bytes, step: step) == expected)
    }

    @Test("Nothing of a whole frame is kept but its postamble")
    func postamble() {
        let frames = [
            ScriptedChip.acknowledge, ScriptedChip.frame(0x02, [0x32, 1, 6, 7]), ScriptedChip.frame(0x42, Self.long),
            [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00],
        ]
        for bytes in frames {
            var decoder = ChipFrameDecoder()
            decoder.append(bytes)
            #expect(decoder.next() != nil)
            #expect(decoder.keptCount == 1 && !decoder.isInFrame)
        }
    }

    @Test("Noise before and between frames is passed over")
    func noise() {
        let noise: [UInt8] = [0xFF, 0x00, 0x55, 0x00, 0xFF, 0x12, 0x34, 0x00]
        let bytes = noise + ScriptedChip.acknowledge + noise + ScriptedChip.frame(0x02, [1]) + noise
        #expect(Self.frames(in: bytes, step: 5) == [.acknowledge, .answer(code: 0x03, data: [1])])
    }

    @Test("A frame of the host that comes back is no answer, and does not hide the one behind it")
    func echo() {
        let bytes = HostFrame.command(0x02, []) + HostFrame.command(0x42, Self.long) + ScriptedChip.frame(0x02, [7])
        #expect(Self.frames(in: bytes, step: 1000) == [.answer(code: 0x03, data: [7])])
    }

    @Test("A damaged answer is reported, and does not hide the one behind it")
    func damage() {
        var damaged = ScriptedChip.frame(0x42, [0, 1, 2, 3])
        damaged[8] ^= 0x10
        let bytes = damaged + ScriptedChip.frame(0x42, [0, 4])
        #expect(Self.frames(in: bytes, step: 100) == [.damaged(code: 0x43), .answer(code: 0x43, data: [0, 4])])
    }

    @Test("A length whose checksum is wrong begins no frame")
    func lengthChecksum() {
        let whole = ScriptedChip.frame(0x02, [7])
        for bit in 0..<8 {
            var wrong = whole
            wrong[4] ^= 1 << UInt8(bit)
            #expect(Self.frames(in: wrong + whole, step: 100) == [.answer(code: 0x03, data: [7])], "\(bit)")
        }
    }

    @Test("A frame of 255 bytes that breaks off has its code behind a short length")
    func tornShort() {
        var decoder = ChipFrameDecoder()
        // Its first bytes would be a long length with its checksum.
        decoder.append([0x00, 0xFF, 0xFF, 0x01, 0xD5, 0x43, 0xE8])
        #expect(decoder.next() == nil)
        #expect(decoder.abandonPartial() == .damaged(code: 0x43))
    }

    @Test("A frame that breaks off is given up, at whatever byte it does")
    func torn() {
        for (frame, header) in [(ScriptedChip.frame(0x42, [0, 9, 8]), 5), (ScriptedChip.frame(0x42, Self.long), 8)] {
            for length in 2..<frame.count - 1 {
                var decoder = ChipFrameDecoder()
                decoder.append(Array(frame.prefix(length)))
                #expect(decoder.next() == nil)
                #expect(decoder.isInFrame == (length > 2))
                #expect(decoder.abandonPartial() == (length >= header + 2 ? .damaged(code: 0x43) : nil))
                decoder.append(ScriptedChip.frame(0x02, [7]))
                #expect(decoder.next() == .answer(code: 0x03, data: [7]))
            }
        }
    }

    @Test("A frame that breaks off does not hide the one behind it")
    func tornBefore() {
        var decoder = ChipFrameDecoder()
        let torn = Array(ScriptedChip.frame(0x42, [UInt8](1...20)).prefix(12))
        decoder.append(torn + ScriptedChip.frame(0x02, [7]))
        #expect(decoder.next() == nil)
        #expect(decoder.abandonPartial() == .answer(code: 0x03, data: [7]))
    }

    @Test("Any bytes are taken, and no more is kept than a frame")
    func anything() {
        var generator = SystemRandomNumberGenerator()
        var decoder = ChipFrameDecoder()
        for _ in 0..<3000 {
            // Bytes of which frames are made, so that many begin.
            var bytes: [UInt8] = []
            for _ in 0..<40 {
                let any = UInt8.random(in: 0...0xFF, using: &generator)
                bytes.append([0x00, 0x00, 0xFF, 0xFF, 0xD5, any].randomElement(using: &generator) ?? any)
            }
            decoder.append(bytes)
            while decoder.next() != nil {}
            #expect(decoder.keptCount <= ChipFrameDecoder.maximumPayload + 8)
        }
    }
}
