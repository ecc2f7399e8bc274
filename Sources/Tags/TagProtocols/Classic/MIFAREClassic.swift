// SPDX-License-Identifier: Apache-2.0
public import TagLink
package import TagProducts

/// The reader's side of a MIFARE Classic: its blocks, values and keys, and NDEF in the sectors that its application
/// directory gives to the NFC Forum (MF1S50yyX data sheet; NXP AN10787, AN1304 and AN1305).
///
/// For each sector it tries the given keys. Reads and writes then use key A or B, as the access conditions of the sector
/// require. The cipher runs in the reader if its link has `authenticatesClassic`, otherwise in software.
public final class MIFAREClassic: ForumTag {
    /// Nil: a MIFARE Classic is no tag type of the NFC Forum.
    public var type: ForumTagType? { nil }

    /// The card's data from activation.
    public let target: NFCATarget

    /// The link to the card.
    public let link: any FrameLink

    /// The public keys: of new cards, of the application directory, of NDEF, and others that many cards have. They are
    /// always tried.
    public static let publicKeys = ClassicProduct.publicKeys
    /// The directory's identifier of sectors with NDEF (NXP AN1305, 4).
    private static let ndefApplication: [UInt8] = [0x03, 0xE1]
    private static let size = 16
    private static let attempts = 2

    /// Key A or B of a sector.
    package struct Slot: Hashable, Sendable {
        package var sector: Int
        package var isB: Bool
        package init(_ sector: Int, isB: Bool) { (self.sector, self.isB) = (sector, isB) }
        var name: String { "Key \(isB ? "B" : "A") of sector \(sector)" }
    }

    private let candidates: [[UInt8]]
    /// The key that opens a slot; an inner nil if no known key does.
    private var keys: [Slot: [UInt8]?] = [:]
    private let commands = ClassicCommands()
    /// The slot that the card is authenticated with.
    private var current: Slot?
    private var isActive = true
    /// Whether the last command was lost by noise. A wrong key is answered by silence.
    private var isDisturbed = false
    private var memory = TagMemory(unitSize: size, limit: 256)
    private var layout: TLVLayout?
    private var lost: TagError?

    /// Creates a card that was just activated.
    ///
    /// - Parameters:
    ///   - target: the card's data from activation.
    ///   - link: the link to the card.
    ///   - keys: keys of six bytes to try, before ``publicKeys``.
    public init(target: NFCATarget, link: any FrameLink, keys: [[UInt8]] = []) {
        precondition(keys.allSatisfy { $0.count == 6 }, "a key of MIFARE Classic has 6 bytes")
        (self.target, self.link) = (target, link)
        candidates = keys + Self.publicKeys.filter { !keys.contains($0) }
    }

    /// The number of sectors, by the SAK.
    package var sectorCount: Int {
        switch target.sak {
        case 0x09: 5
        case 0x18, 0x98, 0x38: 40
        case 0x19: 32
        default: 16
        }
    }

    package var blockCount: Int { ClassicProduct.trailer(ofSector: sectorCount - 1) + 1 }

    public func wasActivated() {
        forgetSelection()
        (isActive, lost) = (true, nil)
    }

    public func forgetMemory() {
        memory = TagMemory(unitSize: Self.size, limit: 256)
        layout = nil
    }

    public func isPresent() async -> Bool {
        forgetSelection()
        return (try? await activate()) != nil
    }

