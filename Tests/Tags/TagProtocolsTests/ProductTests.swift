// SPDX-License-Identifier: Apache-2.0
import PropertyTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Every product is written, read, locked and looked for by the readers of its type.
struct ProductTests {
    /// Any writes one after the other, on any product, by readers that know the tag and ones that don't.
    private struct Story: Sendable, CustomStringConvertible {
        struct Write: Sendable {
            var length: Int
            var seed: UInt8
            /// Whether another reader does the write.
            var isFromNewReader: Bool
        }

        var model: ProductModel
        var first: Int
        var writes: [Write]

        init(_ draws: inout Draws) {
            let model = draws.element(of: ProductModel.all)
            self.model = model
            first = min(Self.length(model, &draws), model.capacity)
            writes = draws.array(count: 1...4) {
                Write(
                    length: Self.length(model, &$0),
                    seed: UInt8($0.int(in: 0...255)),
                    isFromNewReader: $0.happens(onceIn: 2)
                )
            }
        }

        /// A length, more often than not one at which a length field or a reader's commands change.
        private static func length(_ model: ProductModel, _ draws: inout Draws) -> Int {
            let edges = [0, 1, 2, 12, 13, 253, 254, 255, 256, model.capacity - 1, model.capacity, model.capacity + 1]
            return draws.happens(onceIn: 3)
                ? draws.int(in: 0...min(model.capacity, 700)) : min(draws.element(of: edges), model.capacity + 1)
        }

        var description: String {
            "\(model.name), \(first) bytes, then "
                + writes.map { "\($0.length)\($0.isFromNewReader ? " by another reader" : "")" }.joined(separator: ", ")
        }
    }

    @Test func `Random writes: every reader finds the last message, and a message that is too long changes nothing`()
        async throws
    {
        try await checkRule(cases: 150, of: { Story(&$0) }) { story in
            let model = story.model
            var expected = message(story.first)
            var tag = model.make(expected)
            var bench = try await ProductBench(tag)
            for write in story.writes {
                if write.isFromNewReader {
                    tag = model.copy(tag)
                    bench = try await ProductBench(tag)
                }
                let new = message(write.length, seed: write.seed)
                do throws(TagError) {
                    try await bench.reader.writeNDEF(new)
                    if write.length > model.capacity { return "\(write.length) bytes are written." }
                    expected = new
                } catch { if write.length <= model.capacity || error.code != .messageTooLong { throw error } }
                if try await bench.reader.readNDEF() != expected { return "\(write): the writer reads another." }
                let other = try await ProductBench(model.copy(tag)).reader
                if try await other.detectNDEF().messageLength != expected.count { return "\(write): another length." }
                if try await other.readNDEF() != expected { return "\(write): another reader reads another." }
            }
            return nil
        }
    }

    @Test(arguments: ProductModel.all)
    func `full tag: capacity is exact, the message is verified, and stays readable after a permanent lock`(
        model: ProductModel
    ) async throws {
        let tag = model.make([])
        let bench = try await ProductBench(tag)
        #expect(try await bench.reader.detectNDEF().capacity == model.capacity)
        let full = message(model.capacity)
        #expect(await errorCode { try await bench.reader.writeNDEF(full + [0]) } == .messageTooLong)
        #expect(bench.field.writeCount == 0)
        try await bench.reader.writeNDEF(full)
        let before = bench.link.statistics.exchanges
        try await bench.reader.checkNDEF(full)
        #expect(bench.link.statistics.exchanges > before)
        #expect(await errorCode { try await bench.reader.checkNDEF(message(21)) } == .updateFailed)
        let needsKey = model.name.hasPrefix("DESFire") || model.name.hasPrefix("NTAG 424")
        #expect(await errorCode { try await bench.reader.lock() } == (needsKey ? .keyNeeded : nil))
        guard !needsKey else { return }
        for reader in [bench.reader, try await ProductBench(model.copy(tag)).reader] {
            #expect(try await reader.detectNDEF().access == .readOnly)
            #expect(await errorCode { try await reader.writeNDEF([]) } == .readOnly)
            #expect(await errorCode { try await reader.lock() } == .readOnly)
            #expect(try await reader.readNDEF() == full)
        }
    }

