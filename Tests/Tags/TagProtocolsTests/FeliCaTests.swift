// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing
import VirtualTags

@testable import TagProtocols  // the commands' bytes are internal

/// FeliCa commands (FeliCa Card User's Manual, 2.3 and 4.4), and the card key of FeliCa Lite-S.
struct FeliCaTests {
    private static let idm = "0102030405060708"

    @Test(arguments: try Scenario.all(in: "felica.txt"))
    func `FeliCa card: each call makes exactly the commands of felica.txt`(scenario: Scenario) async {
        var times: [String: Airtime] = [:]
        for (name, units, exponent): (String, Int64, Int64) in [
            ("service", 5, 0), ("fixed", 3, 0), ("read", 13, 2), ("write", 13, 3),
        ] { times[name] = Airtime(carrierPeriods: units * 4096 << (2 * exponent)) + .milliseconds(1) }
        for part in scenario.cases {
            let link = ScriptedLink(.nfcF)
            let pmm = bytes(part.options["pmm"] ?? "00f1000000014300")
            let card = FeliCaCard(link: link, target: NFCFTarget(idm: bytes(Self.idm), pmm: pmm, systemCode: nil))
            let text = part.text.replacing("IDM", with: Self.idm)
            await Script(text, times: times).run(on: link) { try await Self.call(card, $0) }
        }
    }

    private static func call(_ card: FeliCaCard, _ call: Script.Call) async throws -> String {
        func text(_ status: FeliCaCard.Status) -> String {
            hex([status.flag1, status.flag2]) + (status.isSuccess ? " ok" : "")
        }
        let time = card.target.maximumResponseTime(.fixed, count: 0)
        let blocks = call.arguments.count > 1 ? call.arguments[1].split(separator: ",").compactMap { Int($0) } : []
        let service = UInt16(call.arguments.first ?? "", radix: 16) ?? 0
        switch call.name {
        case "mode": return hex(try await card.send(0x04, timeout: time))
        case "read":
            switch try await card.read(service: service, blocks: blocks) {
            case .success(let data): return hex(data)
            case .failure(let status): return text(status)
            }
        case "write":
            return text(try await card.write(service: service, blocks: blocks, data: call.bytes(2)))
        default: return "no such call"
        }
    }

