// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type5Chip {
    /// READ SINGLE and READ MULTIPLE. With the option flag, each block is preceded by its security status.
    func readBlocks(_ first: Int, count: Int, withSecurity: Bool) throws(Type5Error) -> Type5Reply {
        guard first + count <= product.blockCount else { throw .notAvailable }
        if let limit = product.readLimit, count > limit { throw .unknown }
        try checkReading(first..<(first + count))
        var data: [UInt8] = []
        data.reserveCapacity(count * (product.blockSize + 1))
        for block in first..<(first + count) {
            if withSecurity { data.append(securityStatus(of: block)) }
            data += bytes(of: block)
        }
        return Type5Reply(data)
    }

    private func bytes(of block: Int) -> [UInt8] {
        guard block < product.dataBlockCount else { return contents.counterBlock }
        let start = block * product.blockSize
        return Array(contents.memory[start..<(start + product.blockSize)])
    }

    /// WRITE SINGLE and WRITE MULTIPLE.
    mutating func writeBlocks(_ first: Int, count: Int, _ data: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard data.count == count * product.blockSize else { throw .notRecognised }
        guard count <= max(1, product.writeLimit) else { throw .unknown }
        if let telegram = try writeTelegram(first, data) { return telegram }
        guard first + count <= product.blockCount else { throw .notAvailable }
        for block in first..<(first + count) where contents.lockedBlocks.contains(block) { throw .locked }
        if first + count > product.dataBlockCount {
            guard count == 1 else { throw .notAvailable }
            return try writeCounter(data)
        }
        try checkWriting(first..<(first + count))
        countWrite()
        contents.memory.program(data, at: first * product.blockSize, tear: tear, unit: product.blockSize)
        return Type5Reply(programmedBlocks: count)
    }

    /// The counter of ICODE SLIX2. Writing 0001 increments it, and may need the read password. Any other value presets
    /// it, needs the write password, and sets whether counting is protected (SL2S2602 data sheet, 9.5.3.21). Refusing
    /// the write at the maximum is a guess.
    private mutating func writeCounter(_ data: [UInt8]) throws(Type5Error) -> Type5Reply {
        let value = UInt16(high: data[1], low: data[0])
        if value == 1 {
            guard !contents.protection.isCounterProtected || presentedPasswords.contains(0x01) else { throw .unknown }
            guard contents.counter < 0xFFFF else { throw .unknown }
            contents.counter += 1
        } else {
            guard presentedPasswords.contains(0x02) else { throw .unknown }
            contents.counter = value
            contents.protection.isCounterProtected = data[3] & 0x01 != 0
        }
        return .programmed
    }

    /// LOCK BLOCK. ST25DV products only lock the capability container.
    mutating func lockBlock(_ block: Int) throws(Type5Error) -> Type5Reply {
        let limit = product.features.contains(.locksFirstBlocksOnly) ? 2 : product.dataBlockCount
        guard block < limit else { throw .notAvailable }
        guard !contents.lockedBlocks.contains(block) else { throw .alreadyLocked }
        try checkWriting(block..<(block + 1))
        contents.lockedBlocks.insert(block)
        return .programmed
    }

    /// GET MULTIPLE BLOCK SECURITY STATUS.
    func blockSecurity(_ first: Int, count: Int) throws(Type5Error) -> Type5Reply {
        guard first + count <= product.blockCount else { throw .notAvailable }
        return Type5Reply((first..<(first + count)).map { securityStatus(of: $0) })
    }

    // MARK: Identifiers

    /// WRITE AFI and WRITE DSFID.
    mutating func writeIdentifier(_ value: UInt8, isFamily: Bool) throws(Type5Error) -> Type5Reply {
        guard !(isFamily ? contents.isAFILocked : contents.isDSFIDLocked) else { throw .locked }
        if isFamily { try checkFamily() }
        if isFamily { contents.afi = value } else { contents.dsfid = value }
        return .programmed
    }

    /// LOCK AFI and LOCK DSFID.
    mutating func lockIdentifier(isFamily: Bool) throws(Type5Error) -> Type5Reply {
        guard !(isFamily ? contents.isAFILocked : contents.isDSFIDLocked) else { throw .alreadyLocked }
        if isFamily { try checkFamily() }
        if isFamily { contents.isAFILocked = true } else { contents.isDSFIDLocked = true }
        return .programmed
    }

    /// GET SYSTEM INFORMATION. The size is omitted if it is unknown or does not fit into one byte.
    func systemInformation() -> Type5Reply {
        let includesSize = (1...256).contains(product.blockCount)
        var data: [UInt8] = [includesSize ? 0x0F : 0x0B] + address + [contents.dsfid, contents.afi]
        if includesSize { data += [UInt8(product.blockCount - 1), UInt8(product.blockSize - 1)] }
        return Type5Reply(data + [product.icReference])
    }

    /// EXTENDED GET SYSTEM INFORMATION: the requested fields (ISO/IEC 15693-3:2019, 10.4.17).
    func extendedSystemInformation(_ requested: UInt8) -> Type5Reply {
        var information: UInt8 = requested & (product.blockCount > 0 ? 0x2F : 0x2B)
        if requested & 0x10 != 0, product.blockCount > 256 { information |= 0x10 }
        var data = [information] + address
        if information & 0x01 != 0 { data.append(contents.dsfid) }
        if information & 0x02 != 0 { data.append(contents.afi) }
        if information & 0x04 != 0 {
            let last = product.blockCount - 1
            data += [UInt8(last & 0xFF), UInt8(last >> 8), UInt8(product.blockSize - 1)]
        }
        if information & 0x08 != 0 { data.append(product.icReference) }
        // The command list: all basic and extended commands of the standard, except the secure ones.
        if information & 0x20 != 0 { data += [0xFF, 0x3F, 0x3F, 0x00] }
        return Type5Reply(data)
    }
}

