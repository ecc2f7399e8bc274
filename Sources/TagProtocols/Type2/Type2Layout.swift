// SPDX-License-Identifier: Apache-2.0

/// Where the NDEF message is in a Type 2 tag's data area.
struct Type2Layout: Equatable {
    /// The addresses of the octets from the NDEF TLV's type to the end of the data area, without lock and reserved
    /// octets: the message's octets follow each other in this list, not in memory (NFC Forum T2T 1.2, 4.4).
    var addresses: [Int]
    /// The length of the message that is there.
    var messageLength: Int
    /// How many octets the length takes on the tag: 1 or 3.
    var lengthSize: Int
    /// The control TLVs in front of the message.
    var controls: [Type2Control]

    /// The longest message that fits from the TLV's type on.
    var capacity: Int { Self.capacity(addresses.count) }

    /// The longest message in so many octets: two octets of TLV up to 254, four beyond.
    static func capacity(_ count: Int) -> Int {
        count - 2 <= 254 ? max(0, count - 2) : max(254, count - 4)
    }

    /// The addresses of the octets of the present message.
    var messageAddresses: ArraySlice<Int> {
        addresses[(1 + lengthSize)..<(1 + lengthSize + messageLength)]
    }
}

/// Walks through the TLVs of a data area to the first NDEF message TLV (NFC Forum T2T 1.2, 4.3 and 6.2).
///
/// It asks for pages as it needs them, and every step moves it on, so that an area of nothing but NULL TLVs ends.
struct Type2TLVWalk {
    /// What to do next.
    enum Action: Equatable {
        /// Read this page, and go on.
        case read(page: Int)
        /// The message has been found.
        case found(Type2Layout)
    }

    private let area: Range<Int>
    private var position: Int
    private var controls: [Type2Control] = []

    init(area: Range<Int>) {
        self.area = area
        self.position = area.lowerBound
    }

    /// Goes on as far as the memory is known.
    ///
    /// - Throws: ``TagError`` with `noMessageTLV` or `lengthOverrun`.
    mutating func advance(in memory: Type2Memory) throws(TagError) -> Action {
        while true {
            // Lock and reserved octets inside the area are passed over, between TLVs as within them.
            skipControlled()
            guard position < area.upperBound else {
                throw TagError(
                    .noMessageTLV,
                    "The data area ends without an NDEF message TLV (NFC Forum T2T 1.2, 4.3)."
                )
            }
            guard let type = memory[octet: position] else { return .read(page: position / Type2Memory.pageSize) }
            if type == 0x00 {
                position += 1
                continue
            }
            if type == 0xFE {
                throw TagError(
                    .noMessageTLV,
                    "A terminator TLV comes before any NDEF message TLV (NFC Forum T2T 1.2, 4.3)."
                )
            }
            // A window onto the TLV: its type and length, or its three octets of control.
            let header = addresses(from: position, limit: 5)
            guard header.count > 1 else { throw Self.overrun(type) }
            guard let first = memory[octet: header[1]] else { return .read(page: header[1] / Type2Memory.pageSize) }
            var length = Int(first)
            var lengthSize = 1
            if first == 0xFF {
                guard header.count > 3 else { throw Self.overrun(type) }
                for address in header[2...3] where memory[octet: address] == nil {
                    return .read(page: address / Type2Memory.pageSize)
                }
                length = Int(memory[octet: header[2]] ?? 0) << 8 | Int(memory[octet: header[3]] ?? 0)
                lengthSize = 3
            }
            let size = 1 + lengthSize + length
            switch type {
            case 0x03:
                let addresses = addresses(from: position, limit: .max)
                guard size <= addresses.count else { throw Self.overrun(type) }
                return .found(
                    Type2Layout(
                        addresses: addresses,
                        messageLength: length,
                        lengthSize: lengthSize,
                        controls: controls
                    )
                )
            case 0x01 where size == 5, 0x02 where size == 5:
                guard header.count == 5 else { throw Self.overrun(type) }
                for address in header[2...4] where memory[octet: address] == nil {
                    return .read(page: address / Type2Memory.pageSize)
                }
                controls.append(
                    Type2Control(value: header[2...4].map { memory[octet: $0] ?? 0 }, isLock: type == 0x01)
                )
                position = header[4] + 1
            default:
                let addresses = addresses(from: position, limit: size)
                guard addresses.count == size, let last = addresses.last else { throw Self.overrun(type) }
                position = last + 1
            }
        }
    }

    private mutating func skipControlled() {
        while let control = controls.first(where: { $0.range.contains(position) }) {
            position = control.range.upperBound
        }
    }

    /// The addresses of octets for data from one on.
    private func addresses(from start: Int, limit: Int) -> [Int] {
        var result: [Int] = []
        var address = start
        while result.count < limit, address < area.upperBound {
            if let control = controls.first(where: { $0.range.contains(address) }) {
                address = control.range.upperBound
            } else {
                result.append(address)
                address += 1
            }
        }
        return result
    }

    private static func overrun(_ type: UInt8) -> TagError {
        let name = type == 0x03 ? "The NDEF message TLV" : "The TLV of type \(type)"
        return TagError(.lengthOverrun, "\(name) runs past the end of the data area (NFC Forum T2T 1.2, 4.3).")
    }
}
