// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Several tags in the field` {
    /// The collision that an exchange ends in.
    private func collision(_ link: any FrameLink, _ frame: Frame) async -> LinkError.Collision? {
        do {
            _ = try await link.transceive(frame, timeout: .milliseconds(1))
            return nil
        } catch {
            return error.collision
        }
    }

    @Test func `Equal answers arrive as one`() async throws {
        let script = try Script(
            VirtualType2Tag(.ntag213, uid: Script.uid),
            VirtualType2Tag(.ntag215, uid: [0x04, 0xA1, 0xB2, 0, 0, 0, 0])
        )
        #expect(await script.sendShort(0x26) == "44 00")
        #expect(await script.sendRaw("93 20") == "88 04 a1 b2 9f")
        #expect(await script.send("93 70 88 04 a1 b2 9f") == "04")
    }

    @Test func `The first bit on which tags disagree is reported, with the bits before it`() async throws {
        let script = try Script(
            VirtualType2Tag(.ntag213, uid: [0x04, 0b1010_0001, 0, 1, 2, 3, 4]),
            VirtualType2Tag(.ntag213, uid: [0x04, 0b1011_0001, 9, 1, 2, 3, 4])
        )
        #expect(await script.sendShort(0x26) == "44 00")
        let collision = await collision(script.link, Frame([0x93, 0x20], checksum: .none))
        #expect(collision == LinkError.Collision(bitIndex: 20, bits: [0x88, 0x04, 0b0001]))

        // 21 bits are known: the tag that has them answers the other 19.
        let frame = Frame(bits: [0x93, 0x45, 0x88, 0x04, 0b1_0001], validBitsInLastByte: 5)
        let answer = try await script.link.transceive(frame, timeout: .milliseconds(1))
        #expect(answer.bitCount == 19)
        #expect(answer.bytes[0] & 0b111 == 0b101)
    }

    @Test func `ATQA of tags with UIDs of different length collides`() async throws {
        var contents = Type2Contents(blank: .ultralight, uid: [1, 2, 3, 4])
        contents.atqa = 0x0004
        let script = try Script(VirtualType2Tag(contents), VirtualType2Tag(.ntag213, uid: Script.uid))
        let collision = await collision(script.link, Frame(bits: [0x26], validBitsInLastByte: 7))
        #expect(collision == LinkError.Collision(bitIndex: 6, bits: [0x04]))
    }

    @Test(arguments: 1...6) func `Every tag of a crowd is found by bits`(_ count: Int) async throws {
        var generator = Numbers(seed: UInt64(count))
        let uids = (0..<count).map { _ in Type2Contents.randomUID(using: &generator) }
        let script = try Script(field: VirtualField(), uids.map { VirtualType2Tag(.ntag213, uid: $0) })
        var found: Set<[UInt8]> = []
        for _ in 0..<count {
            _ = await script.sendShort(0x26)
            let first = try await resolve(script.link, 0x93)
            let second = try await resolve(script.link, 0x95)
            #expect(await script.send("60") == "00 04 04 02 01 00 0f 03")
            #expect(await script.send("50 00") == "timeout")
            found.insert(Array(first[1..<4] + second[0..<4]))
        }
        #expect(found == Set(uids))
        #expect(await script.sendShort(0x26) == "timeout")
    }

    /// Anticollision of one level as ISO/IEC 14443-3, 6.5.3 has it, then SELECT.
    private func resolve(_ link: any FrameLink, _ select: UInt8) async throws -> [UInt8] {
        var known: [Bool] = []
        while known.count < 40 {
            let bytes = pack(known)
            let nvb = UInt8(2 + known.count / 8) << 4 | UInt8(known.count % 8)
            let frame =
                known.count % 8 == 0
                ? Frame([select, nvb] + bytes, checksum: .none)
                : Frame(bits: [select, nvb] + bytes, validBitsInLastByte: known.count % 8)
            if let collision = await collision(link, frame) {
                known += (0..<collision.bitIndex).map { collision.bits[$0 / 8] >> ($0 % 8) & 1 == 1 } + [true]
            } else {
                let answer = try await link.transceive(frame, timeout: .milliseconds(1))
                known += (0..<answer.bitCount).map { answer.bytes[$0 / 8] >> ($0 % 8) & 1 == 1 }
            }
        }
        let bytes = pack(known)
        _ = try await link.transceive(Frame([select, 0x70] + bytes), timeout: .milliseconds(1))
        return bytes
    }

    private func pack(_ bits: [Bool]) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }
        }
    }
}
