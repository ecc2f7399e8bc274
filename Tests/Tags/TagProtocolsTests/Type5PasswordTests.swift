// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // the changes of a protection are compared with others

/// The passwords of ICODE SLIX2 (SL2S2602 data sheet, 9.5.3), ST25TV (DS12074) and ST25DV (DS10925).
struct Type5PasswordTests {
    private static func activate(_ field: VirtualField) async throws -> Type5Tag {
        field.switchCarrier(false)
        field.switchCarrier(true)
        let link = try #require(field.link(for: .nfcV))
        let target = try #require(try await NFCVInventory(link: link).findAll().last)
        return Type5Tag(target: target, link: link, isAlone: true)
    }

    private static func field(_ tag: VirtualType5Tag) -> VirtualField {
        let field = VirtualField()
        field.bring(tag)
        return field
    }

    private static func secret(_ product: Type5Product) -> TagSecret {
        TagSecret(Array((1...8).prefix(product == .icodeSLIX2 ? 4 : 8)))
    }

    private static let products: [Type5Product] = [.icodeSLIX2, .st25tv512, .st25tv02K, .st25dv04K, .st25dv64K]

    /// Products, and the block from which on reading can be protected too.
    private static let rows: [(Type5Product, Int)] = products.map { ($0, $0.blockCount >= 128 ? 8 : 1) }

    @Test(arguments: products)
    func `Type 5 password: everybody reads a protected tag, only the password allows to write, and it can be removed`(
        product: Type5Product
    ) async throws {
        let tag = VirtualType5Tag(product)
        let (field, new, secret) = (Self.field(tag), tag.contents, Self.secret(product))
        let change = try await Self.activate(field).changeProtection(with: secret) { $0.first = 0 }
        #expect(change.old == .none && change.new.first != nil && change.setsPassword)
        let again = try await Self.activate(field).changeProtection(with: secret) { $0.first = 0 }
        #expect(again == ProtectionChange(old: change.new, new: change.new, setsPassword: false))
        let refusal = await errorCode { try await Self.activate(field).writeNDEF(message(20)) }
        #expect(refusal == .keyNeeded)
        #expect(await errorCode { try await Self.activate(field).checkLocking() } == .keyNeeded)
        let owner = try await Self.activate(field)
        try await owner.unlock(with: secret)
        try await owner.writeNDEF(message(20))
        #expect(try await Self.activate(field).readNDEF() == message(20))

        var wrong = secret
        wrong.bytes[0] ^= 0xFF
        for tag in [try await Self.activate(field), try await Self.activate(field)] {
            #expect(await errorCode { try await tag.unlock(with: wrong) } == .authenticationFailed)
            let code = await errorCode { _ = try await tag.changeProtection(with: wrong) { $0 = .none } }
            #expect(code == .authenticationFailed)
            // A muted ICODE answers again.
            #expect(try await tag.readNDEF() == message(20))
        }
        let removal = try await Self.activate(field).changeProtection(with: secret) { $0 = .none }
        #expect(removal == ProtectionChange(old: change.new, new: .none, setsPassword: true))
        #expect(tag.contents.settings == new.settings && tag.contents.protection == new.protection)
        #expect(tag.contents.passwords == new.passwords)
        let other = try await Self.activate(field).changeProtection(with: wrong, performs: false) { $0.first = 0 }
        #expect(other == ProtectionChange(old: .none, new: change.new, setsPassword: true))
    }

    @Test(arguments: rows)
    func `Type 5 password for reading: blocks before stay open, the others need it`(product: Type5Product, first: Int)
        async throws
    {
        let tag = VirtualType5Tag(product)
        let (field, secret) = (Self.field(tag), Self.secret(product))
        try await Self.activate(field).writeNDEF(message(40))
        let wanted = TagProtection(first: first, protectsReading: true)
        _ = try await Self.activate(field).changeProtection(with: secret) { $0 = wanted }
        #expect(await errorCode { _ = try await Self.activate(field).readNDEF() } == .readProtected)
        let owner = try await Self.activate(field)
        try await owner.unlock(with: secret)
        #expect(try await owner.readNDEF() == message(40))
        #expect(try await owner.changeProtection(with: secret, performs: false) { _ in }.old == wanted)
    }

