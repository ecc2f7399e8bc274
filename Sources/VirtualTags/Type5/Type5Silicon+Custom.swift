// SPDX-License-Identifier: Apache-2.0

extension Type5Silicon {
    /// The commands of a manufacturer.
    mutating func custom(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let parameters = request.parameters
        let features = product.features
        switch request.command {
        case 0xA0 where features.contains(.configuration):
            guard parameters.count == 1 else { throw .notRecognised }
            return Type5Reply([try configuration(parameters[0])])
        case 0xA2...0xA4 where features.contains(.surveillance):
            guard parameters.isEmpty else { throw .notRecognised }
            return try surveillance(request.command)
        case 0xAB where features.contains(.signature):
            guard parameters.isEmpty else { throw .notRecognised }
            return productInformation()
        case 0xBD where features.contains(.signature):
            guard parameters.isEmpty else { throw .notRecognised }
            return Type5Reply(contents.signature)
        case 0xB2 where features.contains(.passwords):
            guard parameters.isEmpty else { throw .notRecognised }
            challenge = UInt16(truncatingIfNeeded: random.next())
            return Type5Reply([UInt8(challenge & 0xFF), UInt8(challenge >> 8)])
        case 0xB3 where features.contains(.passwords):
            return try setPassword(parameters)
        case 0xB4 where features.contains(.passwords):
            return try writePassword(parameters)
        default:
            throw .notSupported
        }
    }

    // MARK: NXP

    /// SET PASSWORD: the password, each half combined with the random number. A wrong one mutes the tag until it loses
    /// its power (SL2S2602 data sheet, 8.5.3.10).
    private mutating func setPassword(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard parameters.count == 5 else { throw .notRecognised }
        guard let password = contents.passwords[parameters[0]] else { throw .unknown }
        let mask = UInt32(challenge) << 16 | UInt32(challenge)
        guard Self.word(parameters[1...]) ^ mask == password else {
            isMute = true
            throw .unknown
        }
        presentedPasswords.insert(parameters[0])
        return Type5Reply()
    }

    /// WRITE PASSWORD, after the old one was given.
    private mutating func writePassword(_ parameters: [UInt8]) throws(Type5Error) -> Type5Reply {
        guard parameters.count == 5 else { throw .notRecognised }
        guard presentedPasswords.contains(parameters[0]) else { throw .unknown }
        if tear != .old { contents.passwords[parameters[0]] = Self.word(parameters[1...]) }
        return Type5Reply(programmedBlocks: 1)
    }

    /// Four octets, least significant first.
    private static func word(_ octets: ArraySlice<UInt8>) -> UInt32 {
        octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// SET EAS, RESET EAS and LOCK EAS.
    private mutating func surveillance(_ command: UInt8) throws(Type5Error) -> Type5Reply {
        if contents.isSurveillanceLocked { throw command == 0xA4 ? .alreadyLocked : .locked }
        if tear != .old {
            switch command {
            case 0xA2: contents.isSurveillanceSet = true
            case 0xA3: contents.isSurveillanceSet = false
            default: contents.isSurveillanceLocked = true
            }
        }
        return Type5Reply(programmedBlocks: 1)
    }

    /// GET NXP SYSTEM INFORMATION of ICODE SLIX2: no protection of pages, lock bits, and what the product can do.
    private func productInformation() -> Type5Reply {
        var locks: UInt8 = 0
        if contents.isAFILocked { locks |= 0x01 }
        if contents.isSurveillanceLocked { locks |= 0x02 }
        if contents.isDSFIDLocked { locks |= 0x04 }
        return Type5Reply([0x00, 0x00, locks, 0x7F, 0x35, 0x00, 0x00])
    }

    // MARK: ST

    /// READ CONFIGURATION: a static register of ST25DV as delivered, and the locks of the capability container
    /// (ST25DV04K data sheet, table 9).
    private func configuration(_ pointer: UInt8) throws(Type5Error) -> UInt8 {
        let areaEnd = UInt8(product.blockCount * product.blockSize / 32 - 1)
        switch pointer {
        case 0x00: return 0x88
        case 0x01: return 0x03
        case 0x02: return 0x01
        case 0x03, 0x04, 0x06, 0x08, 0x0A: return 0x00
        case 0x05, 0x07, 0x09: return areaEnd
        case 0x0C:
            return (contents.lockedBlocks.contains(0) ? 0x01 : 0x00) | (contents.lockedBlocks.contains(1) ? 0x02 : 0x00)
        case 0x0D: return 0x00
        case 0x0E: return 0x07
        case 0x0F: return 0x00
        default: throw .notAvailable
        }
    }
}
