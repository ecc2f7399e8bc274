// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagProducts

/// The state machine of a Type 2 tag: it receives a frame and returns the answer.
struct Type2Chip: TagChip {
    enum Reply {
        case data([UInt8])
        case acknowledge
        /// The memory was programmed. The acknowledgement follows after the programming time.
        case programmed
        /// Success, which the tag signals by not answering.
        case silence
        /// A refusal with a 4-bit code. The tag returns to IDLE or HALT.
        case refusal(Refusal)
        /// An unknown command. The tag returns to IDLE or HALT; most products also send a refusal.
        case unknown
    }

    /// The 4-bit codes of refusals (NTAG213/215/216 data sheet, 9.3).
    enum Refusal: UInt8 {
        case argument = 0x0
        case checksum = 0x1
        case authenticationOrCounter = 0x4
        case programming = 0x5
    }

    enum Pending: Sendable {
        case nothing
        case compatibilityWrite(page: UInt8)
        case sector
        case key(ChallengeProof)
    }

    /// The time for programming a page: 4.1 ms.
    static let programmingTime = Airtime.microseconds(4100)

    var contents: Type2Contents
    var listener: NFCAListener

    // Volatile state.
    var pending = Pending.nothing
    var sector: UInt8 = 0
    var isAuthenticated = false
    /// Whether the reading counter was incremented since power-up.
    var hasCountedReading = false
    var latched = Latched()
    /// Generates challenges that are the same in every run.
    var random: SplitMix64
    /// What the current command leaves in its page after a power cut; nil without a power cut.
    var tear: TornWrite?

    /// The settings that stay active until the next activation or power-up, even if the memory changes.
    struct Latched: Sendable {
        var staticLocks: UInt32 = 0
        var dynamicLocks: UInt32 = 0
        /// CFGLCK, which changes only at power-up (NTAG213/215/216 data sheet, 8.5.7).
        var isConfigurationLocked = false
        /// The two configuration pages before the password; empty if the product has none.
        var configuration: [UInt8] = []
        /// The pages with the key (MF0ICU2 data sheet, 7.5.7); empty for products without one.
        var key: [UInt8] = []
        var protectionStart = Int.max
        var protectsReading = false
    }

    init(_ contents: Type2Contents) {
        var contents = contents
        contents.memory.removeLast(contents.memory.count % 4)
        let factory = Type2Contents.factoryMemory(contents.product)
        if contents.memory.count < factory.count {
            contents.memory += factory[contents.memory.count...]
        }
        contents.counters = Array((contents.counters + [0, 0, 0]).prefix(3))
        contents.tearingFlags = Array((contents.tearingFlags + [0xBD, 0xBD, 0xBD]).prefix(3))
        self.contents = contents
        random = SplitMix64(identifier: contents.uid)
        listener = NFCAListener(uid: contents.uid, atqa: contents.atqa, sak: contents.sak)
        losePower()
    }

    var product: Type2Product { contents.product }

    mutating func losePower() {
        listener.losePower()
        beginActivation()
        hasCountedReading = false
        latched.isConfigurationLocked = configurationAccess & 0x40 != 0
        if !product.locksAtActivation { latchLocks() }
    }