    /// A protection is switched on, changed, or switched off, and every exchange and write of it is cut or answered
    /// without effect once.
    @Test(arguments: rows, [(false, true), (true, true), (true, false)])
    func `Type 5 protection, cut anywhere: the password opens the tag, and the same call completes it`(
        row: (product: Type5Product, first: Int),
        isProtected: (before: Bool, after: Bool)
    ) async throws {
        let secret = Self.secret(row.product)
        /// Changes a tag, and returns the error, and the numbers of exchanges and writes.
        func change(
            _ tag: VirtualType5Tag,
            _ isOn: Bool,
            reading: Bool = true,
            _ plan: FaultPlan = FaultPlan()
        ) async throws -> (code: TagError.Code?, exchanges: Int, writes: Int) {
            let field = Self.field(tag)
            let reader = try await Self.activate(field)
            let (before, writes) = (reader.link.statistics.exchanges, field.writeCount)
            field.arm(plan)
            let code = await errorCode {
                _ = try await reader.changeProtection(with: secret) { protection in
                    protection = isOn ? TagProtection(first: reading ? row.first : 0, protectsReading: reading) : .none
                }
            }
            return (code, reader.link.statistics.exchanges - before, field.writeCount - writes)
        }
        let start = VirtualType5Tag(row.product)
        if isProtected.before { #expect(try await change(start, true, reading: !isProtected.after).code == nil) }
        let whole = VirtualType5Tag(start.contents)
        let cost = try await change(whole, isProtected.after)
        #expect(cost.code == nil && cost.writes > 0)
        let plans =
            FaultPlan.everyLoss(inExchanges: cost.exchanges) + FaultPlan.everyTear(inWrites: cost.writes)
            + FaultPlan.every([.mute, .bitError, .deaf], inExchanges: cost.exchanges)
        for plan in plans {
            let tag = VirtualType5Tag(start.contents)
            _ = try await change(tag, isProtected.after, plan)
            let field = Self.field(VirtualType5Tag(tag.contents))
            if await errorCode({ try await Self.activate(field).writeNDEF(message(40)) }) != nil {
                let owner = try await Self.activate(field)
                try await owner.unlock(with: secret)
                try await owner.writeNDEF(message(40))
            }
            #expect(try await change(tag, isProtected.after).code == nil, "\(plan)")
            #expect(tag.contents.settings == whole.contents.settings, "\(plan)")
            #expect(tag.contents.protection == whole.contents.protection, "\(plan)")
            #expect(tag.contents.passwords == whole.contents.passwords, "\(plan)")
        }
    }

    /// Tags that are not as delivered, a wanted protection, and the error; nothing is written then.
    @Test(
        arguments: [
            (.icodeSLIX2, "condition locked", 0, false, .readOnly), (.icodeSLIX2, "", 79, false, .unsupported),
            (.icodeSLIX2, "password", 0, false, .authenticationFailed), (.st25tv02K, "lock", 0, false, .readOnly),
            (.st25tv02K, "two areas", 0, false, .unsupported), (.st25tv02K, "", 2, false, .unsupported),
            (.st25dv04K, "lock", 0, false, .readOnly), (.st25dv04K, "", 0, true, .unsupported),
            (.st25dv04K, "", 9, false, .unsupported), (.st25dv04K, "", 128, false, .unsupported),
            (.st25dv04K, "password", 0, false, .authenticationFailed), (.icodeSLIX, "", 0, false, .unsupported),
        ] as [(Type5Product, String, Int, Bool, TagError.Code)]
    )
    func `Type 5 protection: out of range, locked or behind another password, nothing is written`(
        product: Type5Product,
        state: String,
        first: Int,
        reading: Bool,
        code: TagError.Code
    ) async throws {
        var contents = Type5Contents(blank: product)
        switch state {
        case "condition locked": contents.protection.isConditionLocked = true
        case "password" where product == .icodeSLIX2: contents.passwords[0x01] = 9
        case "password": contents.settings.passwords[0] = Array(repeating: 9, count: 8)
        case "lock": contents.settings.registers[product == .st25tv02K ? 6 : 15] = 1
        case "two areas": contents.settings.registers[0] = 4
        default: break
        }
        let tag = VirtualType5Tag(contents)
        let field = Self.field(tag)
        let found = await errorCode {
            _ = try await Self.activate(field).changeProtection(with: Self.secret(product)) { protection in
                protection = TagProtection(first: first, protectsReading: reading)
            }
        }
        #expect(found == code && field.writeCount == 0 && tag.contents == contents)
    }

    @Test func `ST25DV: locked areas stay read-only with every password, and a lost tag is completed`() async throws {
        let whole = VirtualType5Tag(.st25dv04K)
        #expect(try await Self.activate(Self.field(whole)).hasOpenAreas())
        for lost in 0...2 {
            let tag = VirtualType5Tag(.st25dv04K)
            let field = Self.field(tag)
            let reader = try await Self.activate(field)
            try await reader.lock()
            field.arm(.tear(afterWrite: lost))
            _ = await errorCode { try await reader.lockAreas() }
            field.arm(FaultPlan())
            field.bring(tag)
            let again = try await Self.activate(field)
            if try await again.hasOpenAreas() { try await again.lockAreas() }
            #expect(tag.contents.settings.registers[4] == 0x04 && tag.contents.settings.registers[15] == 0x01)
            let password = TagSecret(Array(repeating: 0, count: 8))
            let owner = try await Self.activate(field)
            #expect(await errorCode { try await owner.unlock(with: password) } == nil)
            #expect(await errorCode { try await owner.write([1, 2, 3, 4], to: 9) } == .updateFailed)
        }
        var contents = Type5Contents(blank: .st25dv04K)
        contents.settings.passwords[0][7] = 1
        let reader = try await Self.activate(Self.field(VirtualType5Tag(contents)))
        #expect(await errorCode { _ = try await reader.hasOpenAreas() } == .keyNeeded)
    }
}
