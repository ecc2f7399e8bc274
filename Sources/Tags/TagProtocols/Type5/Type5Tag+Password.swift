// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

/// The passwords of ICODE SLIX2 (SL2S2602 data sheet, 9.5.3), ST25TV (DS12074) and ST25DV (DS10925).
///
/// One secret is the password of the memory and of its configuration alike. Otherwise anybody could switch the protection
/// off with the password of a new tag.
extension Type5Tag: PasswordProtected {
    package func unlock(with secret: TagSecret) async throws(TagError) {
        let product = try await protectedProduct(for: secret)
        let settings = try await readSettings(product)
        for password in product.passwords(secret.bytes, in: settings, toUnlock: true) {
            guard try await present([password.secret], as: password, product) != nil else { throw wrongPassword }
        }
        isUnlocked = true
        forgetMemory()
    }

    package func changeProtection(
        with secret: TagSecret,
        performs: Bool = true,
        _ change: (inout TagProtection) -> Void
    ) async throws(TagError) -> ProtectionChange {
        let product = try await protectedProduct(for: secret)
        let settings = try await readSettings(product)
        let old = product.protection(settings)
        var new = old
        change(&new)
        new.first = new.first.map { max($0, product.lowestStart) }
        guard new.tries == 0 else { throw TagError(.unsupported, "\(product.name) has no limit of tries.") }
        let settingWrites = try product.writes(new, over: settings)

        // After a loss, some of the passwords of an open tag may be set already.
        let passwords = product.passwords(secret.bytes, in: settings, toUnlock: false)
        var values: [[UInt8]] = []
        for password in passwords {
            let candidates = old.first == nil ? password.candidates.reversed() : password.candidates
            guard let value = try await present(candidates, as: password, product) else { throw wrongPassword }
            values.append(value)
        }
        let isKnown = zip(passwords, values).contains { $0.secret == $1 }
        guard old.first == nil || isKnown else { throw wrongPassword }
        let wanted = passwords.map { new.first == nil ? $0.factory : $0.secret }
        let result = ProtectionChange(old: old, new: new, setsPassword: wanted != values)
        let writes = new == old && !result.setsPassword ? [] : settingWrites
        guard writes.isEmpty || !product.isLocked(settings) else {
            throw TagError(.readOnly, "The tag's configuration is locked for good, so its protection can't be changed.")
        }
        guard performs else { return result }

        if new.first == nil { try await write(writes, passwords, values, product) }
        for index in passwords.indices where values[index] != wanted[index] {
            try await replace(values[index], by: wanted[index], passwords[index], product)
        }
        if new.first != nil { try await write(writes, passwords, wanted, product) }
        forgetMemory()
        return result
    }

    /// Writes settings, with the passwords that this needs.
    private func write(
        _ writes: [[UInt8]],
        _ passwords: [MemoryPassword],
        _ values: [[UInt8]],
        _ product: ProtectedProduct
    ) async throws(TagError) {
        guard !writes.isEmpty else { return }
        for (password, value) in zip(passwords, values) where password.allowsConfiguration {
            guard try await present([value], as: password, product) != nil else { throw wrongPassword }
        }
        for parameters in writes { try await writeSetting(parameters, product) }
    }

    /// Replaces a password. If the answer is lost, the tag shows by the new password whether it has it.
    private func replace(
        _ old: [UInt8],
        by new: [UInt8],
        _ password: MemoryPassword,
        _ product: ProtectedProduct
    ) async throws(TagError) {
        var value = old
        for _ in 0...Self.retries {
            guard try await present([value], as: password, product) != nil else { break }
            do throws(TagError) {
                for parameters in password.writes(new) {
                    let code = product.writePassword
                    let answer = try await custom(code, product, parameters, isWrite: true, attempts: 1)
                    if case .refused = answer { throw refusal("a password", answer) }
                    guard case .bytes = answer else { break }
                }
            } catch {
                guard error.code == .badAnswer else { throw error }
            }
            let candidates = [new] + password.candidates.filter { $0 != new }
            guard let present = try await present(candidates, as: password, product) else { break }
            if present == new { return }
            value = present
        }
        throw refusal("a password", nil)
    }

