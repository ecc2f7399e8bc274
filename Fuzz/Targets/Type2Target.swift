// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// Every procedure ends for any answers of a Type 2 tag.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe runToEnd(start, count, patience: 100) { choice, answers in
        let isBare = choice & 1 != 0
        let uid: [UInt8] = [choice & 2 != 0 ? 0x04 : 0x02, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
        // Unless the input asks for bare answers, answers have the requested length, and the tag can be woken.
        let link = HostileLink(.nfcA, answers) { request, bytes in
            guard !isBare, bytes.count > 1 || request.checksum == .none, let command = request.bytes.first else {
                return nil
            }
            func padded(_ count: Int) -> Frame {
                Frame(Array((bytes + [UInt8](repeating: 0, count: count)).prefix(count)))
            }
            switch command {
            case 0x26, 0x52: return Frame([0x44, 0x00], checksum: .none)
            case 0x93 where request.bytes.count > 2: return Frame([0x04])
            case 0x95 where request.bytes.count > 2: return Frame([0x00])
            case 0x30: return padded(16)
            case 0x3A: return padded(4 * max(0, Int(request.bytes[2]) - Int(request.bytes[1]) + 1))
            case 0xA2, 0xC2: return Frame(bits: [0x0A], validBitsInLastByte: 4)
            case 0x60: return padded(8)
            default: return nil
            }
        }
        let target = NFCATarget(atqa: 0x0044, sak: 0, uid: uid)
        // A command is tried 3 times. Before each, the tag may have to be woken (3 times WUPA and 2 SELECTs), and have its
        // sector selected: 3 times two frames, of which the first is tried 3 times with the tag woken.
        let wake = 3 * 3
        let command = 3 * (1 + wake + 3 * (1 + wake + 3 * (1 + wake)))
        // 130 READs for 512 pages, and 80 WRITEs for 300 bytes, or for locks; GET_VERSION.
        let limit = (130 + 80 + 70 + 2) * command
        let tag = Type2Tag(target: target, link: link)
        let part = ExercisePart(choice >> 2)
        guard part == .format else { return await exercise(tag, answers, part: part, atMost: limit) }
        await bounded("format", answers, atMost: limit) { () throws(TagError) in try await tag.format() }
        await bounded("identifyProduct", answers, atMost: limit) { () throws(TagError) in
            try await tag.identifyProduct()
        }
    }
}
