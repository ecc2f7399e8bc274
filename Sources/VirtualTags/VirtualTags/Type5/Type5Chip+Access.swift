// SPDX-License-Identifier: Apache-2.0

/// What passwords protect: the pages of ICODE SLIX2, the areas of ST25TV and ST25DV.
extension Type5Chip {
    /// Throws if reading one of the blocks needs a password that was not given.
    func checkReading(_ blocks: Range<Int>) throws(Type5Error) {
        if product.features.contains(.pages) {
            for block in blocks where needsReadPassword(block) {
                guard wasGiven(0x01) else { throw .unknown }
            }
        }
        for block in blocks where !area(of: block).isReadable { throw .readProtected }
    }

    /// Throws if writing one of the blocks needs a password that was not given, or is not possible at all.
    func checkWriting(_ blocks: Range<Int>) throws(Type5Error) {
        if product.features.contains(.pages) {
            for block in blocks {
                // Writing to a page that only the read password protects needs the read password (SL2 ICS53 data sheet,
                // table 24, which lists the same four states).
                if needsWritePassword(block) {
                    guard wasGiven(0x02) else { throw .unknown }
                } else if needsReadPassword(block) {
                    guard wasGiven(0x01) else { throw .unknown }
                }
            }
        }
        for block in blocks where !area(of: block).isWritable { throw .locked }
    }

    /// Returns a block's security status: whether it can't be written. On ST25DV this includes the area's protection.
    func securityStatus(of block: Int) -> UInt8 {
        let isClosed = product.features.contains(.configuration) && !area(of: block).isWritable
        return contents.lockedBlocks.contains(block) || isClosed ? 0x01 : 0x00
    }

    // MARK: ICODE

    /// Returns whether one of the passwords for the memory was given; or both of them, if they form one of 64 bits.
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

    /// The current rights in an area.
    private struct Access {
        var isReadable = true
        var isWritable = true

        /// From the two bits of a register: 00 everything; 01 reading, and writing with the password; 10 everything
        /// with the password; 11 only reading, with the password.
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
            // Area 1 contains the capability container, and is always readable.
            if area == 0 { access.isReadable = true }
            return access
        }
        if product.features.contains(.tagConfiguration) {
            // Block 0, with the container, is outside the protected areas.
            guard block > 0 else { return Access(0, isOpen: true) }
            let isSecond = hasTwoAreas && block >= product.blockCount / 2
            return Access(registers[isSecond ? 1 : 0] & 0x03, isOpen: session == (isSecond ? 2 : 1))
        }
        return Access(0, isOpen: true)
    }

    /// Whether the memory of ST25TV has two halves: bit 2 of the first register. None of the available sources (ST's
    /// software development kit, excerpts of DS12074) says which value means two areas. A new tag has one area.
    var hasTwoAreas: Bool { contents.settings.registers[0] & 0x04 != 0 }

    /// Returns the area of ST25DV that contains a block, starting at 0. ENDA1 to ENDA3 count units of 32 bytes.
    func areaIndex(of block: Int) -> Int {
        let unit = block * product.blockSize / 32
        return (0..<3).first { unit <= Int(contents.settings.registers[5 + $0 * 2]) } ?? 3
    }
}