    mutating func beginActivation() {
        pending = .nothing
        sector = 0
        isAuthenticated = false
        if product.locksAtActivation { latchLocks() }
        latchConfiguration()
    }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        switch listener.receive(frame) {
        case .silence: return nil
        case .answer(let answer): return TagAnswer(answer)
        case .woken(let answer):
            beginActivation()
            return TagAnswer(answer)
        case .damaged: return refuse(Refusal.checksum.rawValue)
        case .command(let command): return execute(command, injectedFault: injectedFault)
        }
    }

    private mutating func execute(_ command: [UInt8], injectedFault: InjectedFault?) -> TagAnswer? {
        var refused: (code: UInt8, before: (Type2Contents, Latched))?
        switch injectedFault {
        case .refusal(let code): return refuse(code)
        case .writeRefusal(let code): refused = (code, (contents, latched))
        case .powerCut(let rest): tear = rest
        case nil: break
        }
        let reply = reply(to: command)
        tear = nil
        switch reply {
        case .data(let bytes): return TagAnswer(Frame(bytes))
        case .acknowledge: return TagAnswer(Self.acknowledgement)
        case .programmed:
            if let refused {
                (contents, latched) = refused.before
                return refuse(refused.code, isWrite: true)
            }
            return TagAnswer(Self.acknowledgement, workTime: Self.programmingTime, isWrite: true)
        case .silence: return nil
        case .refusal(let refusal): return refuse(refusal.rawValue)
        case .unknown:
            let answer = refuse(Refusal.argument.rawValue)
            return product.features.contains(.ignoresUnknownCommands) ? nil : answer
        }
    }

    private static let acknowledgement = Frame(bits: [0x0A], validBitsInLastByte: 4)

    private mutating func refuse(_ code: UInt8, isWrite: Bool = false) -> TagAnswer {
        pending = .nothing
        listener.deselect()
        return TagAnswer(Frame(bits: [code & 0x0F], validBitsInLastByte: 4), isWrite: isWrite)
    }

    private mutating func reply(to command: [UInt8]) -> Reply {
        let waiting = pending
        pending = .nothing
        switch waiting {
        case .nothing: break
        case .compatibilityWrite(let page): return compatibilityWrite(page, command)
        case .sector: return sectorSelect(command)
        case .key(let authentication): return finishKey(authentication, command)
        }
        guard let code = command.first else { return .refusal(.argument) }
        let features = product.features
        switch (code, command.count) {
        case (0x30, 2): return read(command[1])
        case (0xA2, 6): return write(command[1], Array(command[2...]))
        case (0x3A, 3) where features.contains(.fastRead): return fastRead(command[1], command[2])
        case (0x60, 1): return contents.version.map { .data($0) } ?? .unknown
        case (0xA0, 2) where features.contains(.compatibilityWrite): return beginCompatibilityWrite(command[1])
        case (0xC2, 2) where features.contains(.sectors): return beginSectorSelect(command[1])
        case (0x1B, 5) where features.contains(.password): return authenticate(Array(command[1...]))
        case (0x3C, 2) where features.contains(.signature):
            return command[1] == 0 ? .data(contents.signature) : .refusal(.argument)
        case (0x39, 2) where !features.isDisjoint(with: [.counters, .readingCounter]): return readCounter(command[1])
        case (0xA5, 6) where features.contains(.counters):
            return incrementCounter(command[1], by: Array(command[2..<5]))
        case (0x3E, 2) where features.contains(.counters):
            return command[1] < 3 ? .data([contents.tearingFlags[Int(command[1])]]) : .refusal(.argument)
        case (0x4B, 21) where features.contains(.virtualCardSelect): return .data([configuration(1, 1)])
        case (0x1A, 2) where product.keyPages != nil: return beginKey(command[1])
        // All products refuse a known command with a wrong length.
        case (0x30, _), (0xA2, _), (0xA0, _): return .refusal(.argument)
        default: return .unknown
        }
    }
}

extension Type2Chip {
    /// Returns the page in the memory for an address in the current sector; nil if it does not exist.
    func page(_ address: UInt8) -> Int? {
        guard product.features.contains(.sectors) else { return Int(address) }
        switch sector {
        case 0: return Int(address)
        case 1 where product.pageCount > 256: return 256 + Int(address)
        default: return nil
        }
    }

    /// The end of the readable pages: the end of the memory, or the first page that needs the password.
    private var readableEnd: Int {
        let end = product.readablePageCount
        return latched.protectsReading && !isAuthenticated ? min(end, latched.protectionStart) : end
    }

    /// READ: four pages. After the last readable page, the answer continues at page 0 (MF0ICU1 data sheet, 7.6.4).
    mutating func read(_ address: UInt8) -> Reply {
        if product.features.contains(.sectors), sector == 3 { return readSession(address) }
        guard let first = page(address), first < readableEnd else { return .refusal(.argument) }
        countReading()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        // A READ never crosses into the next sector.
        let end = first < 256 ? min(readableEnd, 256) : readableEnd
        if first + 4 <= end {
            append(first..<(first + 4), to: &bytes)
        } else if product.features.contains(.sectors) {
            append(first..<end, to: &bytes)
            bytes += Array(repeating: 0, count: 16 - bytes.count)
        } else {
            for offset in 0..<4 {
                let page = (first + offset) % end
                append(page..<(page + 1), to: &bytes)
            }
        }
        return .data(bytes)
    }

