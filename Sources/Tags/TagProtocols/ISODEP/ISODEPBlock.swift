// SPDX-License-Identifier: Apache-2.0

/// A block, the unit that ISO-DEP sends (ISO/IEC 14443-4, 7.1).
enum ISODEPBlock: Equatable {
    /// An I-block: a part of an APDU.
    case information(number: UInt8, isChained: Bool, payload: [UInt8])
    /// An R(ACK) block.
    case acknowledge(number: UInt8)
    /// An R(NAK) block. Only the reader sends it.
    case negativeAcknowledge(number: UInt8)
    /// An S(WTX) block with its multiplier.
    case waitingTimeExtension(multiplier: UInt8)
    /// An S(DESELECT) block.
    case deselect

    /// Reads a block.
    ///
    /// - Parameters:
    ///   - bytes: the frame's bytes without the checksum.
    ///   - cid: the card identifier in use; nil when blocks have none.
    /// - Returns: nil when the bytes aren't a block, or are a block for another card.
    init?(_ bytes: [UInt8], cid: UInt8?) {
        guard let pcb = bytes.first else { return nil }
        var start = 1
        if pcb & 0x08 != 0 {
            guard let cid, bytes.count > 1, bytes[1] & 0x0F == cid else { return nil }
            start = 2
        } else if let cid, cid != 0 {
            return nil
        }
        let rest = bytes[start...]
        // Bit 3 announces a node address, which this reader never uses. Bit 4 announces a CID.
        switch pcb & 0xF6 {
        case 0x02, 0x12:
            self = .information(number: pcb & 1, isChained: pcb & 0x10 != 0, payload: Array(rest))
        case 0xA2 where rest.isEmpty: self = .acknowledge(number: pcb & 1)
        case 0xB2 where rest.isEmpty: self = .negativeAcknowledge(number: pcb & 1)
        case 0xF2 where pcb & 1 == 0:
            guard rest.count == 1, let first = rest.first else { return nil }
            // The two high bits are a power level indication (ISO/IEC 14443-4, 7.4).
            self = .waitingTimeExtension(multiplier: first & 0x3F)
        case 0xC2 where pcb & 1 == 0 && rest.isEmpty: self = .deselect
        default: return nil
        }
    }

    /// The block's bytes.
    func bytes(cid: UInt8?) -> [UInt8] {
        let pcb: UInt8
        var payload: [UInt8] = []
        switch self {
        case .information(let number, let isChained, let content):
            pcb = 0x02 | number | (isChained ? 0x10 : 0)
            payload = content
        case .acknowledge(let number): pcb = 0xA2 | number
        case .negativeAcknowledge(let number): pcb = 0xB2 | number
        case .waitingTimeExtension(let multiplier):
            pcb = 0xF2
            payload = [multiplier]
        case .deselect: pcb = 0xC2
        }
        guard let cid else { return [pcb] + payload }
        return [pcb | 0x08, cid] + payload
    }
}