    // MARK: Presence

    /// Two tags of a kind, that differ in their identifier alone.
    private static let pairs: [(String, @Sendable (UInt8) -> any VirtualTag)] = [
        ("Topaz 512", { VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, $0, 5, 6, 0x25])) }),
        ("Ultralight", { VirtualType2Tag(Type2Contents(blank: .ultralight, uid: [4, 1, 2, 3, 4, 5, $0])) }),
        ("NTAG213", { VirtualType2Tag(Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, $0])) }),
        ("FeliCa Lite-S", { VirtualType3Tag(FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, $0])) }),
        (
            "FeliCa Standard",
            {
                let systems = [FeliCaSystem(ndefBlocks: 8)]
                return VirtualType3Tag(FeliCaStandardContents(idm: [0x01, 0x2E, 1, 2, 3, 4, 5, $0], systems: systems))
            }
        ),
        (
            "Type 4A",
            {
                let front = Type4FrontEnd.nfcA(uid: [4, 1, 2, 3, 4, 5, $0], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
                return VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: front)
            }
        ),
        (
            "Type 4B",
            { VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3, $0])) }
        ), ("ICODE SLIX2", { VirtualType5Tag(Type5Contents(blank: .icodeSLIX2, uid: [0xE0, 4, 1, 8, 1, 2, 3, $0])) }),
    ]

    @Test func `Presence: one exchange under 10 ms finds a tag, and a tag that left is known within 100 ms`()
        async throws
    {
        for (name, make) in Self.pairs {
            let tag = make(1)
            let bench = try await ProductBench(tag)
            _ = try await bench.reader.queryNDEFStatus()
            let before = bench.link.statistics
            #expect(await bench.reader.isPresent(), "\(name)")
            let near = bench.link.statistics - before
            #expect(near.exchanges == 1 && near.airtime < .milliseconds(10), "\(name): \(near.airtime)")
            bench.field.remove(tag)
            let left = bench.link.statistics
            #expect(await !bench.reader.isPresent(), "\(name)")
            let gone = bench.link.statistics - left
            #expect(gone.airtime < .milliseconds(100), "\(name): \(gone.airtime)")
        }
    }

    @Test func `Presence: another tag of the same kind in its place counts as absent, and is not written`() async throws
    {
        for (name, make) in Self.pairs {
            for isWrite in [false, true] {
                let bench = try await ProductBench(make(1))
                _ = try await bench.reader.queryNDEFStatus()
                bench.field.removeAll()
                bench.field.bring(make(2))
                if isWrite { _ = await errorCode { try await bench.reader.writeNDEF(message(9)) } }
                #expect(await !bench.reader.isPresent(), "\(name)")
                #expect(bench.field.writeCount == 0, "\(name)")
            }
        }
    }

    @Test(arguments: [4, 8, 11, 14] as [UInt8])
    func `Presence of Type 4: R(NAK) with the current block number, and at most 100 ms with any frame waiting time`(
        index: UInt8
    ) async throws {
        let field = VirtualField()
        let front = Type4FrontEnd.nfcA(uid: [8, 1, 2, 3], ats: [0x05, 0x78, 0x80, index << 4, 0x02])
        let card = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: front)
        field.bring(card)
        let link = try #require(field.link(for: .nfcA))
        _ = try await NFCAActivation(link: link).activateAll()
        let isoDEP = ISODEP(link: link)
        try await isoDEP.activate()
        for expected: UInt8 in [0xB2, 0xB3] {
            field.startRecording()
            #expect(await isoDEP.isPresent())
            #expect(field.stopRecording().map(\.request.bytes) == [[expected]])
            if expected == 0xB2 { _ = try await isoDEP.transmit([0x00, 0xA4, 0x04, 0x00]) }
        }
        field.remove(card)
        let before = link.statistics
        #expect(await !isoDEP.isPresent())
        let gone = link.statistics - before
        #expect(gone.exchanges == 3 && gone.airtime < .milliseconds(100))
    }
}