    /// FAST_READ: the pages from the first to the last address, both included (NTAG213/215/216 data sheet, 10.3).
    mutating func fastRead(_ start: UInt8, _ end: UInt8) -> Reply {
        guard let first = page(start), let last = page(end), first <= last, last < readableEnd else {
            return .refusal(.argument)
        }
        countReading()
        var bytes: [UInt8] = []
        bytes.reserveCapacity((last - first + 1) * 4)
        append(first..<(last + 1), to: &bytes)
        return .data(bytes)
    }

    /// Appends pages as a reader sees them: password and PACK as zeros, and the mirror inserted.
    private func append(_ pages: Range<Int>, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += contents.memory[(pages.lowerBound * 4)..<(pages.upperBound * 4)]
        if let configurationPage = product.configurationPage, product.features.contains(.password) {
            let hidden = pages.clamped(to: (configurationPage + 2)..<(configurationPage + 4))
            for page in hidden {
                let offset = start + (page - pages.lowerBound) * 4
                for index in offset..<(offset + (page == configurationPage + 2 ? 4 : 2)) { bytes[index] = 0 }
            }
        }
        if product.features.contains(.mirror) { insertMirror(over: pages, in: &bytes, at: start) }
    }

    /// The session registers of NTAG I2C, in sector 3. The I2C side is idle.
    private func readSession(_ address: UInt8) -> Reply {
        (0xF8...0xF9).contains(address) ? .data(Array(repeating: 0, count: 16)) : .refusal(.argument)
    }

    /// SECTOR SELECT, first command (NFC Forum T2T 1.2, 5.4).
    mutating func beginSectorSelect(_ argument: UInt8) -> Reply {
        guard argument == 0xFF else { return .refusal(.argument) }
        pending = .sector
        return .acknowledge
    }

    /// SECTOR SELECT, second command. No answer means success.
    mutating func sectorSelect(_ command: [UInt8]) -> Reply {
        guard command.count == 4, command[0] == 0 || command[0] == 3 || (command[0] == 1 && product.pageCount > 256)
        else { return .refusal(.argument) }
        sector = command[0]
        return .silence
    }

    // MARK: Counters

    private static let counterLimit: UInt32 = 0xFF_FFFF

    /// Whether the counter of readings is enabled: NFC_CNT_EN of ACCESS.
    private var countsReadings: Bool {
        product.features.contains(.readingCounter) && configurationAccess & 0x10 != 0
    }

    /// Counts the first READ or FAST_READ after power-up (NTAG213/215/216 data sheet, 8.7).
    mutating func countReading() {
        guard countsReadings, !hasCountedReading else { return }
        hasCountedReading = true
        contents.counters[2] = min(contents.counters[2] + 1, Self.counterLimit)
    }

    /// READ_CNT: three bytes, least significant first.
    func readCounter(_ address: UInt8) -> Reply {
        if product.features.contains(.counters), address < 3 {
            return .data([UInt8](littleEndian: Int(contents.counters[Int(address)]), count: 3))
        }
        guard countsReadings, address == 2 else { return .refusal(.argument) }
        // With NFC_CNT_PWD_PROT, reading the counter needs the password.
        if configurationAccess & 0x08 != 0, !isAuthenticated { return .refusal(.authenticationOrCounter) }
        return .data([UInt8](littleEndian: Int(contents.counters[2]), count: 3))
    }

    /// INCR_CNT: adds to a counter; an overflow is refused (MF0ULx1 data sheet, 10.6).
    mutating func incrementCounter(_ address: UInt8, by bytes: [UInt8]) -> Reply {
        guard address < 3 else { return .refusal(.argument) }
        let step = UInt32(bytes: bytes[..<3].reversed())
        let sum = contents.counters[Int(address)] + step
        guard sum <= Self.counterLimit else { return .refusal(.authenticationOrCounter) }
        // The counters are protected against tearing: after a power cut they have the old or the new value.
        if tear?.keepsNew ?? true { contents.counters[Int(address)] = sum }
        return .programmed
    }