    private func refusal(_ part: String, _ answer: Answer?) -> TagError {
        switch answer {
        case .silent(let error)?: loss(error)
        case .refused(let code)?: TagError(.updateFailed, "The tag refused to write \(part): \(code).")
        default: TagError(.updateFailed, "The tag did not keep \(part).")
        }
    }

    private var wrongPassword: TagError { TagError(.authenticationFailed, "The tag has a different password.") }

    // MARK: Locking areas

    /// Returns whether the tag is an ST25DV with areas that ``lockAreas()`` has to lock, because LOCK BLOCK only reaches its
    /// first two blocks.
    ///
    /// - Throws: ``TagError`` with `keyNeeded` when the configuration has a password or is locked, `tagLost`, `badAnswer`,
    ///   `refused`, `unsupported`, `cancelled`.
    package func hasOpenAreas() async throws(TagError) -> Bool {
        guard let product = try? await protectedProduct(), product.kind == .st25dv else { return false }
        let settings = try await readSettings(product)
        let isLocked = product.isLocked(settings)
        let isOpen = !product.areas(settings).allSatisfy { area in
            let rights = area.register & 0x0C
            return rights == 0x0C || rights != 0 && area.register & 0x03 == 0
        }
        if isLocked, !isOpen { return false }
        guard !isLocked, try await presentFactoryPassword(product) else {
            let reason = "The tag's configuration has a password or is locked, so its areas can't be locked."
            throw TagError(.keyNeeded, reason)
        }
        return true
    }

    /// Makes all areas of an ST25DV read-only for readers, and locks its configuration. This can't be undone over the air.
    package func lockAreas() async throws(TagError) {
        let product = try await protectedProduct()
        let settings = try await readSettings(product)
        guard try await presentFactoryPassword(product) else { throw wrongPassword }
        // Writing needs a password, and none is assigned. What needs a password for reading keeps it, and nobody can write.
        let closed = product.areas(settings).map { area in
            [area.number, area.register & 0x08 != 0 ? area.register | 0x0C : area.register & 0xF0 | 0x04]
        }
        for parameters in closed + [[0x0F, 0x01]] { try await writeSetting(parameters, product) }
    }

    private func presentFactoryPassword(_ product: ProtectedProduct) async throws(TagError) -> Bool {
        let zero = [UInt8](repeating: 0, count: product.passwordLength)
        let password = MemoryPassword(number: 0, secret: zero, factory: zero)
        return try await present([zero], as: password, product) != nil
    }

    private func writeSetting(_ parameters: [UInt8], _ product: ProtectedProduct) async throws(TagError) {
        let answer = try await custom(product.writeCode, product, parameters, isWrite: true)
        guard case .bytes = answer else { throw refusal("a setting", answer) }
    }

    // MARK: Presenting passwords

    /// Presents passwords, one after the other, until the tag accepts one. Returns that one; nil if it accepts none.
    private func present(
        _ candidates: [[UInt8]],
        as password: MemoryPassword,
        _ product: ProtectedProduct
    ) async throws(TagError) -> [UInt8]? {
        for candidate in candidates where try await accepts(candidate, as: password, product) {
            if product.kind == .slix2 { presented[password.number] = candidate }
            return candidate
        }
        return nil
    }

    private func accepts(
        _ candidate: [UInt8],
        as password: MemoryPassword,
        _ product: ProtectedProduct
    ) async throws(TagError) -> Bool {
        var failure = LinkError(.timeout, "The tag does not answer.")
        for attempt in 0...Self.retries {
            var bytes = candidate
            if let code = product.getRandomNumber {
                switch try await custom(code, product, []) {
                case .bytes(let random) where random.count == 2:
                    for index in bytes.indices { bytes[index] ^= random[index & 1] }
                case .silent where attempt > 0:
                    // A wrong password silences an ICODE until it loses power.
                    try await powerCycle(product)
                    return false
                case .silent(let error): throw loss(error)
                default: throw TagError(.badAnswer, "The tag sent no random number.")
                }
            }
            do throws(TagError) {
                switch try await custom(0xB3, product, [password.number] + bytes, attempts: 1) {
                case .bytes: return true
                case .refused: return false
                case .silent(let error): failure = error
                }
            } catch {
                guard error.code == .badAnswer, attempt < Self.retries else { throw error }
            }
        }
        throw loss(failure)
    }