    // MARK: NDEF

    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: try await grantsWriting(ndefSectors()[0]))
    }

    public func readNDEF() async throws(TagError) -> [UInt8] {
        let addresses = try await locate().messageAddresses
        for address in addresses { _ = try await readRequired(address / Self.size) }
        return addresses.compactMap { memory[byte: $0] }
    }

    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(isForWriting: true)
        guard try await grantsWriting(ndefSectors()[0]) else { throw TagError(.readOnly, "The card is read-only.") }
        try layout.checkCapacity(for: message)
        let plan = TLVWritePlan(message, layout: layout, unitSize: Self.size)
        for block in plan.unitsToPreserve { _ = try await readRequired(block) }
        for block in plan.units { _ = try await slot(toWrite: block) }
        for step in plan.steps(memory) { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Makes the sectors of the message, and then those of the directory, permanently read-only (NXP AN1305, 6.4). The
    /// keys stay.
    public func lock() async throws(TagError) {
        for (sector, trailer) in try await lockedTrailers() { try await writeTrailer(trailer, ofSector: sector) }
    }

    public func checkLocking() async throws(TagError) { _ = try await lockedTrailers() }

    private func lockedTrailers() async throws(TagError) -> [(Int, [UInt8])] {
        let sectors = try await ndefSectors().reversed() + (sectorCount > 16 ? [16, 0] : [0])
        let (isOpen, first) = (try await grantsWriting(ndefSectors()[0]), try await access(ofSector: 0))
        if !isOpen, first == .readOnly { throw TagError.alreadyReadOnly }
        var trailers: [(Int, [UInt8])] = []
        for sector in sectors where try await access(ofSector: sector) != .readOnly {
            let mark = try await generalPurposeByte(ofSector: sector)
            // The read and write access in the last bits: read by all, written by none.
            let new = try await trailer(
                ofSector: sector,
                access: .readOnly,
                mark: [0, 16].contains(sector) ? mark : mark | 0x03
            )
            _ = try await slot(toWrite: ClassicProduct.trailer(ofSector: sector))
            trailers.append((sector, new))
        }
        return trailers
    }

    /// Gives all sectors of a card with known keys to NDEF. Sectors keep their key B. A formatted card stays unchanged.
    ///
    /// The last block of sector 0, which says that there is a directory, is written last.
    public func format() async throws(TagError) {
        if (try? await locate()) != nil { return }
        var blocks: [(block: Int, bytes: [UInt8])] = [(4, [0x03, 0x00, 0xFE] + [UInt8](repeating: 0, count: 13))]
        let directories = sectorCount > 16 ? [16, 0] : [0]
        let directory = (1..<sectorCount).filter { $0 != 16 }
        for sector in directories {
            let (first, size) = sector == 16 ? (64, 3 * Self.size) : (1, 2 * Self.size)
            var bytes: [UInt8] = [0x00, 0x01]
            for listed in directory where (listed > 16) == (sector == 16) { bytes += Self.ndefApplication }
            bytes += [UInt8](repeating: 0, count: size - bytes.count)
            bytes[0] = Self.checksum(bytes.dropFirst())
            for start in stride(from: 0, to: size, by: Self.size) {
                blocks.append((first + start / Self.size, Array(bytes[start..<start + Self.size])))
            }
        }
        var trailers: [(Int, [UInt8])] = []
        for sector in directory + directories {
            let isDirectory = directories.contains(sector)
            let new = try await trailer(
                ofSector: sector,
                keyA: isDirectory ? ClassicProduct.directoryKey : ClassicProduct.ndefKey,
                access: isDirectory ? .writeWithB : .readWrite,
                mark: isDirectory ? (sectorCount > 16 ? 0xC2 : 0xC1) : 0x40
            )
            if try await !hasTrailer(new, sector) {
                _ = try await slot(toWrite: ClassicProduct.trailer(ofSector: sector))
                trailers.append((sector, new))
            }
        }
        for (block, bytes) in blocks where try await read(block) != bytes { _ = try await slot(toWrite: block) }
        for (block, bytes) in blocks where try await read(block) != bytes { try await write(bytes, to: block) }
        for (sector, trailer) in trailers { try await writeTrailer(trailer, ofSector: sector) }
    }

    /// Finds the NDEF message TLV in the sectors of the NFC Forum. Blocks in between don't count.
    private func locate(isForWriting: Bool = false) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        let sectors = try await ndefSectors()
        let mark = try await generalPurposeByte(ofSector: sectors[0])
        guard mark >> 6 == 1 else { throw .badVersion(mark >> 6, mark >> 4 & 0x03, "NXP AN1305, 5.3") }
        let blocks = sectors.map { ClassicProduct.blocks(ofSector: $0).dropLast() }
        let ends = blocks.map { ($0.first ?? 0) * Self.size..<(($0.last ?? 0) + 1) * Self.size }
        var walk = TLVWalk(
            area: ends[0].lowerBound..<ends[ends.count - 1].upperBound,
            reserved: zip(ends, ends.dropFirst()).map { $0.upperBound..<$1.lowerBound },
            hasControls: false,
            specification: "NXP AN1305, 5.2",
            isForWriting: isForWriting
        )
        while true {
            switch try walk.advance(in: memory) {
            case .found(let found):
                if !found.isBroken { layout = found }
                return found
            case .read(let address): _ = try await readRequired(address / Self.size)
            }
        }
    }

    /// Reads a block that a known key must open.
    package func readRequired(_ block: Int) async throws(TagError) -> [UInt8] {
        guard block < blockCount else { throw TagError(.unsupported, "The card has \(blockCount) blocks.") }
        if let bytes = try await read(block) { return bytes }
        throw TagError(.readProtected, keyNeeded("Block \(block) can't be read").reason)
    }

    /// Whether the first sector of the message grants writing, in its byte for that and in its access conditions.
    private func grantsWriting(_ sector: Int) async throws(TagError) -> Bool {
        let block = ClassicProduct.blocks(ofSector: sector).lowerBound
        guard try await generalPurposeByte(ofSector: sector) & 0x03 == 0,
            let access = try await access(ofSector: sector)
        else { return false }
        return !access.keys(for: .write, ofBlock: block).isEmpty
    }

    /// The sectors of the first run that the directory gives to the NFC Forum.
    private func ndefSectors() async throws(TagError) -> [Int] {
        let directory = try await readDirectory()
        let marked = directory.keys.filter { directory[$0] == Self.ndefApplication }.sorted()
        guard let first = marked.first else {
            throw TagError(.noCapabilityContainer, "The card's directory gives no sector to NDEF (NXP AN1305, 4).")
        }
        // Sector 16 has the second half of the directory.
        return zip(marked, (first..<sectorCount).lazy.filter { $0 != 16 }).prefix { $0 == $1 }.map(\.0)
    }

    /// Reads the application directory (NXP AN10787): two bytes for each sector after the first.
    ///
    /// - Throws: ``TagError`` with `noCapabilityContainer` when there is none, and `badChecksum`.
    package func readDirectory() async throws(TagError) -> [Int: [UInt8]] {
        let none = TagError(.noCapabilityContainer, "The card has no application directory, so it has no NDEF.")
        guard let mark = try await read(3)?[9] else {
            throw TagError(.readProtected, "No known key opens the card's application directory.")
        }
        guard mark & 0x80 != 0 else { throw none }
        var directory: [Int: [UInt8]] = [:]
        for (blocks, first) in [(1...2, 1), (64...66, 17)] where first == 1 || mark & 0x03 == 2 && sectorCount > 16 {
            var bytes: [UInt8] = []
            for block in blocks {
                guard let part = try await read(block) else { throw none }
                bytes += part
            }
            guard Self.checksum(bytes.dropFirst()) == bytes[0] else {
                throw TagError(.badChecksum, "The checksum of the application directory is wrong (NXP AN10787, 3.7).")
            }
            for index in 0..<bytes.count / 2 - 1 where first + index < sectorCount {
                directory[first + index] = Array(bytes[2 + 2 * index..<4 + 2 * index])
            }
        }
        return directory
    }

    /// Throws `noCapabilityContainer` when the card was never formatted, so that a copied message could not be read.
    package func checkFormat() async throws(TagError) {
        do throws(TagError) { _ = try await readDirectory() } catch {
            if error.code == .noCapabilityContainer { throw error }
        }
    }

    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0xC7) { checksum, byte in
            (0..<8).reduce(checksum ^ byte) { value, _ in value & 0x80 != 0 ? value << 1 ^ 0x1D : value << 1 }
        }
    }

    // MARK: Blocks

    /// Reads a block; nil if no known key may. The last block of a sector has zeros for the keys that can't be read.
    package func read(_ block: Int) async throws(TagError) -> [UInt8]? {
        if let known = memory[unit: block] { return known }
        for isB in [false, true] {
            let slot = Slot(ClassicProduct.sector(of: block), isB: isB)
            guard let answer = try await perform([0x30, UInt8(block)], with: slot), answer.bytes.count == Self.size
            else { continue }
            memory.store(answer.bytes, at: block)
            return answer.bytes
        }
        return nil
    }

    /// Writes a block of data.
    ///
    /// - Throws: ``TagError`` with `keyNeeded`, `readOnly` or `updateFailed`.
    package func write(_ bytes: [UInt8], to block: Int) async throws(TagError) {
        let slot = try await slot(toWrite: block)
        memory.forget(block)
        layout = nil
        guard try await perform([0xA0, UInt8(block)] + bytes, with: slot) != nil else {
            let reason = "The card refuses to write block \(block)."
            throw block == 0
                ? TagError(.readOnly, reason + " Only some copies of such cards allow it.")
                : TagError(.updateFailed, reason)
        }
        if ClassicProduct.sector(ofTrailer: block) == nil { memory.store(bytes, at: block) }
    }

    /// Adds to a value, or subtracts from it. The result is read back.
    package func add(_ amount: Int32, to block: Int) async throws(TagError) {
        guard let old = try await read(block).flatMap({ ClassicValue($0) }) else {
            throw TagError(.unsupported, "Block \(block) has no value.")
        }
        let (sum, overflow) = old.amount.addingReportingOverflow(amount)
        guard !overflow else { throw TagError(.unsupported, "A value has 32 bits; the sum does not fit.") }
        let right = amount < 0 ? ClassicAccess.Right.decrement : .increment
        let keys = try await access(ofSector: ClassicProduct.sector(of: block))?.keys(for: right, ofBlock: block)
        let slot = try await slot(for: keys ?? [], block, "changed")
        let operand = [UInt8](littleEndian: Int(amount.magnitude), count: 4)
        memory.forget(block)
        guard try await perform([amount < 0 ? 0xC0 : 0xC1, UInt8(block)] + operand, with: slot) != nil else {
            throw TagError(.updateFailed, "The card refuses to change the value of block \(block).")
        }
        _ = try await send([0xB0, UInt8(block)])
        guard try await read(block).flatMap({ ClassicValue($0) })?.amount == sum else {
            throw TagError(.updateFailed, "The value of block \(block) did not change. Read it, and try again.")
        }
    }

    // MARK: Keys

    /// The key that opens a slot; nil if no known key does.
    package func key(_ slot: Slot) async throws(TagError) -> [UInt8]? {
        try await authenticate(slot) ? keys[slot] ?? nil : nil
    }

    /// The access conditions of a sector; nil if it can't be read, or its bits are wrong.
    package func access(ofSector sector: Int) async throws(TagError) -> ClassicAccess? {
        try await read(ClassicProduct.trailer(ofSector: sector)).flatMap { ClassicAccess($0[6..<9]) }
    }

    /// Returns the last block of a sector with all its keys, and some of them or its access conditions replaced.
    ///
    /// - Throws: ``TagError`` with `keyNeeded` when a key that stays is unknown.
    package func trailer(
        ofSector sector: Int,
        keyA: [UInt8]? = nil,
        access: ClassicAccess? = nil,
        keyB: [UInt8]? = nil,
        mark: UInt8? = nil
    ) async throws(TagError) -> [UInt8] {
        let read = try await readRequired(ClassicProduct.trailer(ofSector: sector))
        guard let present = ClassicAccess(read[6..<9]) else { throw keyNeeded("Sector \(sector) can't be read") }
        let readB = present.isKeyBReadable ? Array(read[10...]) : nil
        let newA: [UInt8]
        let newB: [UInt8]
        if let keyA { newA = keyA } else { newA = try await knownKey(Slot(sector, isB: false)) }
        if let known = keyB ?? readB { newB = known } else { newB = try await knownKey(Slot(sector, isB: true)) }
        return newA + (access ?? present).bytes + [mark ?? read[9]] + newB
    }

    private func knownKey(_ slot: Slot) async throws(TagError) -> [UInt8] {
        if let key = try await key(slot) { return key }
        throw keyNeeded("\(slot.name) stays, and can't be written again")
    }

    /// The byte after the access conditions of a sector: what the sector is used for (NXP AN10787, 3.2; AN1305, 5.3).
    private func generalPurposeByte(ofSector sector: Int) async throws(TagError) -> UInt8 {
        try await readRequired(ClassicProduct.trailer(ofSector: sector))[9]
    }

    /// Writes the last block of a sector, and proves that its key A opens it.
    package func writeTrailer(_ bytes: [UInt8], ofSector sector: Int) async throws(TagError) {
        guard let access = ClassicAccess(bytes[6..<9]) else {
            throw TagError(.unsupported, "These access conditions would make sector \(sector) useless for good.")
        }
        let (slot, block) = (Slot(sector, isB: false), ClassicProduct.trailer(ofSector: sector))
        var failure: TagError?
        do throws(TagError) {
            try await write(bytes, to: block)
        } catch {
            // Perhaps only the answer was lost. Then the sector has the new keys.
            guard [.badAnswer, .updateFailed].contains(error.code) else { throw error }
            failure = error
        }
        memory.forget(block)
        let key = Array(bytes[..<6])
        guard try await opens(slot, key) else {
            let reason = "Sector \(sector) does not open with its new key A. Write it again."
            throw failure ?? TagError(.updateFailed, reason)
        }
        keys[slot] = key
        keys.removeValue(forKey: Slot(sector, isB: true))
        if !access.isKeyBReadable { keys[Slot(sector, isB: true)] = Array(bytes[10...]) }
        if let failure, try await read(block).map({ Array($0[6..<10]) }) != Array(bytes[6..<10]) { throw failure }
    }

    private func hasTrailer(_ bytes: [UInt8], _ sector: Int) async throws(TagError) -> Bool {
        let key = try await key(Slot(sector, isB: false))
        let present = try await read(ClassicProduct.trailer(ofSector: sector))
        return key == Array(bytes[..<6]) && present.map { Array($0[6..<10]) } == Array(bytes[6..<10])
    }

    /// Returns the slot that may write a block, or all parts of the last block of a sector.
    package func slot(toWrite block: Int) async throws(TagError) -> Slot {
        let sector = ClassicProduct.sector(of: block)
        guard let access = try await access(ofSector: sector) else { throw keyNeeded("Sector \(sector) can't be read") }
        guard ClassicProduct.sector(ofTrailer: block) != nil else {
            return try await slot(for: access.keys(for: .write, ofBlock: block), block, "written")
        }
        let keys = access.keys(for: .writeKeyA).intersection(access.keys(for: .writeAccess))
        return try await slot(for: keys, block, "written")
    }

    private func slot(for keys: ClassicAccess.Keys, _ block: Int, _ purpose: String) async throws(TagError) -> Slot {
        let sector = ClassicProduct.sector(of: block)
        guard !keys.isEmpty else {
            let reason =
                "Block \(block) can't be \(purpose): the access conditions of sector \(sector) allow it to no key."
            throw TagError(.readOnly, reason)
        }
        for (key, isB) in [(ClassicAccess.Keys.a, false), (.b, true)] where keys.contains(key) {
            if try await authenticate(Slot(sector, isB: isB)) { return Slot(sector, isB: isB) }
        }
        let name = keys == .both ? "key A or B" : keys == .a ? "key A" : "key B"
        throw keyNeeded("Block \(block) can't be \(purpose)", " It needs \(name) of sector \(sector).")
    }

    private func keyNeeded(_ what: String, _ more: String = "") -> TagError {
        TagError(.keyNeeded, "\(what) with the keys that were tried.\(more)")
    }

    private func authenticate(_ slot: Slot) async throws(TagError) -> Bool {
        if current == slot { return true }
        if let known = keys[slot] {
            guard let known else { return false }
            for _ in 0..<Self.attempts where try await opens(slot, known) { return true }
            throw TagError(.badAnswer, "\(slot.name) does not open it any more.")
        }
        // Most cards have few keys, so keys that opened a sector come first.
        let proven = candidates.filter { keys.values.contains($0) }
        for key in proven + candidates.filter({ !proven.contains($0) }) where try await opens(slot, key) {
            keys[slot] = key
            return true
        }
        keys[slot] = .some(nil)
        return false
    }

    private func opens(_ slot: Slot, _ key: [UInt8]) async throws(TagError) -> Bool {
        let block = UInt8(ClassicProduct.blocks(ofSector: slot.sector).lowerBound)
        current = nil
        for _ in 0..<Self.attempts {
            if try await send([slot.isB ? 0x61 : 0x60, block] + key + target.uid.suffix(4))?.nibble == 0xA {
                current = slot
                return true
            }
            // Only noise says nothing about the key.
            guard isDisturbed else { return false }
        }
        return false
    }

    // MARK: Exchanges

    /// Sends a command in an authenticated sector, and again after noise. Nil if the key is unknown or the card refuses.
    private func perform(_ command: [UInt8], with slot: Slot) async throws(TagError) -> Frame? {
        for _ in 0..<Self.attempts {
            guard try await authenticate(slot) else { return nil }
            if let answer = try await send(command) { return answer.nibble ?? 0xA == 0xA ? answer : nil }
        }
        return nil
    }

    /// Sends a command; nil if the card is silent, as after a wrong key.
    private func send(_ command: [UInt8]) async throws(TagError) -> Frame? {
        if let lost { throw lost }
        try await activate()
        isDisturbed = false
        do throws(LinkError) {
            let answer =
                link.authenticatesClassic
                ? try await link.transceive(Frame(command), timeout: .milliseconds(20))
                : try await commands.execute(command, over: link)
            if answer.nibble ?? 0xA != 0xA { forgetSelection() }
            return answer
        } catch {
            forgetSelection()
            isDisturbed = error.code != .timeout
            if let failure = TagError(fatal: error) { throw failure.remembered(in: &lost) }
            try await activate()
            return nil
        }
    }

    private func forgetSelection() {
        (isActive, current) = (false, nil)
        commands.wasActivated()
    }

    private func activate() async throws(TagError) {
        guard !isActive else { return }
        do throws(TagError) {
            try await NFCAActivation(link: link).reactivate(target)
        } catch {
            throw error.remembered(in: &lost)
        }
        isActive = true
    }
}

