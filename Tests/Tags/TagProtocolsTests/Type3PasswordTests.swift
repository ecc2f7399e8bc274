// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // the changes of a protection are compared with others

/// The card key of FeliCa Lite-S (FeliCa Lite-S User's Manual, 3 and 5).
struct Type3PasswordTests {
    private static let key = TagSecret(Array(1...16))

    private static func tag(_ contents: FeliCaLiteSContents? = nil) -> VirtualType3Tag {
        VirtualType3Tag(contents ?? FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6]))
    }

    private static func activate(_ tag: VirtualType3Tag, _ plan: FaultPlan = FaultPlan()) async throws -> Type3Tag {
        let field = VirtualField()
        field.bring(tag)
        let link = try #require(field.link(for: .nfcF))
        let answer = try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.anySystemCode).first
        field.arm(plan)
        return Type3Tag(target: try #require(answer).target, link: link)
    }

    @Test(arguments: [(0, false), (4, false), (0, true), (1, true)])
    func `Type 3 card key: protects from a block on, opens the tag, and stays for good`(first: Int, reading: Bool)
        async throws
    {
        let tag = Self.tag()
        let wanted = TagProtection(first: first, protectsReading: reading)
        let change = try await Self.activate(tag).changeProtection(with: Self.key) { $0 = wanted }
        #expect(change == ProtectionChange(old: .none, new: wanted, setsPassword: true, isRemovable: false))
        let before = tag.contents
        let stranger = try await Self.activate(tag)
        #expect(await errorCode { try await stranger.update(first, Array(repeating: 1, count: 16)) } == .keyNeeded)
        #expect(await errorCode { _ = try await stranger.check(first..<first + 1) } == (reading ? .readProtected : nil))
        // Neither the key nor the configuration can be replaced.
        let zeros = [UInt8](repeating: 0, count: 16)
        for block in [0x87, 0x88] {
            #expect(await errorCode { try await stranger.update(block, zeros) } == .updateFailed)
        }
        let wrong = TagSecret(Array(2...17))
        #expect(await errorCode { try await stranger.unlock(with: wrong) } == .authenticationFailed)
        #expect(tag.contents == before)
        let owner = try await Self.activate(tag)
        try await owner.unlock(with: Self.key)
        try await owner.writeNDEF(message(40))
        // The memory configuration is frozen, so locking would leave a flag that nobody can take back.
        #expect(await errorCode { try await owner.lock() } == .unsupported)
        try await owner.writeNDEF(message(40))
        let again = try await Self.activate(tag).changeProtection(with: Self.key) { $0 = wanted }
        #expect(again == ProtectionChange(old: wanted, new: wanted, setsPassword: false, isRemovable: false))
        let code = await errorCode { _ = try await Self.activate(tag).changeProtection(with: Self.key) { $0 = .none } }
        #expect(code == .readOnly)
    }

    @Test func `Type 3 protection, cut anywhere: the key opens the tag, and the same call completes it`() async throws {
        let wanted = TagProtection(first: 0, protectsReading: true)
        func protect(_ tag: VirtualType3Tag, _ plan: FaultPlan = FaultPlan()) async throws -> (TagError.Code?, Int) {
            let reader = try await Self.activate(tag, plan)
            let before = reader.link.statistics.exchanges
            let code = await errorCode { _ = try await reader.changeProtection(with: Self.key) { $0 = wanted } }
            return (code, reader.link.statistics.exchanges - before)
        }
        let whole = Self.tag()
        let (code, exchanges) = try await protect(whole)
        #expect(code == nil)
        let plans =
            FaultPlan.everyLoss(inExchanges: exchanges) + FaultPlan.everyTear(inWrites: 5)
            + FaultPlan.every([.mute, .bitError, .deaf], inExchanges: exchanges)
        for plan in plans {
            let tag = Self.tag()
            _ = try await protect(tag, plan)
            let copy = VirtualType3Tag(tag.contents)
            if await errorCode({ try await Self.activate(copy).writeNDEF(message(20)) }) != nil {
                let owner = try await Self.activate(copy)
                try await owner.unlock(with: Self.key)
                try await owner.writeNDEF(message(20))
            }
            #expect(try await protect(tag).0 == nil, "\(plan)")
            guard case .liteS(let found) = tag.contents, case .liteS(let expected) = whole.contents else { return }
            #expect(found.memoryConfiguration == expected.memoryConfiguration && found.cardKey == expected.cardKey)
        }
    }

    @Test(arguments: [true, false])
    func `FeliCa Lite-S that can't be formatted afterwards, or can't be opened: nothing is written`(isBlank: Bool)
        async throws
    {
        var contents = FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6])
        contents.supportsNDEF = !isBlank
        // Block 0 needs an authentication for reading alone.
        if !isBlank { contents.memoryConfiguration[6] = 0x01 }
        let tag = Self.tag(contents)
        let factoryKey = TagSecret([UInt8](repeating: 0, count: 16))
        let reader = try await Self.activate(tag)
        let code = await errorCode {
            _ = try await reader.changeProtection(with: factoryKey) { $0 = isBlank ? TagProtection(first: 0) : .none }
        }
        #expect(code == (isBlank ? .unsupported : .readOnly))
        guard case .liteS(let found) = tag.contents else { return }
        #expect(found.memoryConfiguration == contents.memoryConfiguration && found.cardKey == contents.cardKey)
    }

    @Test func `blank FeliCa Lite-S: formatted, and the NDEF system answers at once`() async throws {
        var contents = FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6])
        contents.supportsNDEF = false
        contents.userMemory = Array(repeating: 0, count: 224)
        let reader = try await Self.activate(Self.tag(contents))
        #expect(await errorCode { _ = try await reader.detectNDEF() } == .noCapabilityContainer)
        try await reader.format()
        try await reader.writeNDEF(message(20))
        #expect(try await reader.readNDEF() == message(20))
    }
}