    /// Switches the field off and on, and presents again the passwords that the tag has accepted.
    private func powerCycle(_ product: ProtectedProduct) async throws(TagError) {
        do throws(LinkError) {
            try await link.resetField()
        } catch {
            guard error.code == .unsupported else { throw TagError(link: error, over: .nfcV) }
            throw TagError(
                .authenticationFailed,
                "The tag has a different password, and stays silent until you take it away from the reader."
            )
        }
        let accepted = presented
        presented = [:]
        for password in product.passwords([], in: [], toUnlock: false) {
            if let value = accepted[password.number] { _ = try await present([value], as: password, product) }
        }
        if case .silent(let error) = try await exchange(.readSingleBlock, [0]) { throw loss(error) }
    }

    // MARK: Product and settings

    /// Returns whether a password may be the reason of a refusal, as far as the tag reports it.
    ///
    /// ICODE refuses with 0F. ST's products refuse a read with 15, and a write with 12.
    func isProtected(_ code: UInt8) async -> Bool {
        guard [0x0F, 0x12, 0x15].contains(code) else { return false }
        if let hasProtection { return hasProtection }
        guard let product = try? await protectedProduct(), let settings = try? await readSettings(product) else {
            return false
        }
        let isClosed = product.kind == .st25dv && product.areas(settings).allSatisfy { $0.register & 0x03 == 0 }
        hasProtection = product.protection(settings).first != nil && !isClosed
        return hasProtection == true
    }

    /// The error for a command that needs the password.
    static func needsPassword(_ code: TagError.Code, block: Int) -> TagError {
        TagError(code, "Block \(block) of the tag is protected by a password.")
    }

    private func protectedProduct(for secret: TagSecret) async throws(TagError) -> ProtectedProduct {
        let product = try await protectedProduct()
        try secret.check(length: product.passwordLength, of: product.name)
        return product
    }

    private func protectedProduct() async throws(TagError) -> ProtectedProduct {
        guard let found = target.family?.products.first, let kind = ProtectedProduct.Kind(found) else {
            throw .noPassword(target.family?.name ?? "a Type 5 tag of an unknown product")
        }
        let size = try await readMemorySize() ?? 0
        return ProtectedProduct(
            kind: kind,
            name: target.family?.name(memorySize: size) ?? found.name,
            manufacturer: target.manufacturer,
            lastUnit: size / 32 - 1
        )
    }

    private func readSettings(_ product: ProtectedProduct) async throws(TagError) -> [UInt8] {
        var settings: [UInt8] = []
        for parameters in product.settings {
            switch try await custom(product.readCode, product, parameters) {
            case .bytes(let bytes) where !bytes.isEmpty: settings += bytes
            case .silent(let error): throw loss(error)
            default: throw TagError(.refused, "The tag refuses to show its configuration.")
            }
        }
        guard settings.count >= product.settings.count, product.kind != .slix2 || settings.count >= 3 else {
            throw TagError(.badAnswer, "The tag's configuration ends too early.")
        }
        return settings
    }

    /// Sends a command of the manufacturer with the UID, which some of these commands need.
    private func custom(
        _ code: UInt8,
        _ product: ProtectedProduct,
        _ parameters: [UInt8],
        isWrite: Bool = false,
        attempts: Int = 1 + retries
    ) async throws(TagError) -> Answer {
        needsAddress = true
        return try await exchange(
            ISO15693Command(rawValue: code),
            [product.manufacturer] + parameters,
            isWrite: isWrite,
            attempts: attempts
        )
    }
}

/// A password of a tag's memory or configuration.
private struct MemoryPassword {
    var number: UInt8
    var secret: [UInt8]
    var factory: [UInt8]
    var allowsConfiguration = true
    /// Whether a write has only a half of it. The second half then has the next number.
    var isWrittenInHalves = false

    /// What the password may be after a loss: the secret, or its first half, or that of a new tag.
    var candidates: [[UInt8]] {
        isWrittenInHalves ? [secret, secret.prefix(4) + factory.suffix(4), factory] : [secret, factory]
    }

