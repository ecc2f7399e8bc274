// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type5Chip {
    /// READ SINGLE and READ MULTIPLE. With the option flag, each block follows its security status.
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

    /// The counter of ICODE SLIX2. Writing 0001 increments it, after the read password if that is required. Any other
    /// value presets it, after the write password, and sets whether counting is protected (SL2S2602 data sheet,
    /// 9.5.3.21). The available excerpts do not say what happens at the maximum; here the write is refused.
    private mutating func writeCounter(_ data: [UInt8]) throws(Type5Error) -> Type5Reply {
        let value = UInt16(high: data[1], low: data[0])
        if value == 1 {
            guard !contents.protection.isCounterProtected || presentedPasswords.contains(0x01) else { throw .unknown }
            guard contents.counter < 0xFFFF else { throw .unknown }
            if tear != .old { contents.counter += 1 }
        } else {
            guard presentedPasswords.contains(0x02) else { throw .unknown }
            if tear != .old {
                contents.counter = value
                contents.protection.isCounterProtected = data[3] & 0x01 != 0
            }
        }
        return Type5Reply(programmedBlocks: 1)
    }

    /// LOCK BLOCK. ST25DV products only lock the capability container.
    mutating func lockBlock(_ block: Int) throws(Type5Error) -> Type5Reply {
        let limit = product.features.contains(.locksFirstBlocksOnly) ? 2 : product.dataBlockCount
        guard block < limit else { throw .notAvailable }
        guard !contents.lockedBlocks.contains(block) else { throw .alreadyLocked }
        try checkWriting(block..<(block + 1))
        if tear != .old { contents.lockedBlocks.insert(block) }
        return Type5Reply(programmedBlocks: 1)
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
        if tear != .old {
            if isFamily { contents.afi = value } else { contents.dsfid = value }
        }
        return Type5Reply(programmedBlocks: 1)
    }

    /// LOCK AFI and LOCK DSFID.
    mutating func lockIdentifier(isFamily: Bool) throws(Type5Error) -> Type5Reply {
        guard !(isFamily ? contents.isAFILocked : contents.isDSFIDLocked) else { throw .alreadyLocked }
        if isFamily { try checkFamily() }
        if tear != .old {
            if isFamily { contents.isAFILocked = true } else { contents.isDSFIDLocked = true }
        }
        return Type5Reply(programmedBlocks: 1)
    }

    /// GET SYSTEM INFORMATION. The size is left out if it does not fit into one byte.
    func systemInformation() -> Type5Reply {
        let saysSize = product.blockCount <= 256
        var data: [UInt8] = [saysSize ? 0x0F : 0x0B] + address + [contents.dsfid, contents.afi]
        if saysSize { data += [UInt8(product.blockCount - 1), UInt8(product.blockSize - 1)] }
        return Type5Reply(data + [product.icReference])
    }

    /// EXTENDED GET SYSTEM INFORMATION: the requested fields (ISO/IEC 15693-3:2019, 10.4.17).
    func extendedSystemInformation(_ requested: UInt8) -> Type5Reply {
        var information: UInt8 = requested & 0x2F
        if requested & 0x10 != 0, product.blockCount > 256 { information |= 0x10 }
        var data = [information] + address
        if information & 0x01 != 0 { data.append(contents.dsfid) }
        if information & 0x02 != 0 { data.append(contents.afi) }
        if information & 0x04 != 0 {
            let last = product.blockCount - 1
            data += [UInt8(last & 0xFF), UInt8(last >> 8), UInt8(product.blockSize - 1)]
        }
        if information & 0x08 != 0 { data.append(product.icReference) }
        // The list of commands: all of the standard's basic and extended ones, except the secure ones.
        if information & 0x20 != 0 { data += [0xFF, 0x3F, 0x3F, 0x00] }
        return Type5Reply(data)
    }
}
