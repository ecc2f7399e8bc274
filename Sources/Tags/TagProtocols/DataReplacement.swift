// SPDX-License-Identifier: Apache-2.0
import TagProducts

/// What the data memory of a tag is replaced with.
package enum DataContent: Sendable, Hashable {
    /// The data in the memory of a tag of the same product, starting at address 0. The units whose numbers are given keep their bytes.
    case dump([UInt8], without: Set<Int> = [])
    /// An empty message and zeros, or only zeros on a tag that is not formatted for NDEF.
    case empty
    /// Zeros, also in place of the capability container.
    case blank
}

/// One write of a whole unit: a byte or 8 bytes on Type 1, a page on Type 2, a block on Type 5.
package struct UnitWrite: Sendable, Hashable {
    package var unit: Int
    /// The bytes before the write.
    package var old: [UInt8]
    package var new: [UInt8]
}

/// A tag whose data can be replaced unit by unit: Types 1, 2 and 5. The identifier, lock bits and settings never change.
package protocol DataMemoryTag: ForumTag {
    /// Reads the memory, and returns the writes that replace its data, in order.
    ///
    /// While several units change, the first unit of the data holds an empty message, or on Topaz 96 none. So a tag that
    /// is lost in between has the old data, no message, or the new data, and the same writes complete it.
    ///
    /// - Returns: the writes; none if the tag already has the content.
    /// - Throws: ``TagError`` with `unsupported` when the product is unknown, the dump does not fit, or the one-time
    ///   programmable page 3 of a Type 2 tag prevents it; `readOnly`, `keyNeeded`, `readProtected`, `tagLost`. Up to
    ///   here nothing has changed.
    func writes(for content: DataContent) async throws(TagError) -> [UnitWrite]

    func perform(_ write: UnitWrite) async throws(TagError)
}

extension DataMemoryTag {
    /// Replaces the data, and reads it back. If the tag refuses a write, the units before it get their old bytes again.
    ///
    /// - Returns: what was written; nothing if the tag already had the content.
    /// - Throws: the errors of ``writes(for:)``, and `updateFailed` when the tag refuses a write or has other data
    ///   afterwards.
    @discardableResult
    package func replaceData(with content: DataContent) async throws(TagError) -> [UnitWrite] {
        let writes = try await writes(for: content)
        for (index, write) in writes.enumerated() {
            do throws(TagError) {
                try await perform(write)
            } catch {
                guard error.code == .updateFailed else { throw error }
                // As far as the tag lets; its first refusal is what is reported.
                for done in writes[..<index].reversed() {
                    do throws(TagError) {
                        try await perform(UnitWrite(unit: done.unit, old: done.new, new: done.old))
                    } catch { break }
                }
                throw error
            }
        }
        forgetMemory()
        guard try await self.writes(for: content).isEmpty else {
            throw TagError(.updateFailed, "The tag does not contain the written data. Write it again.")
        }
        return writes
    }
}

/// The memory before and after a replacement, which differ only in the data and the capability container.
struct DataReplacement {
    var old: [UInt8]
    var new: [UInt8]
    var unitSize: Int
    /// The address of the first TLV, right after the capability container.
    var dataStart: Int

    var units: [Int] {
        (0..<min(old.count, new.count) / unitSize).filter { bytes(old, $0) != bytes(new, $0) }
    }

    /// The writes, in order: an empty message, all other units, and last the first unit of the data and the container.
    var writes: [UnitWrite] {
        let units = units
        let first = dataStart / unitSize
        let all = units.map { UnitWrite(unit: $0, old: bytes(old, $0), new: bytes(new, $0)) }
        guard units.count > 1 else { return all }
        var emptied = bytes(new, first)
        let place = dataStart % unitSize
        // A unit of one byte has no room for an empty message, so it gets the terminator.
        let message: [UInt8] = unitSize == 1 ? [0xFE] : [0x03, 0x00, 0xFE]
        for index in place..<unitSize {
            emptied[index] = index - place < message.count ? message[index - place] : 0
        }
        let start = UnitWrite(unit: first, old: bytes(old, first), new: emptied)
        let end = UnitWrite(unit: first, old: emptied, new: bytes(new, first))
        return ([start] + all.filter { $0.unit > first } + [end] + all.filter { $0.unit < first }.reversed())
            .filter { $0.old != $0.new }
    }

    private func bytes(_ memory: [UInt8], _ unit: Int) -> [UInt8] {
        Array(memory[unit * unitSize..<(unit + 1) * unitSize])
    }

    /// Replaces the new data in a range: with those of a dump, as far as it has them, or with `start` and zeros.
    mutating func replace(_ range: Range<Int>, with content: DataContent, start: [UInt8] = []) {
        for address in range {
            switch content {
            case .dump(let memory, let unread):
                if address < memory.count, !unread.contains(address / unitSize) { new[address] = memory[address] }
            case .empty, .blank:
                let index = address - range.lowerBound
                new[address] = index < start.count ? start[index] : 0
            }
        }
    }

    static func misfit(_ dump: [UInt8], _ memory: [UInt8]) -> TagError {
        let reason = "The image has \(dump.count) bytes of memory, but the tag has \(memory.count)."
        return TagError(.unsupported, reason)
    }
}

