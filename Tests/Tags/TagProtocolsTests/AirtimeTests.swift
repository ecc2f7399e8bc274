// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Exchanges and airtime of detection and reading, and the number of write commands: exact, by product and size.
struct AirtimeTests {
    /// A product, the size of a message, and what detection and reading take after activation: exchanges and microseconds.
    private static let costs = """
        Topaz 96: 20 bytes, 1 exchanges, 11491 us
        Topaz 96: 90 bytes, 1 exchanges, 11491 us
        Topaz 512: 100 bytes, 4 exchanges, 18947 us
        Topaz 512: 462 bytes, 4 exchanges, 49532 us
        MIFARE Ultralight: 16 bytes, 2 exchanges, 4122 us
        NTAG203: 137 bytes, 10 exchanges, 20608 us
        NTAG213: 0 bytes, 1 exchanges, 2061 us
        NTAG213: 16 bytes, 2 exchanges, 3867 us
        NTAG213: 137 bytes, 2 exchanges, 14061 us
        NTAG215: 16 bytes, 2 exchanges, 3527 us
        NTAG215: 492 bytes, 4 exchanges, 45539 us
        NTAG216: 868 bytes, 5 exchanges, 78268 us
        NTAG I2C 1K: 868 bytes, 5 exchanges, 78268 us
        NTAG I2C 2K: 1868 bytes, 12 exchanges, 169245 us
        FeliCa Lite-S: 16 bytes, 2 exchanges, 5697 us
        generic Type 3: 137 bytes, 2 exchanges, 11134 us
        generic Type 4, mapping 2.0: 0 bytes, 5 exchanges, 10644 us
        generic Type 4, mapping 2.0: 20 bytes, 5 exchanges, 10644 us
        generic Type 4, mapping 2.0: 137 bytes, 6 exchanges, 21880 us
        generic Type 4, mapping 2.0: 872 bytes, 9 exchanges, 88211 us
        generic Type 4, mapping 3.0: 20 bytes, 6 exchanges, 12280 us
        generic Type 4, MLe 59 and MLc 52: 492 bytes, 13 exchanges, 61112 us
        generic Type 4B: 20 bytes, 5 exchanges, 14348 us
        ST25DV04K: 16 bytes, 2 exchanges, 14778 us
        ST25DV04K: 137 bytes, 2 exchanges, 51025 us
        ST25DV04K: 492 bytes, 5 exchanges, 169853 us
        """

    @Test func `Airtime: detection and reading take the listed exchanges and microseconds, and none when repeated`()
        async throws
    {
        for row in Self.costs.split(separator: "\n") {
            let parts = row.split(separator: ":")
            let size = try #require(Int(parts[1].split(separator: " ")[0]))
            let bench = try await ProductBench(ProductModel.named(String(parts[0])).make(message(size)))
            let before = bench.link.statistics
            let detection = try await bench.reader.detectNDEF()
            #expect(try await bench.reader.readNDEF() == message(size), "\(row)")
            let spent = bench.link.statistics - before
            let cost = "\(size) bytes, \(spent.exchanges) exchanges, \(spent.airtime.microseconds) us"
            #expect("\(parts[0]): \(cost)" == row)
            #expect(try await bench.reader.readNDEF() == message(size), "\(row)")
            #expect(try await bench.reader.detectNDEF() == detection, "\(row)")
            #expect(bench.link.statistics - before == spent, "\(row)")
        }
    }

    /// Products with the same data area, of which only some have FAST_READ, so that the container does not show which it
    /// is: the message's size, and what detection and reading take.
    @Test(arguments: [
        ("NTAG210", 46, 4), ("MIFARE Ultralight", 46, 4), ("NTAG213", 60, 2), ("NTAG213", 142, 3),
        ("MIFARE Ultralight C", 46, 1 + 1 + 3 + 3), ("MIFARE Ultralight C", 137, 1 + 1 + 3 + 8),
        ("MIFARE Ultralight C", 142, 10),
    ]) func `Type 2 read without a lock control TLV: FAST_READ is tried only where it can save time`(
        name: String,
        size: Int,
        exchanges: Int
    ) async throws {
        let found = Type2Product(named: name)
        let product = try #require(found)
        var contents = Type2Contents(blank: product, uid: bytes("04a1b2c3d4e580"))
        contents.memory.replaceSubrange(12..<16, with: [0xE1, 0x10, product.capabilitySize, 0x00])
        let end = 16 + Int(product.capabilitySize) * 8
        contents.memory = contents.memory.placing(messageTLV(message(size)), at: 16, end: end)
        let bench = try await ProductBench(VirtualType2Tag(contents))
        let before = bench.link.statistics
        #expect(try await bench.reader.readNDEF() == message(size))
        #expect((bench.link.statistics - before).exchanges == exchanges)
    }

    /// A product, the size of a new message, and the write commands over a message of 30 bytes and on an empty tag.
    @Test(arguments: [
        ("Topaz 96", 40, 43, 42), ("Topaz 512", 40, 8, 7), ("NTAG213", 16, 6, 5), ("NTAG213", 137, 36, 35),
        ("NTAG215", 492, 125, 124), ("NTAG216", 868, 219, 218), ("FeliCa Lite-S", 33, 5, 5),
        ("generic Type 3", 137, 4, 4), ("generic Type 4, MLe 59 and MLc 52", 872, 18, 18),
        ("generic Type 4, mapping 2.0", 872, 5, 5), ("generic Type 4, mapping 2.0", 50, 1, 1),
        ("ICODE SLIX2", 308, 79, 78),
    ]) func `Number of write commands: the minimum, on some products one less if the tag is empty`(
        name: String,
        size: Int,
        writes: Int,
        onEmpty: Int
    ) async throws {
        let model = try ProductModel.named(name)
        for (old, count) in [(30, writes), (0, onEmpty)] {
            let bench = try await ProductBench(model.make(message(old, seed: 0xFF)))
            try await bench.reader.writeNDEF(message(size))
            #expect(bench.field.writeCount == count, "over \(old) bytes")
            // What was written is known.
            let before = bench.link.statistics.exchanges
            #expect(try await bench.reader.readNDEF() == message(size))
            #expect(bench.link.statistics.exchanges == before)
        }
    }
}
