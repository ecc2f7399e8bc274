// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // an app's packets are announced to the reader by internal calls

/// The password of NTAG21x and MIFARE Ultralight EV1, and tags that need it for reading (NTAG213/215/216 data sheet, 8.8).
struct Type2PasswordTests {
    private static func activate(_ field: VirtualField) async throws -> Type2Tag {
        field.switchCarrier(false)
        field.switchCarrier(true)
        let link = try #require(field.link(for: .nfcA))
        let target = try #require(try await NFCAActivation(link: link).activateAll().last)
        return Type2Tag(target: target, link: link)
    }

    private static func password(_ byte: UInt8 = 1, pack: [UInt8] = [0xAB, 0xCD]) throws -> Type2Tag.Password {
        try #require(Type2Tag.Password([byte, 2, 3, 4], acknowledgement: pack))
    }

    /// An NTAG213 with other bytes from page 41 on, AUTH0 and ACCESS among them, and its field.
    private static func ntag(_ pages: String = "040000ff 00000000") -> (field: VirtualField, tag: VirtualType2Tag) {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        let content = bytes(pages)
        contents.memory.replaceSubrange(41 * 4..<41 * 4 + content.count, with: content)
        let (field, tag) = (VirtualField(), VirtualType2Tag(contents))
        field.bring(tag)
        return (field, tag)
    }

    private static let products: [Type2Product] = [
        .ntag210, .ntag212, .ntag213, .ntag215, .ntag216, .ntag223, .ultralightEV1UL11, .ultralightEV1UL21,
    ]

    /// The secret of a product: the password of the other tests, or a key.
    private static func secret(_ product: Type2Product) -> TagSecret {
        let hasKey = [.ultralightC, .ultralightAES, .ntag224].contains(product)
        return hasKey ? TagSecret(Array(1...16)) : TagSecret([1, 2, 3, 4], acknowledgement: [0xAB, 0xCD])
    }

    // MARK: Protecting

    @Test(arguments: products)
    func `Type 2 password: everybody reads a protected tag, and only the password allows to write it`(
        product: Type2Product
    ) async throws {
        let field = VirtualField()
        field.bring(VirtualType2Tag(product))
        try await Self.activate(field).protect(with: Self.password())
        let stranger = try await Self.activate(field)
        #expect(try await stranger.readNDEF().isEmpty)
        #expect(await errorCode { try await stranger.writeNDEF(message(20)) } != nil)
        let owner = try await Self.activate(field)
        try await owner.authenticate(Self.password())
        try await owner.writeNDEF(message(20))
        #expect(try await Self.activate(field).readNDEF() == message(20))
    }

    @Test func `Type 2 password: protecting again changes nothing; another password or PACK is refused`() async throws {
        let (field, tag) = Self.ntag()
        try await Self.activate(field).protect(with: Self.password())
        let before = tag.contents.memory
        try await Self.activate(field).protect(with: Self.password())
        #expect(tag.contents.memory == before)
        for other in [try Self.password(2), try Self.password(pack: [0, 0])] {
            #expect(await errorCode { try await Self.activate(field).protect(with: other) } == .authenticationFailed)
            #expect(await errorCode { try await Self.activate(field).authenticate(other) } == .authenticationFailed)
        }
        #expect(Type2Tag.Password([1, 2, 3]) == nil)
        #expect(Type2Tag.Password([1, 2, 3, 4], acknowledgement: [1]) == nil)
        let other = VirtualField()
        other.bring(VirtualType2Tag(.ntag203))
        #expect(await errorCode { try await Self.activate(other).protect(with: Self.password()) } == .unsupported)
    }