    /// The parameters of the writes. The first half of the secret is written first, and removed last.
    func writes(_ value: [UInt8]) -> [[UInt8]] {
        guard isWrittenInHalves else { return [[number] + value] }
        let halves = [[number] + value.prefix(4), [number + 1] + value.suffix(4)]
        return value == secret ? halves : halves.reversed()
    }
}

/// How a product is protected: its commands, passwords and registers.
private struct ProtectedProduct {
    enum Kind {
        case slix2, st25tv, st25dv

        init?(_ product: Type5Product) {
            if product.features.contains(.pages) {
                self = .slix2
            } else if product.features.contains(.tagConfiguration) {
                self = .st25tv
            } else if product.features.contains(.configuration) {
                self = .st25dv
            } else {
                return nil
            }
        }
    }

    var kind: Kind
    var name: String
    var manufacturer: UInt8
    /// The last unit of 32 bytes, in which ST25DV counts.
    var lastUnit: Int

    var passwordLength: Int { kind == .slix2 ? 4 : 8 }
    /// GET RANDOM NUMBER, whose answer covers a password; nil when passwords are not covered.
    var getRandomNumber: UInt8? { kind == .slix2 ? 0xB2 : kind == .st25tv ? 0xB4 : nil }
    var writePassword: UInt8 { kind == .slix2 ? 0xB4 : 0xB1 }
    /// GET NXP SYSTEM INFORMATION or READ CONFIGURATION.
    var readCode: UInt8 { kind == .slix2 ? 0xAB : 0xA0 }
    /// PROTECT PAGE or WRITE CONFIGURATION.
    var writeCode: UInt8 { kind == .slix2 ? 0xB6 : 0xA1 }
    /// The parameters of the reads. ST25TV: A1SS and the lock. ST25DV: the lock, then RFA1SS to RFA4SS with ENDA1 to ENDA3
    /// between them.
    var settings: [[UInt8]] {
        switch kind {
        case .slix2: [[]]
        case .st25tv: [[0x00], [0x06]]
        case .st25dv: [[0x0F]] + (0x04...0x0A).map { [$0] }
        }
    }
    /// Block 0 of an ST25TV has no protection.
    var lowestStart: Int { kind == .st25tv ? 1 : 0 }

    /// The passwords, those of the memory first. To unlock, only those that the protection needs.
    func passwords(_ secret: [UInt8], in settings: [UInt8], toUnlock: Bool) -> [MemoryPassword] {
        let zero = [UInt8](repeating: 0, count: passwordLength)
        switch kind {
        case .slix2:
            let all = [0x02, 0x01].map { MemoryPassword(number: $0, secret: secret, factory: zero) }
            // WL and WH, RL and RH.
            let needed = toUnlock ? all.filter { settings[1] & ($0.number == 2 ? 0x22 : 0x11) != 0 } : all
            return needed.isEmpty ? all : needed
        case .st25tv:
            var area = MemoryPassword(number: 1, secret: secret, factory: zero, allowsConfiguration: false)
            area.isWrittenInHalves = true
            let half = Array(secret.prefix(4))
            return toUnlock ? [area] : [area, MemoryPassword(number: 3, secret: half, factory: Array(zero.prefix(4)))]
        case .st25dv:
            // PWD_CTRL of the first area that has a password.
            let number = toUnlock ? areas(settings).first { $0.register & 0x03 != 0 }.map { $0.register & 0x03 } : nil
            let area = MemoryPassword(number: number ?? 1, secret: secret, factory: zero, allowsConfiguration: false)
            return toUnlock ? [area] : [area, MemoryPassword(number: 0, secret: secret, factory: zero)]
        }
    }

    /// Whether the settings can't be changed: the lock of the condition, or LOCK_CFG.
    func isLocked(_ settings: [UInt8]) -> Bool {
        switch kind {
        case .slix2: settings[2] & 0x08 != 0
        case .st25tv: settings[1] & 0x01 != 0
        case .st25dv: settings[0] & 0x01 != 0
        }
    }