    // MARK: Mirror

    /// Inserts the UID and the counter in ASCII, if configured (NTAG213/215/216 data sheet, 8.5.7 and 8.6), or the SUN
    /// message, which also has a code.
    func insertMirror(over pages: Range<Int>, in bytes: inout [UInt8], at start: Int) {
        let isSUN = product.features.contains(.sun)
        let mode = isSUN ? (configuration(0, 0) & 0x80 != 0 ? 3 : 0) : configuration(0, 0) >> 6
        let firstPage = Int(configuration(0, 2))
        guard mode != 0, firstPage > 3, firstPage <= product.userPages.upperBound, pages.upperBound > firstPage else {
            return
        }
        let text = mirrorText(mode) + (isSUN ? [UInt8(ascii: "x")] + messageCode.hexadecimalDigits : [])
        let position = firstPage * 4 + Int(configuration(0, 0) >> (isSUN ? 3 : 4) & 0x03)
        let end = (product.userPages.upperBound + 1) * 4
        guard position + text.count <= end else { return }
        for (index, character) in text.enumerated() {
            let offset = position + index - pages.lowerBound * 4
            if offset >= 0, offset < pages.count * 4 { bytes[start + offset] = character }
        }
    }

    /// Returns the 14 digits of the UID, the 6 digits of the counter, or both with an `x` in between.
    private func mirrorText(_ mode: UInt8) -> [UInt8] {
        let counter = [UInt8](bigEndian: Int(contents.counters[2]), count: 3).hexadecimalDigits
        let hasCounter = product.features.contains(.readingCounter)
        return switch (mode, hasCounter) {
        case (1, _), (3, false): contents.uid.hexadecimalDigits
        case (2, true): counter
        case (3, true): contents.uid.hexadecimalDigits + [UInt8(ascii: "x")] + counter
        default: []
        }
    }

    /// The code of the SUN message, over UID and counter (NXP AN12998); zeros without the system's OpenSSL.
    private var messageCode: [UInt8] {
        let key = product.aesPages.map { contents.memory[($0.upperBound - 4) * 4..<$0.upperBound * 4].reversed() } ?? []
        let code = try? DynamicMessagingCodes.sunCode(uid: contents.uid, counter: contents.counters[2], key: key)
        return code ?? [UInt8](repeating: 0, count: 8)
    }
}

extension Type2Chip {
    /// WRITE: one page (MF0ICU1 data sheet, 7.6.5).
    mutating func write(_ address: UInt8, _ bytes: [UInt8]) -> Reply {
        guard let page = page(address), isWritable(page) else { return .refusal(.argument) }
        let old = Array(contents.memory[(page * 4)..<(page * 4 + 4)])
        guard let new = bytesAfterWriting(bytes, over: old, page: page) else { return .refusal(.argument) }
        let isProtected = page == 2 || page == 3 || page == product.dynamicLock?.page
        contents.memory.program(new, at: page * 4, tear: tear, unit: 4, isProtected: isProtected)
        if !product.locksAtActivation { latchLocks() }
        return .programmed
    }

    /// COMPATIBILITY_WRITE, first command (MF0ICU1 data sheet, 7.6.6).
    mutating func beginCompatibilityWrite(_ address: UInt8) -> Reply {
        guard let page = page(address), isWritable(page) else { return .refusal(.argument) }
        pending = .compatibilityWrite(page: address)
        return .acknowledge
    }

    /// COMPATIBILITY_WRITE, second command: 16 bytes. Only the first four are written.
    mutating func compatibilityWrite(_ address: UInt8, _ command: [UInt8]) -> Reply {
        guard command.count == 16 else { return .refusal(.argument) }
        return write(address, Array(command[0..<4]))
    }

