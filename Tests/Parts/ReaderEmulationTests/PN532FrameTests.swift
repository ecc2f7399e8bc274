// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import Testing

/// A host's frame around the bytes after D4.
func hostFrame(_ command: [UInt8]) -> [UInt8] {
    let payload = [0xD4] + command
    let checksum = 0 &- payload.reduce(0, &+)
    let length = UInt8(payload.count)
    return [0x00, 0x00, 0xFF, length, 0 &- length] + payload + [checksum, 0x00]
}

@Suite struct `Frames of a PN532` {
    private func decode(_ bytes: [UInt8], pieces: Int) -> [PN532HostFrame] {
        var decoder = PN532FrameDecoder()
        var frames: [PN532HostFrame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            decoder.append(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
            while let frame = decoder.next() { frames.append(frame) }
        }
        return frames
    }

    @Test(arguments: [1, 2, 3, 5, 7, 1000])
    func `Frames are found in pieces of any size, among bytes that wake the chip up`(pieces: Int) {
        let wakeUp: [UInt8] = [0x55, 0x55, 0x00, 0x00, 0x00, 0x00, 0x00]
        let bytes =
            wakeUp + hostFrame([0x02]) + PN532ChipFrame.acknowledge + [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
            + hostFrame([0x4A, 0x01, 0x00])
        #expect(
            decode(bytes, pieces: pieces) == [
                .command([0x02]), .acknowledge, .negativeAcknowledge, .command([0x4A, 0x01, 0x00]),
            ]
        )
    }

    @Test func `An extended frame is read`() {
        let payload = [0xD4, 0x42] + [UInt8](repeating: 0x11, count: 262)
        let high = UInt8(payload.count >> 8)
        let low = UInt8(payload.count & 0xFF)
        let checksum = 0 &- payload.reduce(0, &+)
        let bytes = [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, 0 &- high &- low] + payload + [checksum, 0x00]
        for pieces in [1, 300] {
            #expect(decode(bytes, pieces: pieces) == [.command(Array(payload.dropFirst()))])
        }
    }

    @Test func `Damaged frames are passed over, and the next one is found`() {
        var badChecksum = hostFrame([0x02])
        badChecksum[7] ^= 1
        var badLength = hostFrame([0x02])
        badLength[4] ^= 1
        let wrongDirection: [UInt8] = [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD5, 0x03, 0x28, 0x00]
        for bad in [badChecksum, badLength, wrongDirection] {
            #expect(decode(bad + hostFrame([0x04]), pieces: 1) == [.command([0x04])])
        }
        // A length that is too long is no frame; nothing waits for its bytes.
        let long: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02]
        #expect(decode(long + hostFrame([0x04]), pieces: 3) == [.command([0x04])])
    }

    @Test func `A frame that is cut off yields nothing`() {
        let bytes = hostFrame([0x4A, 0x01, 0x00])
        for count in 0..<bytes.count - 1 {
            #expect(decode(Array(bytes.prefix(count)), pieces: 1) == [])
        }
    }

    @Test(arguments: 1...4) func `Any number of other bytes may be before a frame`(count: Int) {
        for filler in [0x55, 0x00, 0xFF] as [UInt8] {
            let bytes = [UInt8](repeating: filler, count: count) + hostFrame([0x02])
            #expect(decode(bytes, pieces: 1) == [.command([0x02])] && decode(bytes, pieces: 100) == [.command([0x02])])
        }
    }

    @Test func `The byte after a frame is no part of it, and neither is one after an acknowledgement`() {
        // Its last byte and its checksum would be the start of a frame.
        let first = Array(hostFrame([0x2D, 0x00]).dropLast())
        #expect(first.suffix(2) == [0x00, 0xFF])
        let next = Array(hostFrame([0x04]).dropFirst())
        #expect(decode(first + next, pieces: 100) == [.command([0x2D, 0x00]), .command([0x04])])
        let acknowledge: [UInt8] = [0x00, 0xFF, 0x00, 0xFF]
        let refusal: [UInt8] = [0x00, 0xFF, 0xFF, 0x00]
        #expect(decode(acknowledge, pieces: 4) == [.acknowledge])
        #expect(decode(refusal, pieces: 4) == [.negativeAcknowledge])
        #expect(decode(acknowledge + next, pieces: 1) == [.acknowledge, .command([0x04])])
        // A command without the first byte of its start is none.
        #expect(decode(refusal + next.dropFirst(), pieces: 1) == [.negativeAcknowledge])
    }

    /// An extended frame around the bytes after D4, with the difference of its length's checksum from the right one.
    private static func extended(_ command: [UInt8], difference: UInt8 = 0) -> [UInt8] {
        let payload = [0xD4] + command
        let (high, low) = (UInt8(payload.count >> 8), UInt8(payload.count & 0xFF))
        let lengthChecksum = 0 &- high &- low &+ difference
        let checksum = 0 &- payload.reduce(0, &+)
        return [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, lengthChecksum] + payload + [checksum, 0x00]
    }

    @Test func `A frame has 2 to 300 bytes, and a length with the right checksum`() {
        let next = hostFrame([0x04])
        let longest = [0x42] + [UInt8](repeating: 0x11, count: 298)
        #expect(decode(Self.extended(longest) + next, pieces: 7) == [.command(longest), .command([0x04])])
        #expect(decode(Self.extended(longest + [0x11]) + next, pieces: 7) == [.command([0x04])])
        #expect(decode(Self.extended([0x02]) + next, pieces: 1) == [.command([0x02]), .command([0x04])])
        #expect(decode(hostFrame([]) + next, pieces: 1) == [.command([0x04])])
        #expect(decode(Self.extended([0x02], difference: 1) + next, pieces: 1) == [.command([0x04])])
    }

    @Test func `The chip's frames have the bytes of the manual`() {
        #expect(PN532ChipFrame.acknowledge == [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00])
        #expect(PN532ChipFrame.syntaxError == [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00])
        #expect(
            PN532ChipFrame.answer(to: 0x02, [0x32, 0x01, 0x06, 0x07])
                == [0x00, 0x00, 0xFF, 0x06, 0xFA, 0xD5, 0x03, 0x32, 0x01, 0x06, 0x07, 0xE8, 0x00]
        )
        let short = PN532ChipFrame.answer(to: 0x40, [UInt8](repeating: 0, count: 253))
        #expect(short.prefix(7) == [0, 0, 0xFF, 0xFF, 0x01, 0xD5, 0x41] && short.suffix(2) == [0xEA, 0x00])
        let long = PN532ChipFrame.answer(to: 0x40, [UInt8](repeating: 0, count: 254))
        #expect(long.prefix(10) == [0, 0, 0xFF, 0xFF, 0xFF, 1, 0, 0xFF, 0xD5, 0x41] && long.suffix(2) == [0xEA, 0x00])
    }

    @Test func `An answer of more than 255 bytes goes in an extended frame`() {
        #expect(PN532ChipFrame.answer(to: 0x02, [0x32, 0x01, 0x06, 0x07]).prefix(7) == [0, 0, 0xFF, 6, 0xFA, 0xD5, 3])
        let long = PN532ChipFrame.answer(to: 0x40, [UInt8](repeating: 1, count: 263))
        #expect(long.prefix(8) == [0, 0, 0xFF, 0xFF, 0xFF, 1, 9, 0xF6])
        #expect(long[8...].dropLast(1).reduce(0, &+) == 0)
    }
}
