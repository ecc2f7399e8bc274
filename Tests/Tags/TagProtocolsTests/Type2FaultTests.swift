// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `Faults of a Type 2 tag` {
    static let product = ModelTag.Product.named("NTAG216")

    /// Every procedure, as a sequence of exchanges in which something can go wrong.
    enum Procedure: CaseIterable, Sendable {
        case detect, read, write, lock, identify

        func run(_ tag: Type2Tag) async throws {
            switch self {
            case .detect: _ = try await tag.detectNDEF()
            case .read: _ = try await tag.readNDEF()
            case .write: try await tag.writeNDEF(new((tag.link as? ModelTag)?.isLarge == true))
            case .lock: try await tag.lock()
            case .identify: _ = try await tag.identifyProduct()
            }
        }
    }

    /// The product with one sector, and the one with two, whose message reaches from one into the other.
    static let products = [product, ModelTag.Product.named("NTAG I2C 2K")]

    static func old(_ product: ModelTag.Product) -> [UInt8] {
        message(product.pageCount > 256 ? 300 : 400, seed: 0xFF)
    }

    static func new(_ isLarge: Bool) -> [UInt8] { message(isLarge ? 200 : 120) }

    /// The product's memory with the old message. On the large product the message follows a TLV of 900 bytes.
    static func image(_ product: ModelTag.Product) -> [UInt8] {
        let filler = [0xFD, 0xFF, 0x03, 0x84] + [UInt8](repeating: 0, count: 900)
        return product.memory(old(product), before: product.pageCount > 256 ? filler : [])
    }

    static func link(_ fault: ModelTag.Fault? = nil, _ product: ModelTag.Product = product) -> ModelTag {
        ModelTag(product, memory: image(product), fault: fault)
    }

    static func exchanges(_ procedure: Procedure, _ product: ModelTag.Product) async throws -> Int {
        let link = link(nil, product)
        try await procedure.run(makeTag(link))
        return link.statistics.exchanges
    }

    @Test(arguments: Procedure.allCases, products)
    func `A tag that leaves at any exchange is lost, and stays so`(
        _ procedure: Procedure,
        _ product: ModelTag.Product
    ) async throws {
        for exchange in cutSample(of: try await Self.exchanges(procedure, product)) {
            for fault in [ModelTag.Fault.leaves(atExchange: exchange), .swaps(atExchange: exchange)] {
                let link = Self.link(fault, product)
                let tag = makeTag(link)
                let error = await #expect(throws: TagError.self) { try await procedure.run(tag) }
                #expect(error?.code == .tagLost)
                let count = link.statistics.exchanges
                #expect(count <= exchange + 10)
                #expect(await tag.isPresent() == false)
                await #expect(throws: TagError(.tagLost, "")) { try await tag.readNDEF() }
                #expect(link.statistics.exchanges == count)
            }
        }
    }

    @Test(arguments: Procedure.allCases, products)
    func `One lost or damaged answer anywhere is made good`(
        _ procedure: Procedure,
        _ product: ModelTag.Product
    ) async throws {
        for exchange in cutSample(of: try await Self.exchanges(procedure, product)) {
            for fault in [ModelTag.Fault.drops(exchange: exchange), .damages(exchange: exchange)] {
                let link = Self.link(fault, product)
                try await procedure.run(makeTag(link))
                let after = makeTag(ModelTag(product, memory: link.memory))
                let expected = procedure == .write ? Self.new(link.isLarge) : Self.old(product)
                #expect(try await after.readNDEF() == expected, "\(fault)")
            }
        }
    }

    @Test(arguments: [
        Frame([1, 2, 3]), Frame([]), Frame([UInt8](repeating: 7, count: 17)), Frame(bits: [10], validBitsInLastByte: 4),
        Frame(bits: [1, 2], validBitsInLastByte: 3),
    ])
    func `An answer of the wrong length is an error that names the rule`(_ wrong: Frame) async throws {
        let read = await #expect(throws: TagError.self) {
            try await makeTag(Self.link(.answers(command: 0x30, with: wrong))).readNDEF()
        }
        #expect(read?.code == .badAnswer)
        #expect(read?.reason.contains("NFC Forum T2T 1.2, 5.2") == true)
        guard wrong.nibble == nil else { return }
        let write = await #expect(throws: TagError.self) {
            try await makeTag(Self.link(.answers(command: 0xA2, with: wrong))).writeNDEF(message(300))
        }
        #expect(write?.code == .updateFailed)
    }

    @Test func `A tag that is near but never answers is distinguished from one that is gone`() async throws {
        let tag = makeTag(Self.link(.ignores(command: 0x30)))
        await #expect(throws: TagError(.badAnswer, "")) { try await tag.readNDEF() }
        await #expect(throws: TagError(.badAnswer, "")) { try await tag.readNDEF() }
    }

    @Test func `A NAK to the first READ means that a password is needed, unless it says that the READ was damaged`()
        async throws
    {
        for (nibble, code) in [(UInt8(0), TagError.Code.readProtected), (4, .readProtected), (1, .refused)] {
            let nak = Frame(bits: [nibble], validBitsInLastByte: 4)
            let tag = makeTag(Self.link(.answers(command: 0x30, with: nak)))
            await #expect(throws: TagError(code, "")) { try await tag.detectNDEF() }
        }
    }

    @Test func `A NAK for a damaged command has it sent again`() async throws {
        let data = "e1106d00 0300fe00 00000000 00000000"
        let link = ScriptedLink(
            [.exchange("3003", nibble: 1)] + ScriptedLink.Step.reactivation + [.exchange("3003", data)]
        )
        #expect(try await makeTag(link).detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
    }

    @Test func `Cancellation and a reader that is gone pass through`() async throws {
        for (code, expected) in [
            (LinkError.Code.cancelled, TagError.Code.cancelled), (.readerUnavailable, .readerUnavailable),
            (.tagRemoved, .tagLost),
        ] {
            let link = ScriptedLink([.exchange("3003", code)])
            let error = await #expect(throws: TagError.self) { try await makeTag(link).detectNDEF() }
            #expect(error?.code == expected)
        }
    }

    @Test func `A container that promises more than there is ends with an error`() async throws {
        for product in ModelTag.Product.all where product.area < 496 {
            var image = product.memory([])
            image[14] = 0xFF
            image.replaceSubrange(16..<20, with: [0x03, 0xFF, 0x07, 0x00])
            let error = await #expect(throws: TagError.self) {
                try await makeTag(ModelTag(product, memory: image)).readNDEF()
            }
            #expect(error?.code == .lengthOverrun)
            #expect(error?.reason.contains("2040 bytes") == true)
        }
    }

    @Test func `An area of nothing but NULL TLVs ends`() async throws {
        let product = ModelTag.Product.named("NTAG I2C 2K")
        var image = [UInt8](repeating: 0, count: product.pageCount * 4)
        image.replaceSubrange(0..<16, with: bytes("04a1b29fc3d4e58072480000e110ea00"))
        let link = ModelTag(product, memory: image)
        await #expect(throws: TagError(.noMessageTLV, "")) { try await makeTag(link).readNDEF() }
        #expect(link.statistics.exchanges < 130)
    }

    @Test(arguments: [
        ("e1206d00", TagError.Code.badVersion), ("e1006d00", .badVersion), ("00000000", .noCapabilityContainer),
        ("e1106df0", .readProtected), ("e1100000", .noMessageTLV),
    ])
    func `A capability container is checked`(_ container: String, _ code: TagError.Code) async throws {
        var image = Self.product.memory([])
        image.replaceSubrange(12..<16, with: bytes(container))
        let error = await #expect(throws: TagError.self) {
            try await makeTag(ModelTag(Self.product, memory: image)).detectNDEF()
        }
        #expect(error?.code == code)
    }

    @Test(arguments: ["e1116d00", "e1126d0f", "e1106d08"])
    func `Later minor versions and proprietary write access can be read`(_ container: String) async throws {
        var image = Self.product.memory(message(20))
        image.replaceSubrange(12..<16, with: bytes(container))
        let tag = makeTag(ModelTag(Self.product, memory: image))
        #expect(try await tag.readNDEF() == message(20))
        #expect(try await tag.detectNDEF().access == (image[15] == 0 ? .readWrite : .readOnly))
    }

    @Test(arguments: [
        ("03ff0004d0000000", 4), ("0103f230330301d0", 1), ("0203a00434030101d0", 1), ("aa02ffff0301d0", 1),
        ("00000003ff0001d0", 1), ("fe0301d0", -1), ("fdff0302", -1), ("fdff0400", -2), ("03ffffff", -2),
    ])
    func `TLVs are walked as the specification says`(_ area: String, _ length: Int) async throws {
        var image = Self.product.memory([])
        let area = bytes(area)
        image.replaceSubrange(16..<16 + area.count, with: area)
        let tag = makeTag(ModelTag(Self.product, memory: image))
        do {
            #expect(try await tag.detectNDEF().messageLength == length)
        } catch {
            #expect(length < 0)
            #expect(error.code == (length == -1 ? .noMessageTLV : .lengthOverrun), "\(error)")
        }
    }
}
