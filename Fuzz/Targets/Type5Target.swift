// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// Every procedure ends for any answers to an inventory, and for any answers of a Type 5 tag.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // An exchange can have 1,024 bytes, so a few exchanges test as much as many.
    unsafe runToEnd(start, count, patience: 40) { choice, answers in
        let isBare = choice & 1 != 0
        // Unless the input asks for bare answers, reads return the requested number of 4-byte blocks.
        let link = HostileLink(.nfcV, answers) { request, bytes in
            guard !isBare, bytes.count > 2, request.bytes.count > 3 else { return nil }
            let parameters = request.bytes.dropFirst(request.bytes[0] & 0x20 != 0 ? 10 : 2)
            let blocks: Int
            switch request.bytes[1] {
            case 0x20, 0x30: blocks = 1
            case 0x23: blocks = Int(parameters.last ?? 0) + 1
            case 0x33: blocks = Int(parameters.dropLast().last ?? 0) + 1
            default: return nil
            }
            var frame = [UInt8](repeating: 0, count: 1 + 4 * blocks)
            let count = min(bytes.count, 4 * blocks)
            frame.replaceSubrange(1..<1 + count, with: bytes[..<count])
            return Frame(frame)
        }
        let inventory = NFCVInventory(link: link)
        let part = ExercisePart(choice >> 5)
        var found: [NFCVTarget] = []
        // An inventory takes a thousand exchanges, so only one in eight inputs has it.
        if choice & 2 != 0, part == .format {
            // Three times with one slot, then 64 rounds of 16 slots.
            found =
                await bounded("findAll", answers, atMost: 3 + 64 * 16) { () throws(TagError) in
                    try await inventory.findAll()
                } ?? []
            guard found.count <= 16 else { fatalError("More tags than the limit.") }
        }
        let makers: [UInt8] = [0x02, 0x04, 0x07, 0x08]
        let target = found.first ?? NFCVTarget(uid: [0xE0, makers[Int(choice >> 2 & 3)], 0x23, 4, 5, 6, 7, 8])
        // Each of the 65,536 blocks is read and locked separately. A command is tried 3 times, with an EOF for the answer
        // to each write, and once more with the other option; the two commands for the memory's size.
        let limit = 3 * (2 + 2 * 65536 + 3) + 2 * 2 * 3 * (80 + 65536)
        let tag = Type5Tag(target: target, link: link, isAlone: choice & 16 != 0)
        guard part == .format else { return await exercise(tag, answers, part: part, atMost: limit) }
        await bounded("format", answers, atMost: 200) { () throws(TagError) in try await tag.format() }
    }
}