    /// Returns whether a page exists, does not contain the UID, is unlocked, and needs no password or received it.
    private func isWritable(_ page: Int) -> Bool {
        guard page >= 2, page < product.pageCount else { return false }
        if page >= latched.protectionStart, !isAuthenticated { return false }
        if LockField.statically.locks(page, bits: latched.staticLocks) { return false }
        if let lock = product.dynamicLock, lock.locks(page, bits: latched.dynamicLocks) { return false }
        // The lock bits of the key that protects the memory, and of the key of the SUN message.
        if let keys = product.aesPages, keys.contains(page) {
            let bit: UInt8 = page < keys.lowerBound + 4 ? 0x40 : product.features.contains(.sun) ? 0x80 : 0
            if contents.memory[(keys.lowerBound - 3) * 4] & bit != 0 { return false }
        }
        if latched.isConfigurationLocked, let start = product.configurationPage, (start...(start + 1)).contains(page) {
            return false
        }
        return true
    }

    /// Returns a page's bytes after a write, following the rules for lock bits, one-time bits and counters.
    private func bytesAfterWriting(_ bytes: [UInt8], over old: [UInt8], page: Int) -> [UInt8]? {
        if page == 2 { return old[0..<2] + lockBytes(LockField.statically, writing: Array(bytes[2..<4])) }
        if page == 3 {
            // One-time programmable: bits can only be set.
            return zip(old, bytes).map { $0 | $1 }
        }
        if let lock = product.dynamicLock, page == lock.page {
            let bits = lockBytes(lock, writing: Array(bytes[0..<lock.bytes]))
            return bits + old[lock.bytes...]
        }
        if page == 41, product.features.contains(.pageCounter) { return pageCounter(old, writing: bytes) }
        return bytes
    }

    private func lockBytes(_ field: LockField, writing bytes: [UInt8]) -> [UInt8] {
        let requested = UInt32(bytes: bytes.reversed())
        let bits = field.bits(field.bits(in: contents.memory), afterWriting: requested)
        return [UInt8](littleEndian: Int(bits), count: field.bytes)
    }

    /// The 16-bit counter of page 41. The first write sets it; later writes add to it, without overflow. A step is 0 to
    /// 15: Ultralight C uses the low four bits, and NTAG203 refuses larger steps (MF0ICU2 data sheet, 7.5.11; NTAG203
    /// data sheet, 8.6). A real chip shows the sum after the next RF reset, this model at once.
    private func pageCounter(_ old: [UInt8], writing bytes: [UInt8]) -> [UInt8]? {
        let value = UInt32(old[0]) | UInt32(old[1]) << 8
        let written = UInt32(bytes[0]) | UInt32(bytes[1]) << 8
        if value != 0, written > 0x0F, !product.features.contains(.tripleDES) { return nil }
        let next = value == 0 ? written : value + (written & 0x0F)
        guard next <= 0xFFFF else { return nil }
        return [UInt8(next & 0xFF), UInt8(next >> 8), old[2], old[3]]
    }

    mutating func latchLocks() {
        latched.staticLocks = LockField.statically.bits(in: contents.memory)
        latched.dynamicLocks = product.dynamicLock?.bits(in: contents.memory) ?? 0
    }
}

extension LockField {
    private var settableBits: UInt32 { locks.reduce(0) { $0 | 1 << $1.bit | 1 << $1.frozenBy } }

    func bits(in memory: [UInt8]) -> UInt32 {
        let start = page * 4 + offset
        return UInt32(bytes: memory[start..<(start + bytes)].reversed())
    }

    /// Returns the bits after a write. Bits can only be set, and frozen bits don't change.
    func bits(_ old: UInt32, afterWriting new: UInt32) -> UInt32 {
        let frozen = locks.reduce(UInt32(0)) {
            old >> $1.frozenBy & 1 == 1 ? $0 | 1 << $1.bit : $0
        }
        return old | (new & settableBits & ~frozen)
    }

    func locks(_ page: Int, bits: UInt32) -> Bool {
        bits != 0 && locks.contains { bits >> $0.bit & 1 == 1 && $0.pages.contains(page) }
    }
}

extension Type2Chip {
    /// Returns a byte of the active configuration; 0 if the product has none.
    func configuration(_ page: Int, _ byte: Int) -> UInt8 {
        let index = page * 4 + byte
        return index < latched.configuration.count ? latched.configuration[index] : 0
    }

    /// The ACCESS byte: PROT, CFGLCK, counter bits and AUTHLIM.
    var configurationAccess: UInt8 { configuration(1, 0) }

