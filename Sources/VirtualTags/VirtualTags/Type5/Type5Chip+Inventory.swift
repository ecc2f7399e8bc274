// SPDX-License-Identifier: Apache-2.0
import TagLink

/// INVENTORY (ISO/IEC 15693-3, 8), and the manufacturers' commands that do the same with another answer.
///
/// A real chip answers the fast commands at twice the data rate. In a virtual field they take as much airtime as the
/// others.
extension Type5Chip {
    private enum Kind {
        case identifier
        /// Blocks; with the option flag, after the part of the UID that is not in the mask.
        case blocks
    }

    private func kind(of request: Type5Request) -> Kind? {
        let features = product.features
        if let code = request.manufacturer, code != contents.uid[1] { return nil }
        switch request.command {
        case 0x01: return .identifier
        case 0xA0 where features.contains(.passwords), 0xA1 where features.contains(.passwords): return .blocks
        // ST25TV: INVENTORY INITIATED and INVENTORY READ, and their fast versions.
        case 0xD1 where features.contains(.tagConfiguration), 0xC1 where features.contains(.tagConfiguration):
            return isInitiated ? .identifier : nil
        case 0xD3 where features.contains(.tagConfiguration), 0xD4 where features.contains(.tagConfiguration):
            return .blocks
        default: return nil
        }
    }

    /// Answers in the slot that is given by the UID's bits after the mask. On an error the tag does not answer.
    mutating func receiveInventory(_ request: Type5Request) -> TagAnswer? {
        guard let kind = kind(of: request), state != .quiet else { return nil }
        var rest = request.parameters[...]
        if request.namesFamily {
            guard let family = rest.popFirst(), matches(family) else { return nil }
        }
        guard var length = rest.popFirst().map(Int.init) else { return nil }
        var options: Options?
        if case .blocks = kind, product.features.contains(.pages), length & 0x80 != 0 {
            length &= 0x7F
            guard let byte = rest.popFirst() else { return nil }
            options = Options(rawValue: byte)
        }
        let slotBits = request.hasOneSlot ? 0 : 4
        let maskSize = (length + 7) / 8
        guard length + slotBits <= 64, rest.count >= maskSize,
            address.startsWithBits(length, of: Array(rest.prefix(maskSize)))
        else { return nil }
        rest = rest.dropFirst(maskSize)
        let identified = options?.contains(.wholeIdentifier) == true ? 0 : (length + slotBits) / 8
        var data: [UInt8] = [0x00]
        switch kind {
        case .identifier:
            guard rest.isEmpty else { return nil }
            data += [contents.dsfid] + address
        case .blocks:
            if options?.contains(.surveillance) == true, !contents.isSurveillanceSet { return nil }
            if options != nil || request.option { data += address.dropFirst(identified) }
            if options?.contains(.noBlocks) == true {
                guard rest.isEmpty else { return nil }
            } else {
                guard rest.count == 2, let first = rest.popFirst(), let count = rest.popFirst(),
                    let blocks = try? readBlocks(Int(first), count: Int(count) + 1, withSecurity: false)
                else { return nil }
                data += blocks.data
            }
        }
        if options?.contains(.quiet) == true {
            state = .quiet
            contents.protection.isPersistentlyQuiet = options?.contains(.persistentlyQuiet) == true
        }
        return answer(Frame(data), inSlotAfter: length, hasOneSlot: request.hasOneSlot)
    }

    private mutating func answer(_ frame: Frame, inSlotAfter length: Int, hasOneSlot: Bool) -> TagAnswer? {
        guard !hasOneSlot else { return TagAnswer(frame) }
        let uid = UInt64(bytes: address.reversed())
        let slot = Int(uid >> length & 0x0F)
        slots = (slot, 0, frame)
        return slot == 0 ? TagAnswer(frame) : nil
    }

    /// Returns whether an application family is for this tag. 0 in either half of the byte stands for any value
    /// (ISO/IEC 15693-3, 6).
    private func matches(_ family: UInt8) -> Bool {
        (family & 0xF0 == 0 || family & 0xF0 == contents.afi & 0xF0)
            && (family & 0x0F == 0 || family & 0x0F == contents.afi & 0x0F)
    }
}

/// The extended options of INVENTORY READ on ICODE SLIX2 (SL2S2602 data sheet, table 47).
///
/// Two details come from that table alone: the UID is always part of the answer, and the persistent option adds to the
/// option of quiet. Table 48, with more about the latter, was not available.
private struct Options: OptionSet {
    let rawValue: UInt8
    /// Only tags with a set surveillance bit answer.
    static let surveillance = Options(rawValue: 0x01)
    /// The whole UID, and not only the part that is not in the mask.
    static let wholeIdentifier = Options(rawValue: 0x02)
    /// No blocks in the answer, and no block numbers in the request.
    static let noBlocks = Options(rawValue: 0x10)
    static let quiet = Options(rawValue: 0x20)
    static let persistentlyQuiet = Options(rawValue: 0x40)
}