    @Test(.ownThreads)
    func `FeliCa command: more than 255 bytes trap, and so does an IDm or PMm that has not eight bytes`() async {
        let target = NFCFTarget(idm: bytes(Self.idm), pmm: bytes("00f1000000014300"), systemCode: nil)
        let card = FeliCaCard(link: ScriptedLink(.nfcF), target: target)
        #expect(hex(card.command(0x32, [1, 0x34, 0x12])) == "0d32" + Self.idm + "013412")
        #expect(card.command(0, [UInt8](repeating: 0, count: 245)).count == 255)
        await #expect(processExitsWith: .failure) {
            let target = NFCFTarget(
                idm: [UInt8](repeating: 2, count: 8),
                pmm: [UInt8](repeating: 0, count: 8),
                systemCode: nil
            )
            let card = FeliCaCard(link: ScriptedLink(.nfcF), target: target)
            _ = card.command(0, [UInt8](repeating: 0, count: 246))
        }
        await #expect(processExitsWith: .failure) {
            _ = NFCFTarget(idm: [UInt8](repeating: 2, count: 7), pmm: [UInt8](repeating: 0, count: 8), systemCode: nil)
        }
        await #expect(processExitsWith: .failure) {
            _ = NFCFTarget(idm: [UInt8](repeating: 2, count: 8), pmm: [UInt8](repeating: 0, count: 9), systemCode: nil)
        }
    }

    @Test func `FeliCa PMm: each kind of command has its maximum response time from its own byte`() {
        let target = NFCFTarget(idm: bytes(Self.idm), pmm: bytes("00f0 01 0a 53 9c ee ff"), systemCode: nil)
        let times: [(NFCFTarget.TimingClass, Int, Int64)] = [
            (.requestService, 3, (2 + 3) * 4096), (.fixed, 0, 3 * 4096), (.authenticate, 1, (4 + 3) * 4096 << 2),
            (.read, 2, (5 + 4 * 2) * 4096 << 4), (.write, 1, (7 + 6) * 4096 << 6), (.other, 1, (8 + 8) * 4096 << 6),
        ]
        for (kind, count, periods) in times {
            #expect(target.maximumResponseTime(kind, count: count).carrierPeriods == periods)
        }
        #expect(target.isLite && target.icCode == 0xF0)
        #expect(!NFCFTarget(idm: bytes(Self.idm), pmm: bytes("00f2000000000000"), systemCode: nil).isLite)
    }

    // MARK: The card key of FeliCa Lite-S

    private static let cardKey: [UInt8] = Array(0x31..<0x41)
    private static let open = [UInt8](repeating: 0, count: 7)

    /// A field with a tag, and readers for it. Blocks 1 to 13 are read and written after authentication, and written with a
    /// MAC, unless they are open.
    private struct Stage {
        let field = VirtualField()
        let tag: VirtualType3Tag
        let reader: Type3Tag
        let card: FeliCaCard

        init(_ change: (inout FeliCaLiteSContents) -> Void = { _ in }) throws {
            var contents = FeliCaLiteSContents(idm: bytes("02fe001122334455"))
            contents.cardKey = FeliCaTests.cardKey
            contents.memoryConfiguration.replaceSubrange(6..<13, with: [0xFE, 0x3F, 0xFE, 0x3F, 0xFF, 0x3F, 0x01])
            change(&contents)
            tag = VirtualType3Tag(contents)
            field.bring(tag)
            let link = try #require(field.link(for: .nfcF))
            let target = NFCFTarget(idm: contents.idm, pmm: contents.pmm, systemCode: NFCFTarget.ndefSystemCode)
            reader = Type3Tag(target: target, link: link)
            card = FeliCaCard(link: link, target: target)
        }

        func session(_ key: [UInt8] = FeliCaTests.cardKey) async throws -> FeliCaLiteSSession {
            try await FeliCaLiteSSession.begin(with: card, cardKey: key)
        }
    }

    @Test func `FeliCa Lite-S: a protected tag is written and read only after authentication with its key`()
        async throws
    {
        let stage = try Stage()
        #expect(await errorCode { try await stage.reader.writeNDEF([0xD0, 0, 0]) } == .keyNeeded)
        try await stage.reader.authenticate(cardKey: Self.cardKey)
        for size in [3, 100, 208] {
            try await stage.reader.writeNDEF(message(size, seed: 7))
            let other = try Stage { contents in if case .liteS(let held) = stage.tag.contents { contents = held } }
            #expect(await errorCode { _ = try await other.reader.readNDEF() } == .readProtected)
            try await other.reader.authenticate(cardKey: Self.cardKey)
            #expect(try await other.reader.readNDEF() == message(size, seed: 7))
        }
    }

    @Test func `FeliCa Lite-S: a wrong key, a short key or a FeliCa Lite is refused before anything is written`()
        async throws
    {
        let wrong = [UInt8](repeating: 9, count: 16)
        for (pmm, key, code): (UInt8, [UInt8], TagError.Code) in [
            (0xF1, wrong, .authenticationFailed), (0xF1, [1], .unsupported), (0xF0, Self.cardKey, .unsupported),
        ] {
            let stage = try Stage { $0.pmm[1] = pmm }
            let before = stage.tag.contents
            #expect(await errorCode { try await stage.reader.authenticate(cardKey: key) } == code)
            #expect(stage.tag.contents == before)
            if code == .unsupported { #expect(stage.reader.link.statistics.exchanges == 0) }
        }
    }

    @Test func `FeliCa Lite-S session: after mutual authentication it reads and writes blocks and changes the key`()
        async throws
    {
        let stage = try Stage()
        var session = try await stage.session()
        #expect(!session.isReaderAuthenticated)
        #expect(await errorCode { _ = try await session.read([0x05]) } == .refused)
        try await session.authenticateReader()
        #expect(session.isReaderAuthenticated)
        let block = [UInt8](0x70..<0x80)
        // The device's identifier is never written, and a refused write is not counted.
        var refused: TagError.Code?
        do { try await session.write(0x83, block) } catch { refused = error.code }
        #expect(refused == .updateFailed)
        try await session.write(0x05, block)
        let zeros = [UInt8](repeating: 0, count: 16)
        #expect(try await session.read([0x04, 0x05, 0x06]) == zeros + block + zeros)
        try await session.write(0x87, block)
        var changed = try await stage.session(block)
        try await changed.authenticateReader()
        #expect(try await changed.read([0x05]) == block)
        #expect(await errorCode { _ = try await stage.session() } == .authenticationFailed)
    }

    @Test func `FeliCa Lite-S session: ends with another session's challenge and with a loss of power`() async throws {
        let stage = try Stage()
        let session = try await stage.session()
        _ = try await stage.session()
        #expect(await errorCode { _ = try await session.read([0x82]) } == .authenticationFailed)
        stage.field.switchCarrier(false)
        stage.field.switchCarrier(true)
        #expect(await errorCode { _ = try await session.read([0x82]) } == .refused)
    }

    @Test func `FeliCa Lite-S: after another activation or a failed second key an open tag is read without a key`()
        async throws
    {
        for isActivation in [true, false] {
            let stage = try Stage { $0.memoryConfiguration.replaceSubrange(6..<13, with: FeliCaTests.open) }
            try await stage.reader.authenticate(cardKey: Self.cardKey)
            try await stage.reader.writeNDEF([0xD0, 0, 0])
            if isActivation {
                stage.field.switchCarrier(false)
                stage.field.switchCarrier(true)
                stage.reader.wasActivated()
            } else {
                let wrong = [UInt8](repeating: 9, count: 16)
                #expect(
                    await errorCode { try await stage.reader.authenticate(cardKey: wrong) } == .authenticationFailed
                )
            }
            stage.reader.forgetMemory()
            #expect(try await stage.reader.readNDEF() == [0xD0, 0, 0])
        }
    }

    @Test(arguments: [0x0000_00FE, 0x0000_FFFE] as [UInt32])
    func `FeliCa Lite-S session: the count of writes carries over its bytes`(start: UInt32) async throws {
        let stage = try Stage { $0.writeCounter = start }
        var session = try await stage.session()
        try await session.authenticateReader()
        for number: UInt8 in 1...3 { try await session.write(number, [UInt8](repeating: number, count: 16)) }
        let written = try await session.read([1, 2, 3])
        #expect([written[0], written[16], written[32]] == [1, 2, 3])
        guard case .liteS(let contents) = stage.tag.contents else { return }
        #expect(contents.writeCounter == start + 4)
    }
}
