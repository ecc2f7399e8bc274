// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Searches the TLVs of a data area for the first NDEF message TLV (NFC Forum T1T 1.2, 2.4; T2T 1.2, 4.3; T5T 1.0,
/// 4.4).
///
/// It asks for bytes as it needs them. Every step moves forward, so even an area full of NULL TLVs ends.
struct TLVWalk {
    /// The next action.
    enum Action: Equatable {
        /// Read the byte at this address, then continue.
        case read(address: Int)
        /// The message was found.
        case found(TLVLayout)
    }

    private let area: Range<Int>
    private let specification: String
    private let hasControls: Bool
    private let isForWriting: Bool
    private var position: Int
    private var reserved: [Range<Int>]
    private var controls: [TLVControl] = []
    /// The most control TLVs that are considered; no tag needs as many.
    private static let maximumControls = 32

    /// Creates a walk.
    ///
    /// - Parameters:
    ///   - area: the data area.
    ///   - reserved: bytes in it that can never hold data.
    ///   - hasControls: whether lock and memory control TLVs are considered, as on Type 1 and 2.
    ///   - specification: the specification that errors refer to.
    ///   - isForWriting: whether an NDEF message TLV with a broken length is found too, so that it can be written.
    init(
        area: Range<Int>,
        reserved: [Range<Int>] = [],
        hasControls: Bool,
        specification: String,
        isForWriting: Bool = false
    ) {
        self.isForWriting = isForWriting
        self.area = area
        self.reserved = reserved
        self.hasControls = hasControls
        self.specification = specification
        self.position = area.lowerBound
    }

    /// Continues as far as the memory was read.
    ///
    /// - Throws: ``TagError`` with `noMessageTLV` or `lengthOverrun`.
    mutating func advance(in memory: some TLVSource) throws(TagError) -> Action {
        while true {
            let rest = TLVLayout(area: min(position, area.upperBound)..<area.upperBound, reserved: reserved)
            let header = rest.addresses(0..<4)
            guard let start = header.first else {
                throw TagError(.noMessageTLV, "The data area ends without an NDEF message TLV (\(specification)).")
            }
            guard let type = memory[byte: start] else { return .read(address: start) }
            if type == 0x00 {
                position = start + 1
                continue
            }
            if type == 0xFE {
                throw TagError(
                    .noMessageTLV,
                    "A terminator TLV comes before any NDEF message TLV (\(specification))."
                )
            }
            guard header.count > 1 else { throw overrun(type) }
            guard let first = memory[byte: header[1]] else { return .read(address: header[1]) }
            var length = Int(first)
            var lengthSize = 1
            if first == 0xFF {
                guard header.count > 3 else { throw overrun(type) }
                guard let high = memory[byte: header[2]] else { return .read(address: header[2]) }
                guard let low = memory[byte: header[3]] else { return .read(address: header[3]) }
                length = Int(high: high, low: low)
                lengthSize = 3
            }
            let isBroken = 1 + lengthSize + length > rest.count
            guard !isBroken || isForWriting && type == 0x03 else { throw overrun(type) }
            if type == 0x03 {
                var layout = TLVLayout(
                    area: start..<area.upperBound,
                    reserved: reserved,
                    messageLength: length,
                    lengthSize: lengthSize
                )
                layout.controls = controls
                layout.isBroken = isBroken
                return .found(layout)
            }
            let places = 1 + lengthSize + length
            if hasControls, type == 0x01 || type == 0x02, length == 3 {
                let addresses = rest.addresses(1 + lengthSize..<places)
                for address in addresses where memory[byte: address] == nil { return .read(address: address) }
                let value = addresses.map { memory[byte: $0] ?? 0 }
                let control = TLVControl(value: value, isLock: type == 0x01)
                if controls.count < Self.maximumControls {
                    controls.append(control)
                    reserved.append(control.range)
                }
            }
            position = (rest.addresses(places - 1..<places).first ?? area.upperBound) + 1
        }
    }

    private func overrun(_ type: UInt8) -> TagError {
        let name = type == 0x03 ? "The NDEF message TLV" : "The TLV of type \(type)"
        return TagError(.lengthOverrun, "\(name) runs past the end of the data area (\(specification)).")
    }
}
