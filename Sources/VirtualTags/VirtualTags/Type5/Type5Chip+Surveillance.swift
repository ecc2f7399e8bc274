// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Electronic article surveillance of ICODE SLIX (SL2S2002 data sheet, 9.4.3.7 to 9.4.3.11) and SLIX2.
extension Type5Chip {
    private static let password: UInt8 = 0x10

    /// The answer to EAS ALARM (SL2S2002 data sheet, 9.4.3.10).
    static let alarm: [UInt8] = [
        0x2F, 0xB3, 0x62, 0x70, 0xD5, 0xA7, 0x90, 0x7F, 0xE8, 0xB1, 0x80, 0x38, 0xD2, 0x81, 0x49, 0x76,
        0x82, 0xDA, 0x9A, 0x86, 0x6F, 0xAF, 0x8B, 0xB0, 0xF1, 0x9C, 0xD1, 0x12, 0xA5, 0x72, 0x37, 0xEF,
    ]

    mutating func surveillance(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        switch request.command {
        case 0xA5: return surveillanceAlarm(request)
        case 0xA6: return try protectSurveillance(request)
        case 0xA7 where product.features.contains(.pages): return try writeSurveillanceIdentifier(request)
        case 0xA7: throw .notSupported
        default: return try changeSurveillance(request)
        }
    }

    /// SET EAS, RESET EAS and LOCK EAS.
    private mutating func changeSurveillance(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        guard request.parameters.isEmpty else { throw .notRecognised }
        if contents.isSurveillanceLocked { throw request.command == 0xA4 ? .alreadyLocked : .locked }
        try checkSurveillance()
        if tear != .old {
            switch request.command {
            case 0xA2: contents.isSurveillanceSet = true
            case 0xA3: contents.isSurveillanceSet = false
            default: contents.isSurveillanceLocked = true
            }
        }
        return Type5Reply(programmedBlocks: 1)
    }

    private func checkSurveillance() throws(Type5Error) {
        guard !contents.protection.isSurveillanceProtected || presentedPasswords.contains(Self.password) else {
            throw .unknown
        }
    }

    /// Throws if the application family is protected and the password was not given.
    func checkFamily() throws(Type5Error) {
        guard !contents.protection.isFamilyProtected || presentedPasswords.contains(Self.password) else {
            throw .unknown
        }
    }

    /// EAS ALARM: a fixed sequence, if the bit is set. With the option flag, SLIX2 compares its identifier, or sends it
    /// when none is given (SL2 ICS53 data sheet, 8.1.3.16). On an error the tag does not answer.
    private func surveillanceAlarm(_ request: Type5Request) -> Type5Reply {
        guard contents.isSurveillanceSet else { return .silence }
        guard request.option, product.features.contains(.pages) else {
            return request.parameters.isEmpty ? Type5Reply(Self.alarm) : .silence
        }
        let identifier = contents.protection.surveillanceIdentifier
        let own = identifier.littleEndianBytes
        guard let length = request.parameters.first else { return .silence }
        let value = Array(request.parameters.dropFirst())
        guard [0, 8, 16].contains(length), value.count == Int(length) / 8, own.starts(with: value) else {
            return .silence
        }
        return Type5Reply(length == 0 ? own : Self.alarm)
    }

    /// PASSWORD PROTECT EAS/AFI, after the password was given. The option flag selects EAS or AFI. This can't be
    /// undone.
    private mutating func protectSurveillance(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        guard request.parameters.isEmpty else { throw .notRecognised }
        guard presentedPasswords.contains(Self.password) else { throw .unknown }
        if tear != .old {
            if request.option {
                contents.protection.isFamilyProtected = true
            } else {
                contents.protection.isSurveillanceProtected = true
            }
        }
        var reply = Type5Reply(programmedBlocks: 1)
        reply.ignoresOption = true
        return reply
    }

    /// WRITE EAS ID.
    private mutating func writeSurveillanceIdentifier(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        guard request.parameters.count == 2 else { throw .notRecognised }
        guard !contents.isSurveillanceLocked else { throw .locked }
        try checkSurveillance()
        if tear != .old { contents.protection.surveillanceIdentifier = UInt16(Self.word(request.parameters)) }
        return Type5Reply(programmedBlocks: 1)
    }
}