    func protection(_ settings: [UInt8]) -> TagProtection {
        switch kind {
        case .slix2:
            let first = settings[1] & 0x03 != 0 ? 0 : settings[1] & 0x30 != 0 ? Int(settings[0]) : nil
            return TagProtection(first: first, protectsReading: settings[1] & 0x11 != 0)
        case .st25tv:
            let access = settings[0] & 0x03
            return TagProtection(first: access == 0 ? nil : 1, protectsReading: access > 1)
        case .st25dv:
            let closed = areas(settings).filter { $0.register & 0x0C != 0 }
            // Area 1, with the capability container, is always readable.
            let isHidden = closed.contains { $0.start > 0 && $0.register & 0x0C > 0x04 }
            return TagProtection(first: closed.first.map { $0.start * 8 }, protectsReading: isHidden)
        }
    }

    /// The areas of an ST25DV: the first unit, the number of the register, and its value.
    func areas(_ settings: [UInt8]) -> [(start: Int, number: UInt8, register: UInt8)] {
        var areas: [(start: Int, number: UInt8, register: UInt8)] = []
        var start = 0
        for index in 0..<4 where start <= lastUnit {
            areas.append((start, UInt8(4 + index * 2), settings[1 + index * 2]))
            start = index < 3 ? Int(settings[2 + index * 2]) + 1 : lastUnit + 1
        }
        return areas
    }

    /// Returns the parameters of the writes that change the settings.
    func writes(_ new: TagProtection, over settings: [UInt8]) throws(TagError) -> [[UInt8]] {
        switch kind {
        case .slix2:
            let end = 79
            guard new.first ?? 0 < end else { throw Self.unsupported("The protection can begin at blocks 0 to 78.") }
            if new == protection(settings) { return [] }
            // WH, and RH.
            let condition: UInt8 = new.first == nil ? 0 : new.protectsReading ? 0x30 : 0x20
            return [[UInt8(new.first ?? 0), condition]]
        case .st25tv:
            guard settings[0] & 0x04 == 0 else {
                throw Self.unsupported("The tag's memory has two protected areas; only a tag with one is supported.")
            }
            guard new.first ?? 1 == 1 else { throw Self.unsupported("\(name) protects all blocks from 1 on.") }
            let access: UInt8 = new.first == nil ? 0 : new.protectsReading ? 2 : 1
            return new == protection(settings) ? [] : [[0x00, settings[0] & 0xFC | access]]
        case .st25dv: return try areaWrites(new, over: settings)
        }
    }

    private func areaWrites(_ new: TagProtection, over settings: [UInt8]) throws(TagError) -> [[UInt8]] {
        let last = UInt8(truncatingIfNeeded: lastUnit)
        var areas = areas(settings)
        guard let first = new.first else {
            // Two areas become one again. That comes first, so that a password still shows what is left to do.
            let opened = stride(from: 0, to: 7, by: 2).map { [UInt8(4 + $0), settings[1 + $0] & 0xF0] }
            let changed = opened.filter { settings[Int($0[0]) - 3] != $0[1] }
            return areas.count == 2 ? [[0x05, last]] + changed : changed
        }
        guard first % 8 == 0, first / 8 <= lastUnit else {
            throw Self.unsupported("An area of \(name) begins at a multiple of 8 blocks: 0, 8, 16 and so on.")
        }
        guard !new.protectsReading || first > 0 else {
            let reason = "The first blocks of \(name) can always be read. Reading can be protected from block 8 on."
            throw Self.unsupported(reason)
        }
        var writes: [[UInt8]] = []
        if !areas.contains(where: { $0.start == first / 8 }) {
            guard areas.count <= 2 else {
                let starts = areas.map { "\($0.start * 8)" }.joined(separator: ", ")
                throw Self.unsupported("The areas of the tag begin at blocks \(starts), and so must the protection.")
            }
            writes.append([0x05, UInt8(truncatingIfNeeded: first / 8 - 1)])
            areas = [(0, 4, settings[1]), (first / 8, 6, settings[3])]
        }
        for area in areas {
            // RW_PROTECTION and PWD_CTRL: password 1.
            let access: UInt8 = area.start < first / 8 ? 0 : new.protectsReading ? 0x09 : 0x05
            let register = area.register & 0xF0 | access
            if register != area.register { writes.append([area.number, register]) }
        }
        return writes
    }

    private static func unsupported(_ reason: String) -> TagError { TagError(.unsupported, reason) }
}
