// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

@Suite struct `FeliCa Lite-S and its card key` {
    private let idm: [UInt8] = [0x02, 0xFE, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55]
    private let cardKey: [UInt8] = Array(0x31..<0x41)

    /// A field with a tag whose blocks want authentication and codes, and a reader for it.
    private func make(
        _ change: (inout FeliCaLiteSContents) -> Void = { _ in }
    ) async throws -> (VirtualField, VirtualType3Tag, Type3Tag) {
        var contents = FeliCaLiteSContents(idm: idm)
        contents.cardKey = cardKey
        // Blocks 1 to 13 are read and written after authentication, and all written with a code.
        contents.memoryConfiguration.replaceSubrange(6..<13, with: [0xFE, 0x3F, 0xFE, 0x3F, 0xFF, 0x3F, 0x01])
        change(&contents)
        let tag = VirtualType3Tag(contents)
        let field = VirtualField()
        field.bring(tag)
        let link = try #require(field.link(for: .nfcF))
        let target = NFCFTarget(idm: contents.idm, pmm: contents.pmm, systemCode: NFCFTarget.ndefSystemCode)
        return (field, tag, Type3Tag(target: target, link: link))
    }

    private func failure(_ body: () async throws -> Void) async -> TagError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? TagError
        }
    }

    @Test func `A tag that wants authentication is written and read with its key alone`() async throws {
        let (_, tag, reader) = try await make()
        let refused = await failure { try await reader.writeNDEF([0xD0, 0, 0]) }
        #expect(refused?.code == .updateFailed)
        try await reader.authenticate(cardKey: cardKey)
        for size in [3, 100, 208] {
            let written = message(size, seed: 7)
            try await reader.writeNDEF(written)
            let (_, _, other) = try await make { contents in
                if case .liteS(let held) = tag.contents { contents = held }
            }
            let blocked = await failure { _ = try await other.readNDEF() }
            #expect(blocked?.code == .refused)
            try await other.authenticate(cardKey: cardKey)
            #expect(try await other.readNDEF() == written)
        }
    }

    @Test func `Another key is found out before anything is written`() async throws {
        let (_, tag, reader) = try await make()
        let before = tag.contents
        let error = await failure { try await reader.authenticate(cardKey: Array(repeating: 9, count: 16)) }
        #expect(error?.code == .authenticationFailed)
        #expect(tag.contents == before)
        let short = await failure { try await reader.authenticate(cardKey: [1]) }
        #expect(short?.code == .unsupported)
    }

    @Test func `A session reads and writes single blocks, and changes the key`() async throws {
        let (field, _, _) = try await make()
        let link = try #require(field.link(for: .nfcF))
        let target = NFCFTarget(idm: idm, pmm: [0, 0xF1, 0, 0, 0, 1, 0x43, 0], systemCode: NFCFTarget.liteSystemCode)
        let card = FeliCaCard(link: link, target: target)
        var session = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey)
        #expect(!session.isReaderAuthenticated)
        let early = await failure { _ = try await session.read([0x05]) }
        #expect(early?.code == .refused)
        try await session.authenticateReader()
        #expect(session.isReaderAuthenticated)
        let block = [UInt8](0x70..<0x80)
        try await session.write(0x05, block)
        #expect(try await session.read([0x04, 0x05, 0x06]) == zeros + block + zeros)
        try await session.write(0x87, block)
        var changed = try await FeliCaLiteSSession.begin(with: card, cardKey: block)
        try await changed.authenticateReader()
        #expect(try await changed.read([0x05]) == block)
        let old = await failure { _ = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey) }
        #expect(old?.code == .authenticationFailed)
    }

    private var zeros: [UInt8] { Array(repeating: 0, count: 16) }

    @Test func `A session ends with the power, and with another challenge`() async throws {
        let (field, _, _) = try await make()
        let link = try #require(field.link(for: .nfcF))
        let target = NFCFTarget(idm: idm, pmm: [0, 0xF1, 0, 0, 0, 1, 0x43, 0], systemCode: NFCFTarget.liteSystemCode)
        let card = FeliCaCard(link: link, target: target)
        let session = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey)
        _ = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey)
        let stale = await failure { _ = try await session.read([0x82]) }
        #expect(stale?.code == .authenticationFailed)
        field.switchCarrier(false)
        field.switchCarrier(true)
        let gone = await failure { _ = try await session.read([0x82]) }
        #expect(gone?.code == .refused)
    }

    @Test func `An authentication ends with the activation, and what is open is read without it`() async throws {
        let (field, _, reader) = try await make {
            $0.memoryConfiguration.replaceSubrange(6..<13, with: [UInt8](repeating: 0, count: 7))
        }
        try await reader.authenticate(cardKey: cardKey)
        try await reader.writeNDEF([0xD0, 0, 0])
        try await field.setCarrier(false)
        try await field.setCarrier(true)
        reader.wasActivated()
        reader.forgetMemory()
        #expect(try await reader.readNDEF() == [0xD0, 0, 0])
    }

    @Test func `A FeliCa Lite has no authentication of the reader`() async throws {
        let (_, tag, reader) = try await make { $0.pmm[1] = 0xF0 }
        let before = tag.contents
        let error = await failure { try await reader.authenticate(cardKey: cardKey) }
        #expect(error?.code == .unsupported)
        #expect(error?.reason == "Only FeliCa Lite-S authenticates a reader.")
        #expect(tag.contents == before)
        #expect(reader.link.statistics.exchanges == 0)
    }

    @Test func `A second authentication that fails leaves what is open to be read without one`() async throws {
        let (_, _, reader) = try await make {
            $0.memoryConfiguration.replaceSubrange(6..<13, with: [UInt8](repeating: 0, count: 7))
        }
        try await reader.authenticate(cardKey: cardKey)
        try await reader.writeNDEF([0xD0, 0, 0])
        let other = await failure { try await reader.authenticate(cardKey: Array(repeating: 9, count: 16)) }
        #expect(other?.code == .authenticationFailed)
        reader.forgetMemory()
        #expect(try await reader.readNDEF() == [0xD0, 0, 0])
    }

    @Test func `A write that the card refuses is not counted, and the next one is taken`() async throws {
        let (field, _, _) = try await make()
        let link = try #require(field.link(for: .nfcF))
        let target = NFCFTarget(idm: idm, pmm: [0, 0xF1, 0, 0, 0, 1, 0x43, 0], systemCode: NFCFTarget.liteSystemCode)
        let card = FeliCaCard(link: link, target: target)
        var session = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey)
        try await session.authenticateReader()
        let block = [UInt8](0x70..<0x80)
        // The device's identifier is never written.
        let refused = await failure { try await session.write(0x83, block) }
        #expect(refused?.code == .updateFailed)
        try await session.write(0x05, block)
        #expect(try await session.read([0x05]) == block)
    }

    @Test(arguments: [0x0000_00FE, 0x0000_FFFE] as [UInt32])
    func `The count of writes with a code carries over its bytes`(start: UInt32) async throws {
        let (field, tag, _) = try await make { $0.writeCounter = start }
        let link = try #require(field.link(for: .nfcF))
        let target = NFCFTarget(idm: idm, pmm: [0, 0xF1, 0, 0, 0, 1, 0x43, 0], systemCode: NFCFTarget.liteSystemCode)
        let card = FeliCaCard(link: link, target: target)
        var session = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey)
        try await session.authenticateReader()
        for number: UInt8 in 1...3 { try await session.write(number, [UInt8](repeating: number, count: 16)) }
        let written = try await session.read([1, 2, 3])
        #expect([written[0], written[16], written[32]] == [1, 2, 3])
        guard case .liteS(let contents) = tag.contents else { return }
        #expect(contents.writeCounter == start + 4)
    }
}
