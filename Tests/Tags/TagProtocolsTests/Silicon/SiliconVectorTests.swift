// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Conformance images on virtual silicon` {
    /// The lines of the images of Types 1, 3, 4 and 5, which are raw text for the silicon.
    private static func line(_ id: String) throws -> [UInt8] {
        Array(try #require(Vectors.lines("forum-images.jsonl").first { $0.contains("\"\(id)\"") }).utf8)
    }

    @Test(arguments: `Conformance images of Types 1, 3, 4 and 5`.images)
    func `An image is brought near, activated and read as it has to be`(
        _ image: `Conformance images of Types 1, 3, 4 and 5`.Image
    ) async throws {
        let tag = try TagImage(parsing: Self.line(image.id)).makeTag()
        let forum = try await SiliconReader(tag).find(tag.technology)
        do {
            let detection = try await forum.detectNDEF()
            let message = try await forum.readNDEF()
            #expect(image.state == "ok" || image.state == "empty")
            #expect(hex(message) == image.ndef_hex)
            #expect(detection.capacity == image.capacity)
            #expect((detection.access == .readOnly) == image.readonly)
        } catch {
            #expect(error.code.description == image.state, "\(error)")
        }
    }

    @Test(
        arguments: `Conformance images of Types 1, 3, 4 and 5`.images.filter {
            $0.readonly == false && $0.state != "write-in-progress"
        }
    )
    func `Messages are written to an image, which is saved and read again`(
        _ image: `Conformance images of Types 1, 3, 4 and 5`.Image
    ) async throws {
        var file = try TagImage(parsing: Self.line(image.id))
        let tag = file.makeTag()
        let forum = try await SiliconReader(tag).find(tag.technology)
        let capacity = try #require(image.capacity)
        for size in [capacity, 0, 1, capacity / 2] {
            try await forum.writeNDEF(message(size))
            file.update(from: tag)
            let again = try TagImage(parsing: file.encoded())
            #expect(again.contents == file.contents)
            let copy = again.makeTag()
            #expect(try await SiliconReader(copy).find(copy.technology).readNDEF() == message(size))
        }
    }
}

@Suite struct `Products on virtual silicon` {
    /// Every product that is formatted as it comes, by its name.
    static let makers: [String: @Sendable () -> any VirtualTag] = {
        var makers: [String: @Sendable () -> any VirtualTag] = [:]
        for product in Type1Product.allCases { makers[product.rawValue] = { VirtualType1Tag(product) } }
        for product in Type5Product.all { makers[product.name] = { VirtualType5Tag(product) } }
        let idm = bytes("02fe001122334455")
        makers["FeliCa Lite-S"] = { VirtualType3Tag(FeliCaLiteSContents(idm: idm)) }
        makers["generic Type 3"] = {
            let system = FeliCaSystem(ndefBlocks: 64, maximumRead: 4, maximumWrite: 2)
            return VirtualType3Tag(FeliCaStandardContents(idm: idm, systems: [system]))
        }
        makers["DESFire EV1"] = { VirtualType4Tag(DESFireContents.ndef(size: .kilobytes2)) }
        makers["NTAG 424 DNA"] = { VirtualType4Tag(NTAG424Contents()) }
        makers["Type 4A, mapping 1"] = { type4(.version1) }
        makers["Type 4A, mapping 2"] = { type4(.version2) }
        makers["Type 4A, mapping 3"] = { type4(.version3) }
        makers["Type 4B"] = {
            let card = ApplicationCard([NDEFApplication(size: 300)])
            return VirtualType4Tag(card: card, frontEnd: .nfcB(pupi: bytes("01020304")))
        }
        return makers
    }()

    static let names = makers.keys.sorted()

    private static func type4(_ mapping: NDEFApplication.Mapping) -> VirtualType4Tag {
        VirtualType4Tag(card: ApplicationCard([NDEFApplication(mapping: mapping, size: 300, maximumWrite: 60)]))
    }

    private static func make(_ name: String) throws -> any VirtualTag {
        let maker = try #require(makers[name])
        return maker()
    }

    @Test(arguments: names)
    func `A product is empty, and keeps messages of every size`(_ name: String) async throws {
        let tag = try Self.make(name)
        let forum = try await SiliconReader(tag).find(tag.technology)
        #expect(try await forum.readNDEF() == [])
        let capacity = try await forum.detectNDEF().capacity
        for size in [1, min(254, capacity), min(255, capacity), min(capacity, 600), 0] {
            tag.losePower()
            try await SiliconReader(tag).find(tag.technology).writeNDEF(message(size))
            tag.losePower()
            let again = try await SiliconReader(tag).find(tag.technology)
            #expect(try await again.readNDEF() == message(size))
        }
    }

    @Test(arguments: names)
    func `What was written is checked on the tag itself`(_ name: String) async throws {
        let tag = try Self.make(name)
        let reader = SiliconReader(tag)
        let forum = try await reader.find(tag.technology)
        let link = try #require(reader.field.link(for: tag.technology))
        for size in [20, 0, 33] {
            try await forum.writeNDEF(message(size))
            let before = link.statistics.exchanges
            try await forum.checkNDEF(message(size))
            #expect(link.statistics.exchanges > before)
            await #expect(throws: TagError(.updateFailed, "")) { try await forum.checkNDEF(message(21)) }
        }
        #expect(try await forum.readNDEF() == message(33))
    }

    /// Between whole write commands the old message, an empty one or the new one is on the tag.
    @Test(arguments: names)
    func `A write that is cut between commands never leaves a broken message`(_ name: String) async throws {
        let old = message(20)
        let new = message(60, seed: 7)
        var cut = 0
        while cut < 100 {
            let tag = try Self.make(name)
            let reader = SiliconReader(tag)
            let forum = try await reader.find(tag.technology)
            let capacity = try await forum.detectNDEF().capacity
            let target = capacity < new.count ? Array(new.prefix(capacity)) : new
            try await forum.writeNDEF(old)
            reader.field.arm(.tear(afterWrite: cut))
            var isWhole = true
            do throws(TagError) {
                try await forum.writeNDEF(target)
            } catch {
                isWhole = false
            }
            let again = try await SiliconReader(tag).find(tag.technology)
            do {
                let found = try await again.readNDEF()
                #expect([old, [], target].contains(found), "cut after write \(cut)")
            } catch {
                // A Type 3 tag reports this itself, in WriteFlag (NFC Forum T3T 1.0, 6.4.3).
                #expect(error.code == .writeInProgress, "cut after write \(cut)")
            }
            if isWhole { break }
            cut += 1
        }
        #expect((1..<100).contains(cut))
    }
}