/// The checks of protected memory: the pages of ICODE SLIX2, the areas of ST25TV and ST25DV.
extension Type5Chip {
    /// Throws if reading one of the blocks needs a missing password.
    func checkReading(_ blocks: Range<Int>) throws(Type5Error) {
        if product.features.contains(.pages) {
            for block in blocks where needsReadPassword(block) {
                guard wasGiven(0x01) else { throw .unknown }
            }
        }
        for block in blocks where !area(of: block).isReadable { throw .readProtected }
    }

    /// Throws if writing one of the blocks needs a missing password or is impossible.
    func checkWriting(_ blocks: Range<Int>) throws(Type5Error) {
        if product.features.contains(.pages) {
            for block in blocks {
                // A page that only the read password protects also needs it for writing (SL2 ICS53 data sheet, table
                // 24, which lists the same four states).
                if needsWritePassword(block) {
                    guard wasGiven(0x02) else { throw .unknown }
                } else if needsReadPassword(block) {
                    guard wasGiven(0x01) else { throw .unknown }
                }
            }
        }
        for block in blocks where !area(of: block).isWritable { throw .locked }
    }

    /// Returns a block's security status: 1 if it can't be written. On ST25DV this includes the area's protection.
    func securityStatus(of block: Int) -> UInt8 {
        let isClosed = product.features.contains(.configuration) && !area(of: block).isWritable
        return contents.lockedBlocks.contains(block) || isClosed ? 0x01 : 0x00
    }

    // MARK: ICODE

    /// Returns whether this memory password was given; or both, if they form a 64-bit password.
    private func wasGiven(_ identifier: UInt8) -> Bool {
        contents.protection.needsBothPasswords
            ? presentedPasswords.isSuperset(of: [0x01, 0x02]) : presentedPasswords.contains(identifier)
    }

    private func needsReadPassword(_ block: Int) -> Bool {
        guard block < product.dataBlockCount else { return false }
        let isHigh = block >= Int(contents.protection.pointer)
        return contents.protection.condition.contains(isHigh ? .readHigh : .readLow)
    }

    private func needsWritePassword(_ block: Int) -> Bool {
        guard block < product.dataBlockCount else { return false }
        let isHigh = block >= Int(contents.protection.pointer)
        return contents.protection.condition.contains(isHigh ? .writeHigh : .writeLow)
    }

    // MARK: ST25

    private struct Access {
        var isReadable = true
        var isWritable = true

        /// Creates the access given by two bits of a register. 00: everything. 01: reading; writing with the password.
        /// 10: both with the password. 11: only reading, with the password.
        init(_ protection: UInt8, isOpen: Bool) {
            switch protection {
            case 0: break
            case 1: isWritable = isOpen
            case 2: (isReadable, isWritable) = (isOpen, isOpen)
            default: (isReadable, isWritable) = (isOpen, false)
            }
        }
    }

    private func area(of block: Int) -> Access {
        let registers = contents.settings.registers
        if product.features.contains(.configuration) {
            let area = areaIndex(of: block)
            let register = registers[4 + area * 2]
            let password = register & 0x03
            var access = Access(register >> 2 & 0x03, isOpen: password != 0 && session == password)
            // Area 1 contains the capability container, so it is always readable.
            if area == 0 { access.isReadable = true }
            return access
        }
        if product.features.contains(.tagConfiguration) {
            // Block 0, which contains the container, is outside the protected areas.
            guard block > 0 else { return Access(0, isOpen: true) }
            let isSecond = hasTwoAreas && block >= product.blockCount / 2
            return Access(registers[isSecond ? 1 : 0] & 0x03, isOpen: session == (isSecond ? 2 : 1))
        }
        return Access(0, isOpen: true)
    }

    /// Whether the memory of ST25TV has two halves: bit 2 of the first register. Which value means two areas is a guess
    /// (ST's software development kit and excerpts of DS12074 do not specify it). A new tag has one area.
    var hasTwoAreas: Bool { contents.settings.registers[0] & 0x04 != 0 }

    /// Returns the area of ST25DV that contains a block, starting at 0. ENDA1 to ENDA3 count units of 32 bytes.
    func areaIndex(of block: Int) -> Int {
        let unit = block * product.blockSize / 32
        return (0..<3).first { unit <= Int(contents.settings.registers[5 + $0 * 2]) } ?? 3
    }
}
