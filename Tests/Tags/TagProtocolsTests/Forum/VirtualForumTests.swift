// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

@Suite struct `The reader's side against virtual tags` {
    /// Writes and reads messages of several sizes with a new reader each time, then locks the tag.
    func exercise(_ field: VirtualField, _ make: () async throws -> any ForumTag) async throws {
        do {
            try await (try await make()).prepare()
            let capacity = try await (try await make()).detectNDEF().capacity
            for size in [1, 20, 254, 255, capacity, capacity / 2, 0] where size <= capacity {
                field.switchCarrier(false)
                field.switchCarrier(true)
                try await (try await make()).writeNDEF(message(size, seed: 3))
                field.switchCarrier(false)
                field.switchCarrier(true)
                let reader = try await make()
                #expect(try await reader.readNDEF() == message(size, seed: 3))
                #expect(await reader.isPresent())
            }
            field.switchCarrier(false)
            field.switchCarrier(true)
            try await (try await make()).lock()
            field.switchCarrier(false)
            field.switchCarrier(true)
            #expect(try await (try await make()).detectNDEF().access == .readOnly)
        }
    }

    @Test(arguments: NDEFApplication.Mapping.allCases, ["0578807002", "067577810280", "0570007002", "01"])
    func `Type 4A`(_ mapping: NDEFApplication.Mapping, _ ats: String) async throws {
        for (read, write) in [(255, 255), (59, 52), (15, 13)] {
            let application = NDEFApplication(
                mapping: mapping,
                size: mapping == .version3 ? 34000 : 2048,
                maximumRead: UInt16(read),
                maximumWrite: UInt16(write)
            )
            let field = VirtualField()
            field.bring(
                VirtualType4Tag(
                    card: ApplicationCard([application]),
                    frontEnd: .nfcA(uid: VirtualType4Tag.defaultUID, ats: bytes(ats))
                )
            )
            let link = try #require(field.link(for: .nfcA))
            try await exercise(field) {
                field.switchCarrier(false)
                field.switchCarrier(true)
                let target = try #require(try await NFCAActivation(link: link).activateAll(waking: true).first)
                return try #require(makeForumTag(for: target, link: link))
            }
        }
    }

    @Test(arguments: [64, 256]) func `Type 4B`(_ limit: Int) async throws {
        let field = VirtualField(maximumFrameLength: limit)
        let card = ApplicationCard([NDEFApplication()])
        field.bring(VirtualType4Tag(card: card, frontEnd: .nfcB(pupi: [1, 2, 3, 4])))
        let link = try #require(field.link(for: .nfcB))
        try await exercise(field) {
            field.switchCarrier(false)
            field.switchCarrier(true)
            let target = try #require(try await NFCBActivation(link: link).findAll().first)
            return try #require(makeForumTag(for: target, link: link))
        }
    }

    @Test(arguments: Type5Product.all.map(\.name)) func `Type 5`(_ name: String) async throws {
        let product = try #require(Type5Product.all.first { $0.name == name })
        let field = VirtualField()
        field.bring(VirtualType5Tag(product))
        let link = try #require(field.link(for: .nfcV))
        func make() async throws -> Type5Tag {
            let target = try #require(try await NFCVInventory(link: link).findAll().first)
            return Type5Tag(target: target, link: link, isAlone: true)
        }
        do {
            _ = try await make().detectNDEF()
        } catch {
            try await make().format()
        }
        try await exercise(field) { try await make() }
    }

    @Test func `FeliCa Lite-S`() async throws {
        let field = VirtualField()
        field.bring(VirtualType3Tag(FeliCaLiteSContents(idm: bytes("02fe001122334455"))))
        let link = try #require(field.link(for: .nfcF))
        func make() async throws -> Type3Tag {
            let answer = try #require(try await NFCFPolling(link: link).poll(timeSlots: 3).first)
            return Type3Tag(target: answer.target, link: link)
        }
        do {
            _ = try await make().detectNDEF()
        } catch {
            try await make().format()
            field.switchCarrier(false)
            field.switchCarrier(true)
        }
        try await exercise(field) { try await make() }
    }
}
