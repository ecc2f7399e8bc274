// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Loops over every product and hostile readers.
struct EveryTagTests {
    /// A tag of each product, and requests that select it and reach its commands.
    static func everyTag() -> [(name: String, make: () -> any VirtualTag, requests: [Frame])] {
        let reqA = Frame(bits: [0x26], validBitsInLastByte: 7)
        let select = [reqA, Frame(hex("93 70 88 04 a1 b2 9f")), Frame(hex("95 70 c3 d4 e5 80 72"))]
        var tags: [(name: String, make: () -> any VirtualTag, requests: [Frame])] = []
        let type2 = [
            "30 04", "3a 00 05", "a2 06 01 02 03 04", "a0 06", "1b ff ff ff ff", "39 02", "c2 ff", "1a 00", "60",
        ]
        for product in Type2Product.all {
            tags.append(
                (product.name, { VirtualType2Tag(product, uid: Script.uid) }, select + type2.map { Frame(hex($0)) })
            )
        }
        let type5 = ["26 01 00", "02 20 00", "02 21 05 01 02 03 04", "02 23 00 03", "02 2b", "02 a5 04", "02 a0 02 00"]
        for product in Type5Product.all {
            tags.append((product.name, { VirtualType5Tag(product) }, type5.map { Frame(hex($0)) }))
        }
        let idm = "02 fe 00 11 22 33 44 55"
        let type3 = [
            "06 00 ff ff 01 00", "10 06 \(idm) 01 0b 00 01 80 00",
            "20 08 \(idm) 01 09 00 01 80 01" + String(repeating: "55", count: 16),
        ]
        let lite = FeliCaLiteSContents(idm: hex(idm))
        tags.append(("FeliCa Lite-S", { VirtualType3Tag(lite) }, type3.map { Frame(hex($0)) }))
        let transit = FeliCaStandardContents.transitCard(idm: hex(idm), balance: 1)
        tags.append(("FeliCa", { VirtualType3Tag(transit) }, type3.map { Frame(hex($0)) }))
        let type1 = ["78 00 00 00 00 00 00", "00 00 00 01 02 03 04", "53 10 f0 01 02 03 04"]
        tags.append(
            ("Topaz 512", { VirtualType1Tag(.topaz512) }, [reqA] + type1.map { Frame(hex($0), checksum: .crcB) })
        )
        let card: @Sendable () -> any VirtualTag = {
            let front = Type4FrontEnd.nfcA(uid: Script.uid, ats: hex("05 78 80 70 02"))
            return VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: front)
        }
        let type4 = [
            "e0 80", "02 00 a4 04 00 07 d2 76 00 00 85 01 01 00", "03 00 a4 00 0c 02 e1 04", "02 00 b0 00 00 05",
        ]
        tags.append(("generic Type 4", card, select + type4.map { Frame(hex($0)) }))
        return tags
    }

    @Test func `Every tag: answers again after a cut or lengthened request and a loss of power`() {
        for (name, make, requests) in Self.everyTag() {
            for (index, request) in requests.enumerated() {
                for length in 0..<request.bytes.count + 2 {
                    let tag = make()
                    for before in requests.prefix(index) { _ = tag.answer(before, injectedFault: nil) }
                    let bytes = Array((request.bytes + [0, 0]).prefix(length))
                    for checksum in [request.checksum, .none] {
                        _ = tag.answer(Frame(bytes, checksum: checksum), injectedFault: nil)
                    }
                    // The tag is as good as before after a loss of power.
                    tag.losePower()
                    #expect(tag.answer(requests[0], injectedFault: nil)?.frame != nil, "\(name): \(hexText(bytes))")
                }
            }
        }
    }

    @Test func `Every Type 5 product: the last block is read and written, and one beyond is refused`()
        async throws
    {
        for product in Type5Product.all {
            let isLong = product.blockCount > 256
            let last = UInt16(product.dataBlockCount - 1)
            func address(_ block: UInt16) -> String { hexText(block.littleEndianBytes.prefix(isLong ? 2 : 1)) }
            let (read, write) = isLong ? ("30", "31") : ("20", "21")
            let end = address(UInt16(product.blockCount))
            let step = """
                02 \(write) \(address(last)) 01 02 03 04 -> 00; 02 \(read) \(address(last)) -> 00 01 02 03 04; \
                02 \(write) \(end) 01 02 03 04 -> 01 10; 02 \(read) \(end) -> 01 10
                """
            try await type5(product.name).check(step, "\(product)")
        }
    }
}
