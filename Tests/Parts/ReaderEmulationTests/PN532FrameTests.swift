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

    @Test func `An answer of more than 255 bytes goes in an extended frame`() {
        #expect(PN532ChipFrame.answer(to: 0x02, [0x32, 0x01, 0x06, 0x07]).prefix(7) == [0, 0, 0xFF, 6, 0xFA, 0xD5, 3])
        let long = PN532ChipFrame.answer(to: 0x40, [UInt8](repeating: 1, count: 263))
        #expect(long.prefix(8) == [0, 0, 0xFF, 0xFF, 0xFF, 1, 9, 0xF6])
        #expect(long[8...].dropLast(1).reduce(0, &+) == 0)
    }
}
