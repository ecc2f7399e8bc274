// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

/// A tag that is ACTIVE, in the field of a link.
func makeTag(_ link: any FrameLink) -> Type2Tag {
    Type2Tag(target: NFCATarget(atqa: 0x0044, sak: 0, uid: bytes("04a1b2c3d4e580")), link: link)
}

/// A message of so many bytes that says where each belongs.
func message(_ count: Int, seed: UInt8 = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 0x61) ^ seed ^ UInt8(truncatingIfNeeded: $0 >> 8) }
}

@Suite struct `Reading a Type 2 tag` {
    struct Budget: Sendable, CustomTestStringConvertible {
        var product: String
        var size: Int
        var before = ""
        var exchanges: Int
        var microseconds: Int64
        var testDescription: String { "\(product), \(size) bytes" }
    }

    /// The minimum for each product: READ alone, or READ 3 and FAST_READ of what is left.
    static let budgets: [Budget] = [
        Budget(product: "NTAG213", size: 0, exchanges: 1, microseconds: 2061),
        Budget(product: "MIFARE Ultralight", size: 16, exchanges: 2, microseconds: 4123),
        Budget(product: "NTAG213", size: 16, exchanges: 2, microseconds: 4123),
        Budget(product: "NTAG215", size: 16, exchanges: 2, microseconds: 3530),
        Budget(product: "NTAG213", size: 137, exchanges: 2, microseconds: 13730),
        Budget(product: "NTAG213", size: 137, before: "0103a00c34", exchanges: 2, microseconds: 14070),
        Budget(product: "NTAG203", size: 137, before: "0103a01044", exchanges: 10, microseconds: 20610),
        Budget(product: "NTAG215", size: 492, exchanges: 4, microseconds: 45570),
        Budget(product: "NTAG216", size: 868, exchanges: 5, microseconds: 78310),
        Budget(product: "NTAG I2C 1K", size: 868, exchanges: 5, microseconds: 78310),
    ]

    @Test(arguments: budgets) func `Detection and reading take the minimum on the air`(_ budget: Budget) async throws {
        let product = ModelTag.Product.named(budget.product)
        let link = ModelTag(product, memory: product.memory(message(budget.size), before: bytes(budget.before)))
        let tag = makeTag(link)
        let detection = try await tag.detectNDEF()
        #expect(detection.messageLength == budget.size)
        #expect(try await tag.readNDEF() == message(budget.size))
        #expect(link.statistics.exchanges <= budget.exchanges)
        #expect(link.statistics.airtime.microseconds <= budget.microseconds)
        // A second time costs nothing.
        #expect(try await tag.readNDEF() == message(budget.size))
        #expect(try await tag.detectNDEF() == detection)
        #expect(link.statistics.exchanges <= budget.exchanges)
    }

    @Test(arguments: ModelTag.Product.all)
    func `Every size is read, and on tags with FAST_READ never slower than with READ`(
        _ product: ModelTag.Product
    ) async throws {
        for size in stride(from: 0, through: product.area - 4, by: product.area > 200 ? 13 : 1) where size != 255 {
            let content = message(size)
            guard size <= 254 ? size + 2 <= product.area : size + 4 <= product.area else { continue }
            let link = ModelTag(product, memory: product.memory(content))
            #expect(try await makeTag(link).readNDEF() == content)
            guard product.hasFastRead else { continue }
            let reads = 1 + max(0, (size + (size <= 254 ? 2 : 4) - 12 + 15) / 16)
            let sectors = product.area > 1008 && size > 1000 ? Airtime.milliseconds(2) : .zero
            #expect(link.statistics.airtime <= Airtime(carrierPeriods: 27952) * reads + sectors)
        }
    }

    @Test func `A tag that may be an NTAG213 is asked with FAST_READ, and one without it is read with READ`()
        async throws
    {
        let product = ModelTag.Product.named("MIFARE Ultralight C")
        let link = ModelTag(product, memory: product.memory(message(137)))
        let tag = makeTag(link)
        #expect(try await tag.readNDEF() == message(137))
        // READ, FAST_READ refused, WUPA and two SELECTs, and eight READs.
        #expect(link.statistics.exchanges == 1 + 1 + 3 + 8)
        #expect(try await tag.identifyProduct() == "MIFARE Ultralight C")
    }

    @Test(arguments: [("MIFARE Ultralight C", 10, 20_620), ("NTAG213", 3, 15_120)])
    func `A full data area of 144 bytes shows by its last READ whether there is FAST_READ`(
        _ name: String,
        _ exchanges: Int,
        _ microseconds: Int64
    ) async throws {
        let product = ModelTag.Product.named(name)
        let link = ModelTag(product, memory: product.memory(message(142)))
        #expect(try await makeTag(link).readNDEF() == message(142))
        #expect(link.statistics.exchanges == exchanges)
        #expect(link.statistics.airtime.microseconds <= microseconds)
    }

    @Test(arguments: [64, 128, 256]) func `FAST_READ keeps to the reader's frame length`(_ limit: Int) async throws {
        let product = ModelTag.Product.named("NTAG216")
        let link = ModelTag(product, memory: product.memory(message(868)), maximumFrameLength: limit)
        #expect(try await makeTag(link).readNDEF() == message(868))
        let pages = min(60, (limit - 2) / 4)
        #expect(link.statistics.exchanges == 1 + (215 + pages - 1) / pages)
    }

    @Test func `A message over two sectors takes one SECTOR SELECT`() async throws {
        let product = ModelTag.Product.named("NTAG I2C 2K")
        let link = ModelTag(product, memory: product.memory(message(1868)))
        #expect(try await makeTag(link).readNDEF() == message(1868))
        // READ, 5 FAST_READs in sector 0, two frames of SECTOR SELECT, 4 FAST_READs in sector 1.
        #expect(link.statistics.exchanges == 1 + 5 + 2 + 4)
    }

    @Test func `A short answer to FAST_READ is no harm`() async throws {
        let product = ModelTag.Product.named("NTAG215")
        for wrong in [
            Frame([1, 2, 3]), Frame([UInt8](repeating: 1, count: 300)), Frame(bits: [0], validBitsInLastByte: 4),
        ] {
            let fault = ModelTag.Fault.answers(command: 0x3A, with: wrong)
            let link = ModelTag(product, memory: product.memory(message(300)), fault: fault)
            #expect(try await makeTag(link).readNDEF() == message(300))
        }
        let link = ModelTag(product, memory: product.memory(message(300)), fault: .ignores(command: 0x3A))
        #expect(try await makeTag(link).readNDEF() == message(300))
    }

    @Test func `A tag that someone else activates again is read from sector 0`() async throws {
        let product = ModelTag.Product.named("NTAG I2C 2K")
        let link = ModelTag(product, memory: product.memory(message(1868)))
        let tag = makeTag(link)
        #expect(try await tag.readNDEF() == message(1868))
        try await NFCAActivation(link: link).reactivate(tag.target)
        tag.wasActivated()
        try await tag.writeNDEF(message(40, seed: 3))
        #expect(try await makeTag(ModelTag(product, memory: link.memory)).readNDEF() == message(40, seed: 3))
        #expect(await tag.isPresent())
    }
}