extension MIFAREClassic: DataMemoryTag {
    /// The keys and access conditions stay, and with `empty` also the directory.
    package func writes(for content: DataContent) async throws(TagError) -> [UnitWrite] {
        guard content != .blank else {
            throw TagError(.unsupported, "The keys and the directory of a MIFARE Classic can't be removed so.")
        }
        let first = (try? await ndefSectors()[0]).map { ClassicProduct.blocks(ofSector: $0).lowerBound }
        var old: [UInt8] = []
        for block in 0..<blockCount { old += try await readRequired(block) }
        if case .dump(let dump, _) = content, dump.count != old.count { throw DataReplacement.misfit(dump, old) }
        let start = (first ?? 1) * Self.size
        var change = DataReplacement(old: old, new: old, unitSize: Self.size, dataStart: start)
        let directory = content == .empty && first != nil ? [1, 2, 64, 65, 66] : []
        for block in 1..<blockCount where ClassicProduct.sector(ofTrailer: block) == nil && !directory.contains(block) {
            let start: [UInt8] = block == first ? [0x03, 0x00, 0xFE] : []
            change.replace(block * Self.size..<(block + 1) * Self.size, with: content, start: start)
        }
        for block in change.units { _ = try await slot(toWrite: block) }
        return change.writes
    }

    package func perform(_ write: UnitWrite) async throws(TagError) { try await self.write(write.new, to: write.unit) }
}
