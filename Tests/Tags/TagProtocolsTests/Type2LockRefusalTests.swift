// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A lock can't be taken back, so one refusal on the way may not send it to a wrong place.
@Suite struct `Locking a Type 2 tag that refuses a command once` {
    private static let products = ["NTAG213", "NTAG215", "NTAG216", "MIFARE Ultralight C", "MIFARE Ultralight"]

    private func memory(_ tag: any VirtualTag) throws -> [UInt8] {
        try #require(tag as? VirtualType2Tag).contents.memory
    }

    @Test(arguments: products)
    func `It is locked as it would be, or it fails and no data is overwritten`(_ name: String) async throws {
        let model = try ProductModel.named(name)
        let untouched = model.make(message(model.capacity))
        let before = try memory(untouched)
        let bench = try await ProductBench(untouched)
        let start = bench.link.statistics.exchanges
        try await bench.reader.lock()
        let locked = try memory(untouched)
        #expect(locked != before)
        for exchange in 0..<(bench.link.statistics.exchanges - start) {
            let tag = model.make(message(model.capacity))
            let bench = try await ProductBench(tag)
            bench.field.arm(.effect(.refusal(0), atExchange: exchange))
            do throws(TagError) {
                try await bench.reader.lock()
            } catch {
                let other = try await ProductBench(model.copy(tag)).reader
                #expect(try await other.readNDEF() == message(model.capacity), "refused at \(exchange): \(error)")
                continue
            }
            #expect(try memory(tag) == locked, "refused at \(exchange)")
        }
    }
}