    @Test(arguments: 0..<6)
    func `Type 2 password: a protection that was cut after any write is completed by the same call`(writes: Int)
        async throws
    {
        let (field, tag) = Self.ntag()
        field.arm(.tear(afterWrite: writes))
        let code = await errorCode { try await Self.activate(field).protect(with: Self.password()) }
        #expect(code == (writes <= 3 ? .tagLost : nil))
        // The password is written before its acknowledgement.
        if writes == 1 { #expect(tag.contents.memory[43 * 4..<45 * 4] == [1, 2, 3, 4, 0, 0, 0, 0]) }
        field.arm(FaultPlan())
        field.bring(tag)
        try await Self.activate(field).protect(with: Self.password())
        try await Self.activate(field).authenticate(Self.password())
    }

    /// Pages 41 and 42 before and after protecting, and the number of writes; or the error. AUTH0 is the fourth byte of the
    /// first, ACCESS the first of the second.
    @Test(arguments: [
        ("040000ff 00000000", "04000002 00000000", "3"), ("040000ff 05000000", "04000002 05000000", "3"),
        // Strong modulation, attempts with a wrong password, and a tag that hides itself: what is not meant stays.
        ("040005ff 85000000", "04000502 05000000", "4"), ("040000ff 80000000", "04000002 00000000", "4"),
        // The configuration is locked, hidden, or behind another password; behind the last page there is none.
        ("040000ff 40000000", "040000ff 40000000", "read-only"),
        ("04000004 80000000", "04000004 80000000", "authentication-failed"),
        ("0400002c 00000000", "0400002c 00000000", "authentication-failed"),
        ("0400002d 00000000", "04000002 00000000", "3"),
        // The same password that protects the configuration alone, or half of the user memory, and hides the rest.
        ("04000029 00000000 01020304 abcd0000", "04000002 00000000", "1"),
        ("0400002a 80000000 01020304 abcd0000", "04000002 00000000", "2"),
        ("04000014 00000000 01020304 abcd0000", "04000002 00000000", "1"),
        // A locked configuration is enough when it covers the user memory.
        ("04000014 40000000 01020304 abcd0000", "04000014 40000000", "read-only"),
        ("04000004 40000000 01020304 abcd0000", "04000004 40000000", "0"),
    ]) func `Type 2 password: AUTH0 covers the lock bits, everybody may read, and other settings stay`(
        before: String,
        after: String,
        result: String
    ) async throws {
        let (field, tag) = Self.ntag(before)
        let code = await errorCode { try await Self.activate(field).protect(with: Self.password()) }
        #expect(code?.description ?? "\(field.writeCount)" == result)
        if code != nil { #expect(field.writeCount == 0) }
        #expect(tag.contents.memory[41 * 4..<43 * 4] == bytes(after)[...])
        guard code == nil else { return }
        // Like any other, the password can't be read.
        let pages = try #require(try await Self.activate(field).readPages(45))
        #expect(pages[43 * 4..<45 * 4].allSatisfy { $0 == 0 })
    }

    /// Pages 41 to 44 before and after a change, and the number of writes; or the error. The password is 01020304, and its
    /// acknowledgement may be any.
    @Test(arguments: [
        // AUTH0 4, PROT and AUTHLIM 5 of a new tag, or of one that has the password; then from page 20 on without these.
        ("04000004 85000000", TagProtection(first: 4, protectsReading: true, tries: 5)),
        ("04000014 00000000", TagProtection(first: 20)),
        ("040000ff 00000000", TagProtection.none),
    ]) func `Type 2 protection: one call brings any state that the password opens to the wanted one`(
        after: String,
        wanted: TagProtection
    ) async throws {
        for before in [
            "040000ff 00000000 ffffffff 00000000", "040000ff 05000000 ffff0304 00000000",
            "04000002 00000000 01020304 abcd0000", "04000029 87000000 01020304 abcd0000",
            "0400002a 80000000 01020304 00000000", "04000000 80000000 01020304 abcd0000",
        ] {
            let (field, tag) = Self.ntag(before)
            let password = TagSecret([1, 2, 3, 4])
            let plan = try await Self.activate(field).changeProtection(with: password, performs: false) { $0 = wanted }
            #expect(field.writeCount == 0)
            let done = try await Self.activate(field).changeProtection(with: password) { $0 = wanted }
            #expect(plan == done)
            #expect(tag.contents.memory[41 * 4..<43 * 4] == bytes(after)[...], "\(before)")
            let secret = wanted == .none ? bytes("ffffffff 0000") : [1, 2, 3, 4]
            #expect(tag.contents.memory[(43 * 4)...].starts(with: secret), "\(before)")
            let again = try await Self.activate(field).changeProtection(with: password) { $0 = wanted }
            #expect(again == .init(old: wanted, new: wanted, setsPassword: false))
        }
    }

    @Test(arguments: [
        ("040000ff 00000000", 42, "unsupported"),
        ("04000014 40000000 01020304", 4, "read-only"), ("04000014 40000000 01020304", nil, "read-only"),
        ("040000ff 40000000", nil, "none"), ("040000ff 40000000", 4, "read-only"),
        ("04000004 85000000 01020305", 4, "authentication-failed"),
    ]) func `Type 2 protection: out of range, locked or behind another password, nothing is written`(
        before: String,
        page: Int?,
        result: String
    ) async throws {
        let (field, _) = Self.ntag(before)
        let password = TagSecret([1, 2, 3, 4], acknowledgement: [0, 0])
        let code = await errorCode {
            _ = try await Self.activate(field).changeProtection(with: password) { $0.first = page }
        }
        #expect(code?.description ?? "none" == result)
        #expect(field.writeCount == 0)
    }

    /// A protection is switched on, extended, or switched off, and every exchange and write of it is cut or answered
    /// without effect once.
    @Test(
        arguments: products + [.ultralightC, .ultralightAES, .ntag224],
        [(nil, 2), (20, 2), (2, nil)] as [(Int?, Int?)]
    )
    func `Type 2 protection, cut anywhere: the password opens the tag, and the same call completes it`(
        product: Type2Product,
        pages: (old: Int?, new: Int?)
    ) async throws {
        let page = try #require(product.firstConfigurationPage)
        let secret = Self.secret(product)
        func protection(_ first: Int?) -> TagProtection {
            let tries = [.ultralightC, .ntag223, .ntag224].contains(product) ? 0 : 3
            return first.map { TagProtection(first: min($0, page), protectsReading: $0 == 2, tries: tries) }
                ?? .none
        }
        /// Changes a tag, and returns the error, and the numbers of exchanges and writes.
        func change(
            _ tag: VirtualType2Tag,
            to first: Int?,
            _ plan: FaultPlan = FaultPlan()
        ) async throws -> (code: TagError.Code?, exchanges: Int, writes: Int) {
            let field = VirtualField()
            field.bring(tag)
            let reader = try await Self.activate(field)
            let before = reader.link.statistics.exchanges
            field.arm(plan)
            let code = await errorCode {
                _ = try await reader.changeProtection(with: secret) { $0 = protection(first) }
            }
            return (code, reader.link.statistics.exchanges - before, field.writeCount)
        }
        let start = VirtualType2Tag(product)
        if pages.old != nil { #expect(try await change(start, to: pages.old).code == nil) }
        let whole = VirtualType2Tag(start.contents)
        let cost = try await change(whole, to: pages.new)
        #expect(cost.code == nil)
        let torn = (0..<8).map { TornWrite.mixed(seed: $0) }
        let plans =
            FaultPlan.everyLoss(inExchanges: cost.exchanges) + FaultPlan.everyTear(inWrites: cost.writes, leaving: torn)
            + FaultPlan.every([.mute, .bitError, .deaf], inExchanges: cost.exchanges)
        for plan in plans {
            let tag = VirtualType2Tag(start.contents)
            _ = try await change(tag, to: pages.new, plan)
            let (copy, field) = (VirtualType2Tag(tag.contents), VirtualField())
            field.bring(copy)
            if await errorCode({ try await Self.activate(field).writeNDEF(message(9)) }) != nil {
                let owner = try await Self.activate(field)
                try await owner.unlock(with: secret)
                try await owner.writeNDEF(message(9))
            }
            #expect(try await change(tag, to: pages.new).code == nil, "\(plan)")
            #expect(tag.contents.memory == whole.contents.memory, "\(plan)")
            #expect(tag.contents.failedAuthentications == 0)
        }
    }

    @Test(arguments: [0x20, 0x40, 0x80] as [UInt8], [true, false])
    func `Type 2 key, with a lock bit of AUTH0, AUTH1 or the key: readOnly, and nothing is written`(
        locks: UInt8,
        isSet: Bool
    ) async throws {
        let start = VirtualType2Tag(.ultralightC)
        let secret = Self.secret(.ultralightC)
        let protection = TagProtection(first: 4, protectsReading: false)
        if isSet {
            let field = VirtualField()
            field.bring(start)
            _ = try await Self.activate(field).changeProtection(with: secret) { $0 = protection }
        }
        var contents = start.contents
        contents.memory[40 * 4 + 1] = locks
        let (field, tag) = (VirtualField(), VirtualType2Tag(contents))
        field.bring(tag)
        let code = await errorCode {
            _ = try await Self.activate(field).changeProtection(with: secret) {
                $0 = isSet ? .none : TagProtection(first: 4, protectsReading: false)
            }
        }
        // AUTH1 stays as it is when the protection is removed.
        #expect(code == (isSet && locks == 0x40 ? nil : .readOnly))
        #expect((tag.contents.memory == contents.memory) == (code != nil))
    }

    // MARK: Authentication

    @Test(arguments: ["04000002 03000000", "04000029 83000000", "04000002 83000000"])
    func `Type 2 password: a wrong one is counted once, even when its answer is lost`(configuration: String)
        async throws
    {
        for plan in [FaultPlan()] + FaultPlan.every([.mute, .bitError, .tooLong(by: 1)], inExchanges: 8) {
            let (field, tag) = Self.ntag(configuration + "09090909")
            let reader = try await Self.activate(field)
            field.arm(plan)
            let code = await errorCode { try await reader.protect(with: Self.password()) }
            #expect(code != nil)
            #expect(tag.contents.failedAuthentications <= 1, "\(plan)")
        }
    }

    @Test func `Type 2 password: after too many wrong ones, the right one is refused, and an open tag stays open`()
        async throws
    {
        for (configuration, writes) in [("04000002 03000000 01020304 abcd", 0), ("040000ff 03000000", 2)] {
            let (field, tag) = Self.ntag(configuration)
            for _ in 0..<3 {
                let wrong = try Self.password(9)
                #expect(await errorCode { try await Self.activate(field).authenticate(wrong) } == .authenticationFailed)
            }
            let code = await errorCode { try await Self.activate(field).protect(with: Self.password()) }
            #expect(code == .authenticationFailed && field.writeCount == writes)
            #expect(bytes(configuration).starts(with: tag.contents.memory[41 * 4..<43 * 4]))
        }
    }

    /// An NTAG213 that is written with its password alone: a message of 20 bytes is refused before, or tried.
    private static func write(_ before: (Type2Tag, VirtualField) async throws -> Void) async throws -> TagError.Code? {
        let (field, _) = Self.ntag("04000002 00000000 01020304 abcd0000")
        let tag = try await Self.activate(field)
        try await before(tag, field)
        let code = await errorCode { try await tag.writeNDEF(message(20)) }
        #expect((field.writeCount == 0) == (code != nil))
        return code
    }

    @Test func `Type 2 authentication: holds until the tag refuses a command or is activated again`() async throws {
        #expect(try await Self.write { tag, _ in try await tag.authenticate(Self.password()) } == nil)
        let refused = try await Self.write { tag, _ in
            _ = try await tag.readPages(45)
            _ = try await tag.detectNDEF()
            try await tag.authenticate(Self.password())
            guard case .refused(0) = try await tag.exchange(.read(60)) else {
                Issue.record("The tag has a page 60.")
                return
            }
        }
        #expect(refused == .keyNeeded)
    }

    @Test(
        arguments: [
            ("1a", .updateFailed), ("1b01020304", .updateFailed), ("af", .updateFailed), ("301b", .keyNeeded),
            ("19", .keyNeeded), ("1c", .keyNeeded), ("", .keyNeeded),
        ] as [(String, TagError.Code)]
    ) func `Type 2 write: tried after an app's authentication command, keyNeeded after its other commands`(
        packet: String,
        code: TagError.Code
    ) async throws { #expect(try await Self.write { tag, _ in tag.willSend(bytes(packet)) } == code) }

    @Test func `Type 2 authentication by an app: ends with a NAK or an activation, not with an ACK`() async throws {
        let rows: [(String, TagError.Code, @Sendable (Type2Tag) -> Void)] = [
            ("ACK", .updateFailed, { $0.wasAnswered(0x0A) }), ("NAK 0", .keyNeeded, { $0.wasAnswered(0x00) }),
            ("NAK 4", .keyNeeded, { $0.wasAnswered(0x04) }), ("activation", .keyNeeded, { $0.wasActivated() }),
            ("forgotten memory", .updateFailed, { $0.forgetMemory() }),
        ]
        for (name, code, end) in rows {
            let found = try await Self.write { tag, _ in
                tag.willSend([0x1B])
                end(tag)
            }
            #expect(found == code, "\(name)")
        }
    }

    // MARK: Tags that need a password for reading

    @Test(arguments: [Type2Product.ntag213, .ultralightC], [3, 4, 5, 6, 15, 20] as [UInt8])
    func `Type 2 read protection from any page: readProtected, and nothing is written`(
        product: Type2Product,
        page: UInt8
    ) async throws {
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory = contents.memory.placing(messageTLV(message(100)), at: 16, end: 160)
        let first = try #require(product.firstConfigurationPage) * 4
        if product == .ultralightC {
            contents.memory[first] = page
        } else {
            contents.memory.replaceSubrange(first + 3...first + 4, with: [page, 0x80])
        }
        let tag = VirtualType2Tag(contents)
        #expect(await errorCode { _ = try await ProductBench(tag).reader.readNDEF() } == .readProtected)
        let ndefStatus = try await ProductBench(tag).reader.queryNDEFStatus()
        #expect(ndefStatus.message == nil && ndefStatus.error?.code == .readProtected)
        let new = message(100, seed: 0xFF)
        let code = await errorCode { try await ProductBench(tag).reader.writeNDEF(new) }
        #expect(code == .readProtected || code == .keyNeeded)
        #expect(tag.contents.memory == contents.memory)
    }

    @Test func `Type 2 read beyond the end of an Ultralight: lengthOverrun, not readProtected`() async throws {
        var contents = Type2Contents(blank: .ultralight, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory.replaceSubrange(12..<20, with: bytes("e1101200 03640000"))
        let reader = try await ProductBench(VirtualType2Tag(contents)).reader
        #expect(await errorCode { _ = try await reader.readNDEF() } == .lengthOverrun)
    }
}