extension Type1Tag: DataMemoryTag {
    package func writes(for content: DataContent) async throws(TagError) -> [UnitWrite] {
        try await prepare()
        guard let product = Type1Product.allCases.first(where: { $0.header[0] == target?.headerROM0 }),
            let old = try await readBytes(product.memorySize)
        else { throw TagError(.unsupported, "Only the data of Topaz 96 and Topaz 512 can be replaced.") }
        if case .dump(let dump, _) = content, dump.count != old.count { throw DataReplacement.misfit(dump, old) }
        let container = Type1CapabilityContainer.address..<Type1CapabilityContainer.address + 4
        if let present = try? Type1CapabilityContainer(Array(old[container])), !present.isWritable {
            throw Self.forbiddenByContainer
        }
        let isFormatted = old[container.lowerBound] == 0xE1
        var change = DataReplacement(old: old, new: old, unitSize: memory.unitSize, dataStart: container.upperBound)
        if content != .empty { change.replace(container, with: content) }
        // The access byte of a dump must not lock the tag.
        if change.new[container.lowerBound] == 0xE1 { change.new[container.upperBound - 1] &= 0xF0 }
        let start = content == .empty && isFormatted ? Array(product.factoryData.dropFirst(4)) : []
        change.replace(container.upperBound..<Type1CapabilityContainer.reserved.lowerBound, with: content, start: start)
        // Blocks D to F have the lock bits and reserved bytes (NFC Forum T1T 1.2, 2.1 and 2.2).
        if old.count > 128 { change.replace(128..<old.count, with: content) }
        if let unit = change.units.first(where: { isLocked(block: $0 * memory.unitSize / 8) }) {
            throw TagError(.readOnly, "Block \(unit * memory.unitSize / 8) is locked (NFC Forum T1T 1.2, 4.3).")
        }
        return change.writes
    }

    package func perform(_ write: UnitWrite) async throws(TagError) {
        try await self.write(write.new, to: write.unit)
    }
}

extension Type2Tag: DataMemoryTag {
    package func writes(for content: DataContent) async throws(TagError) -> [UnitWrite] {
        guard let product = try await product() else {
            throw TagError(.unsupported, "The tag's product is unknown, so its data can't be replaced.")
        }
        guard let old = try await readPages(product.endPage) else {
            throw TagError(.readProtected, "A part of the memory can be read only with the tag's password or key.")
        }
        // A dump of readable pages alone would leave the rest of its message as it is.
        if case .dump(let dump, _) = content, dump.count < old.count { throw DataReplacement.misfit(dump, old) }
        let container = Self.containerPage * Self.pageSize..<Self.dataAreaStart
        let present = Array(old[container])
        let isFormatted = present[0] == Type2CapabilityContainer.magicNumber
        if isFormatted, present[3] & 0x0F != 0 { throw Self.forbiddenByContainer }
        var change = DataReplacement(
            old: old,
            new: old,
            unitSize: Self.pageSize,
            dataStart: Self.dataAreaStart
        )
        if content == .blank, present != [0, 0, 0, 0] {
            throw TagError(.unsupported, "Page 3 of the tag can be programmed only once, so it can't be cleared.")
        }
        if case .dump(let dump, _) = content, dump[container.lowerBound] == Type2CapabilityContainer.magicNumber {
            // The access byte of a dump must not lock the tag.
            let wanted = dump[container].prefix(3) + [dump[container.upperBound - 1] & 0xF0]
            guard zip(present, wanted).allSatisfy({ $0 | $1 == $1 }) else {
                throw TagError(
                    .unsupported,
                    "Page 3 of the tag can be programmed only once, and holds another capability container than the image."
                )
            }
            change.new.replaceSubrange(container, with: wanted)
        }
        let start = content == .empty && isFormatted ? product.emptyMessage : []
        change.replace(Self.dataAreaStart..<old.count, with: content, start: start)
        try await checkLocks(change.units, of: product)
        return change.writes
    }

    package func perform(_ write: UnitWrite) async throws(TagError) {
        try await self.write(write.new, to: write.unit)
    }
}

extension Type5Tag: DataMemoryTag {
    package func writes(for content: DataContent) async throws(TagError) -> [UnitWrite] {
        try await fetch(0..<1)
        guard let size = try await readMemorySize() else {
            throw TagError(.unsupported, "The tag does not report the size of its memory (ISO/IEC 15693-3, 10.4.12).")
        }
        try await fetch(0..<size)
        let old = (0..<size).compactMap { memory[byte: $0] }
        if case .dump(let dump, _) = content, dump.count != old.count { throw DataReplacement.misfit(dump, old) }
        let present = try? Type5CapabilityContainer(Array(old.prefix(8)))
        if let present, !present.isWritable { throw Self.forbiddenByContainer }
        var change = DataReplacement(old: old, new: old, unitSize: blockSize, dataStart: present?.bytes.count ?? 4)
        if content == .empty, let present {
            change.replace(present.bytes.count..<old.count, with: content, start: [0x03, 0x00, 0xFE])
        } else {
            change.replace(0..<old.count, with: content)
        }
        if let container = try? Type5CapabilityContainer(Array(change.new.prefix(8))) {
            // The access bits of a dump must not lock the tag.
            change.new[1] &= ~0x03
            change.dataStart = min(container.bytes.count, present?.bytes.count ?? .max)
        }
        try await checkLocks(change.units)
        return change.writes
    }

    package func perform(_ write: UnitWrite) async throws(TagError) {
        needsAddress = true
        try await self.write(write.new, to: write.unit)
    }
}
