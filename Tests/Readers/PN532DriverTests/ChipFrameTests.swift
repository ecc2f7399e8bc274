// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver  // the bytes that wake a chip are internal

/// Frames to and from the chip (PN532 user manual, 6.2.1), and the status bytes in them (7.1).
struct ChipFrameTests {
    private static let long = (0..<262).map { UInt8(truncatingIfNeeded: $0) }
    private static let syntaxError: [UInt8] = [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]

    private static func frames(in bytes: [UInt8], step: Int = .max) -> [PN53xFrame] {
        var decoder = PN53xFrameDecoder(from: .chip)
        var (frames, rest) = ([PN53xFrame](), bytes[...])
        while !rest.isEmpty {
            decoder.append(Array(rest.prefix(step)))
            rest = rest.dropFirst(step)
            while let frame = decoder.next() { frames.append(frame) }
        }
        return frames
    }

    @Test func `host frames: ACK, NACK, wake-up and commands have the manual's bytes; extended from 256 bytes on`() {
        #expect(PN53xFrame.acknowledgeBytes == [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00])
        #expect(PN53xFrame.negativeAcknowledgeBytes == [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00])
        #expect(SerialPort.wakeUp == [0x55, 0x55] + [UInt8](repeating: 0, count: 14))
        #expect(PN53xFrame.bytes([0x02], from: .host) == [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD4, 0x02, 0x2A, 0x00])
        // With the direction and the code, 253 bytes of data are the most for a short frame.
        let heads: [(Int, [UInt8])] = [
            (253, [0x00, 0x00, 0xFF, 0xFF, 0x01]), (254, [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x00, 0xFF]),
            (262, [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x08, 0xF7]),
        ]
        for (count, head) in heads {
            let frame = PN53xFrame.bytes([0x42] + Self.long.prefix(count), from: .host)
            #expect(frame.starts(with: head) && frame.count == head.count + 2 + count + 2, "\(count)")
        }
    }

    @Test func `chip frame decoder: the same frames whole and split at every byte, with noise between them`() {
        let noise: [UInt8] = [0xFF, 0x00, 0x55, 0x00, 0xFF, 0x12, 0x34, 0x00]
        let answer = ScriptedChip.frame(0x02, [0x32, 1, 6, 7])
        // A frame of the host that is echoed is no answer, and does not hide the one behind it.
        let echo = PN53xFrame.bytes([0x02], from: .host) + PN53xFrame.bytes([0x42] + Self.long, from: .host)
        let bytes =
            noise + ScriptedChip.acknowledge + noise + answer + echo + ScriptedChip.frame(0x42, Self.long)
            + Self.syntaxError + noise
        let expected: [PN53xFrame] = [
            .acknowledge, .message([0x03, 0x32, 1, 6, 7]), .message([0x43] + Self.long),
            .syntaxError,
        ]
        for step in Array(1...20) + [64, 255, .max] {
            #expect(Self.frames(in: bytes, step: step) == expected, "\(step)")
        }
    }

    @Test func `chip frame decoder: a damaged frame is reported, and the one behind it is found`() {
        let whole = ScriptedChip.frame(0x42, [0, 1, 2, 3])
        for index in 5..<whole.count - 1 {
            var damaged = whole
            damaged[index] ^= 0x10
            // Damage to the direction makes it another's frame; damage to the code, another answer.
            let code = index == 6 ? 0x53 : UInt8(0x43)
            let expected: [PN53xFrame] = index == 5 ? [] : [.damaged(code: code)]
            let found = Self.frames(in: damaged + ScriptedChip.frame(0x42, [0, 4]))
            #expect(found == expected + [.message([0x43, 0, 4])], "\(index)")
        }
        // A length whose checksum is wrong begins no frame.
        for bit: UInt8 in 0..<8 {
            var wrong = whole
            wrong[4] ^= 1 << bit
            #expect(Self.frames(in: wrong + whole) == [.message([0x43, 0, 1, 2, 3])], "\(bit)")
        }
    }

    @Test func `chip frame decoder: cut at every byte, the part is given up and the next frame is found`() {
        for (frame, header) in [(ScriptedChip.frame(0x42, [0, 9, 8]), 5), (ScriptedChip.frame(0x42, Self.long), 8)] {
            for length in 2..<frame.count - 1 {
                var decoder = PN53xFrameDecoder(from: .chip)
                decoder.append(Array(frame.prefix(length)))
                #expect(decoder.next() == nil && decoder.isInFrame == (length > 2))
                #expect(decoder.abandonPartial() == (length >= header + 2 ? .damaged(code: 0x43) : nil))
                decoder.append(ScriptedChip.frame(0x02, [7]))
                #expect(decoder.next() == .message([0x03, 7]))
            }
        }
        // A cut frame does not hide a whole one behind it.
        var decoder = PN53xFrameDecoder(from: .chip)
        decoder.append(ScriptedChip.frame(0x42, [UInt8](1...20)).prefix(12) + ScriptedChip.frame(0x02, [7]))
        #expect(decoder.next() == nil && decoder.abandonPartial() == .message([0x03, 7]))
    }

    // MARK: Status bytes

    @Test func `status byte: each code of the manual is a link error, and an unknown one a transmission error`() {
        let codes: [(LinkError.Code, [UInt8])] = [
            (.timeout, [0x01, 0x0A, 0x14]), (.collision, [0x06]), (.frameTooLong, [0x07, 0x09, 0x0E]),
            (.readerUnavailable, [0x0D, 0x2D]), (.unsupported, [0x10, 0x12, 0x25, 0x26]),
            (.tagRemoved, [0x27, 0x29, 0x2A, 0x2B]),
        ]
        for byte in UInt8.min...UInt8.max {
            let status = PN53xStatus(byte: byte)
            let code = codes.first { $0.1.contains(byte & 0x3F) }?.0 ?? .transmission
            #expect(status.error?.code == (byte & 0x3F == 0 ? nil : code), "\(byte)")
            #expect(status.hasMore == (byte & 0x40 != 0) && status.code == byte & 0x3F)
        }
    }
}
