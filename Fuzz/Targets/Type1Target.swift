// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// Every procedure ends for any answers of a Type 1 tag.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe runToEnd(start, count, patience: 100) { choice, answers in
        let header: UInt8 = choice & 1 != 0 ? 0x12 : 0x11
        let isBare = choice & 2 != 0
        // Unless the input asks for bare answers, RID gives the tag's identity, and data follow the echo of their address.
        let link = HostileLink(.nfcA, answers) { request, bytes in
            guard !isBare, let command = request.bytes.first else { return nil }
            switch command {
            case 0x78: return Frame([header, 0x4C, 1, 2, 3, 4], checksum: .crcB)
            case 0x00:
                let memory: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 0] + bytes
                return Frame(
                    [header, 0x4C] + (memory + [UInt8](repeating: 0, count: 120)).prefix(120),
                    checksum: .crcB
                )
            case 0x10, 0x02:
                let length = command == 0x10 ? 128 : 8
                let memory = (bytes + [UInt8](repeating: 0, count: length)).prefix(length)
                return Frame([request.bytes[1]] + memory, checksum: .crcB)
            // Most writes succeed.
            case 0x53, 0x1A, 0x54, 0x1B:
                return bytes.count > 2 ? nil : Frame(Array(request.bytes[1...].dropLast(4)), checksum: .crcB)
            default: return nil
            }
        }
        // 256 block reads and 300 single byte writes, each tried 3 times, and as many lock bytes; RALL and RID.
        let part = ExercisePart(choice >> 2)
        guard part == .format else {
            await exercise(Type1Tag(link: link), answers, part: part, atMost: 3 * (256 + 304 + 8 * 32 + 2))
            return
        }
        let tag = Type1Tag(link: link)
        await bounded("format", answers, atMost: 3 * (256 + 16 + 2)) { () throws(TagError) in try await tag.format() }
    }
}
