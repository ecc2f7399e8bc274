// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Type 2 procedures against virtual tags` {
    /// A virtual Type 2 tag in its own field, and normal readers.
    struct Bench {
        let field = VirtualField()
        let tag: VirtualType2Tag
        let link: any FrameLink

        init(_ tag: VirtualType2Tag) throws {
            self.tag = tag
            link = try #require(field.link(for: .nfcA))
            field.bring(tag)
        }

        init(_ product: Type2Product, message: [UInt8]) async throws {
            try self.init(VirtualType2Tag(product, uid: TagProtocolsTests.bytes("04a1b2c3d4e580")))
            try await reader().writeNDEF(message)
        }

        /// The tag after a pause without power, activated.
        func reader() async throws -> Type2Tag {
            field.switchCarrier(false)
            field.switchCarrier(true)
            let target = try #require(try await NFCAActivation(link: link).activateAll().first)
            #expect(target.uid == tag.identifier)
            return Type2Tag(target: target, link: link)
        }
    }

    /// Old and new messages on each product. "Every cut of every write" has longer ones.
    static let changes: [(from: Int, to: Int)] = [(20, 30), (1, 40), (40, 2)]

    @Test(arguments: Type2Product.all, [TornWrite.old, .new])
    func `A tear at any write leaves the old message, none, or the new one`(
        _ product: Type2Product,
        _ rest: TornWrite
    ) async throws {
        for change in Self.changes {
            let (old, new) = (message(change.from, seed: 0xFF), message(change.to))
            var write = 0
            while true {
                write += 1
                try #require(write < 200)
                let bench = try await Bench(product, message: old)
                let reader = try await bench.reader()
                bench.field.arm(.tear(duringWrite: write, leaving: rest))
                do throws(TagError) {
                    try await reader.writeNDEF(new)
                } catch {
                    #expect(error.code == .tagLost)
                }
                let isOver = !bench.field.tags.isEmpty
                bench.field.arm(FaultPlan())
                bench.field.bring(bench.tag)
                let found = try await bench.reader().readNDEF()
                #expect(
                    found == new || (!isOver && (found == old || found.isEmpty)),
                    "\(product), tear at write \(write), \(change.from) to \(change.to) bytes"
                )
                if isOver { break }
            }
            #expect(write > 1)
        }
    }

    @Test(arguments: Type2Product.all)
    func `A full message is written, read by a new reader, and locked for good`(_ product: Type2Product) async throws {
        let bench = try await Bench(product, message: message(3))
        let capacity = try await bench.reader().detectNDEF().capacity
        try await bench.reader().writeNDEF(message(capacity))
        #expect(try await bench.reader().readNDEF() == message(capacity))
        let reader = try await bench.reader()
        await #expect(throws: TagError(.messageTooLong, "")) { try await reader.writeNDEF(message(capacity + 1)) }
        try await bench.reader().lock()
        let locked = try await bench.reader()
        #expect(try await locked.detectNDEF().access == .readOnly)
        await #expect(throws: TagError(.readOnly, "")) { try await locked.writeNDEF([]) }
        #expect(try await bench.reader().readNDEF() == message(capacity))
        // No page of the message takes a WRITE of any reader.
        for page in 3..<min(product.userPages.upperBound + 1, 256) where (page - 4) * 4 < capacity {
            _ = try await bench.reader()
            let answer = try await bench.link.transceive(
                Frame([0xA2, UInt8(page), 0, 0, 0, 0]),
                timeout: .milliseconds(20)
            )
            #expect(answer.nibble == 0, "\(product), page \(page)")
        }
    }

    /// What the standard's timings give for READ 3 and FAST_READ of the rest, without activation.
    static let airtimes: [(product: Type2Product, size: Int, exchanges: Int, microseconds: Int64)] = [
        (.ntag213, 137, 2, 14_070), (.ntag215, 492, 4, 45_570), (.ntag216, 868, 5, 78_310),
    ]

    @Test(arguments: airtimes.indices) func `A full NTAG is read in the least time on the air`(
        _ index: Int
    ) async throws {
        let (product, size, exchanges, microseconds) = Self.airtimes[index]
        let bench = try await Bench(product, message: message(size))
        let reader = try await bench.reader()
        let before = bench.link.statistics
        #expect(try await reader.detectNDEF().capacity == size)
        #expect(try await reader.readNDEF() == message(size))
        let spent = bench.link.statistics - before
        #expect(spent.exchanges == exchanges)
        #expect(spent.airtime.microseconds <= microseconds)
        #expect(spent.airtime.microseconds > microseconds * 99 / 100)
        #expect(spent.tagWorkTime == .zero)
    }

    /// The images, with the results that a reader must get.
    static let images: [(text: [UInt8], image: `Conformance images of Type 2 tags`.Image)] = {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/type2-images.jsonl")
        let lines = ((try? Data(contentsOf: path)) ?? Data()).split(separator: 0x0A)
        return lines.compactMap { line in
            (try? JSONDecoder().decode(`Conformance images of Type 2 tags`.Image.self, from: Data(line)))
                .map { (Array(line), $0) }
        }
    }()

    @Test(arguments: images.indices) func `An image is activated and read as it has to be`(
        _ index: Int
    ) async throws {
        let (text, expected) = Self.images[index]
        let tag = try #require(try TagImage(parsing: text).makeTag() as? VirtualType2Tag)
        let reader = try await Bench(tag).reader()
        do throws(TagError) {
            let detection = try await reader.detectNDEF()
            let found = try await reader.readNDEF()
            #expect(expected.state == "ok" || expected.state == "empty")
            #expect(hex(found) == expected.ndef_hex)
            #expect(detection.capacity == expected.capacity)
            #expect((detection.access == .readOnly) == expected.readonly)
            #expect(try await reader.identifyProduct() == expected.product)
        } catch {
            #expect(error.code.description == expected.state)
        }
    }

    @Test(arguments: [Type2Product.ultralight, .ntag213, .ntagI2C2K])
    func `One fault at any exchange of a read is made good, or the tag is lost`(_ product: Type2Product) async throws {
        let content = message(product == .ntagI2C2K ? 1300 : 40)
        let bench = try await Bench(product, message: content)
        let effects: [Fault.Effect] = [.mute, .deaf, .refusal(1), .delay(.milliseconds(50))]
        for exchange in 0..<12 {
            for effect in effects {
                let reader = try await bench.reader()
                bench.field.arm(.effect(effect, atExchange: exchange))
                let found = try await reader.readNDEF()
                #expect(found == content, "\(effect) at exchange \(exchange)")
                bench.field.arm(FaultPlan())
            }
            let reader = try await bench.reader()
            bench.field.arm(.loss(atExchange: exchange))
            do throws(TagError) {
                #expect(try await reader.readNDEF() == content)
            } catch {
                #expect(error.code == .tagLost)
            }
            bench.field.arm(FaultPlan())
            bench.field.bring(bench.tag)
        }
    }
}