    /// Activates the configuration in the memory, and the key of Ultralight C.
    ///
    /// A tag does this during activation, so that a reader can first write AUTH0 and then other pages that AUTH0
    /// protects. The password and PACK need no activation, because PWD_AUTH reads them from memory.
    mutating func latchConfiguration() {
        latched.protectionStart = Int.max
        latched.protectsReading = false
        if let pages = product.keyPages {
            latched.key = Array(contents.memory[(pages.lowerBound * 4)..<(pages.upperBound * 4)])
        }
        if product.features.contains(.tripleDES) {
            // AUTH0, in page 42, protects nothing if it is 30h or more. If bit 0 of AUTH1 is set, reading is free.
            let start = Int(contents.memory[42 * 4])
            if start < 0x30 {
                latched.protectionStart = max(start, 3)
                latched.protectsReading = contents.memory[43 * 4] & 1 == 0
            }
        } else if !product.features.isDisjoint(with: [.password, .aes]), let page = product.configurationPage {
            latched.configuration = Array(contents.memory[(page * 4)..<(page * 4 + 8)])
            let start = Int(configuration(0, 3))
            if start < product.pageCount {
                latched.protectionStart = start
                latched.protectsReading = configurationAccess & 0x80 != 0
            }
        }
    }

    /// PWD_AUTH: the right password gives access, and the answer is PACK (NTAG213/215/216 data sheet, 8.8 and 10.7).
    ///
    /// After AUTHLIM wrong passwords in a row, the tag accepts no more passwords; 0 means no limit.
    mutating func authenticate(_ password: [UInt8]) -> Reply {
        guard let start = product.configurationPage else { return .refusal(.argument) }
        let limit = Int(configurationAccess & 0x07)
        if limit > 0, contents.failedAuthentications >= limit { return .refusal(.authenticationOrCounter) }
        guard ConstantTime.areEqual(password, contents.memory[((start + 2) * 4)..<((start + 3) * 4)]) else {
            if limit > 0 { contents.failedAuthentications += 1 }
            return .refusal(.argument)
        }
        contents.failedAuthentications = 0
        isAuthenticated = true
        return .data(Array(contents.memory[((start + 3) * 4)..<((start + 3) * 4 + 2)]))
    }

    /// AUTH_LIM of Ultralight AES and NTAG 224 DNA: after this many wrong proofs, it accepts no more; 0 for no limit.
    private var keyLimit: Int {
        product.features.contains(.aes) ? Int(configuration(1, 2)) | Int(configuration(1, 3) & 0x03) << 8 : 0
    }

    /// AUTHENTICATE of Ultralight C and AES, first command: an encrypted challenge (MF0ICU2 data sheet, 7.5.5 and 7.6.7).
    /// Of the keys of Ultralight AES, only the DataProtKey is modelled. NTAG 224 DNA authenticates in the same way.
    ///
    /// Without the system's OpenSSL, the tag behaves as if its key were unknown.
    mutating func beginKey(_ argument: UInt8) -> Reply {
        let isAES = product.features.contains(.aes)
        if keyLimit > 0, contents.failedAuthentications >= keyLimit { return .refusal(.authenticationOrCounter) }
        // The key, or each half of the key of Ultralight C, is stored in reverse byte order.
        let key = isAES ? latched.key.reversed() : latched.key.prefix(8).reversed() + latched.key.suffix(8).reversed()
        guard argument == 0, let cipher = try? isAES ? BlockCipher.aes(key) : BlockCipher.des(key) else {
            return .refusal(.argument)
        }
        isAuthenticated = false
        let challenge = random.bytes(cipher.blockLength)
        let authentication = ChallengeProof(cipher: cipher, challenge: challenge, chains: !isAES)
        pending = .key(authentication)
        return .data([0xAF] + authentication.sent)
    }

    /// AUTHENTICATE, second command: checks the reader's proof, and answers with the tag's proof.
    mutating func finishKey(_ authentication: ChallengeProof, _ command: [UInt8]) -> Reply {
        guard command.first == 0xAF, let proven = try? authentication.finish(Array(command.dropFirst())) else {
            if keyLimit > 0 { contents.failedAuthentications += 1 }
            return .refusal(.argument)
        }
        contents.failedAuthentications = 0
        isAuthenticated = true
        return .data([0x00] + proven.answer)
    }
}
