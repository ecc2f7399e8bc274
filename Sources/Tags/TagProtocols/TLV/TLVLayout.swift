// SPDX-License-Identifier: Apache-2.0

/// The position of the NDEF message TLV in a data area, byte by byte, without the bytes that can't hold data.
struct TLVLayout: Equatable {
    /// The range from the TLV's type to the end of the data area.
    var area: Range<Int>
    /// The lock and reserved bytes in the area, ascending and separate.
    var reserved: [Range<Int>]
    /// The control TLVs before the message.
    var controls: [TLVControl] = []
    /// The length of the current message.
    var messageLength: Int
    /// The number of length bytes on the tag: 1 or 3.
    var lengthSize: Int
    /// Whether the length on the tag runs past the area, so that no message can be read.
    var isBroken = false

    init(area: Range<Int>, reserved: [Range<Int>], messageLength: Int = 0, lengthSize: Int = 1) {
        self.area = area
        self.reserved = Self.merged(reserved, in: area)
        self.messageLength = messageLength
        self.lengthSize = lengthSize
    }

    /// The number of bytes that can hold data.
    var count: Int { area.count - reserved.reduce(0) { $0 + $1.count } }

    /// The longest message that fits, counted from the TLV's type: two bytes of header up to 254, four beyond. A length
    /// has 16 bits, and FFFF is reserved.
    var capacity: Int {
        count - 2 <= 254 ? max(0, count - 2) : min(0xFFFE, max(254, count - 4))
    }

    /// Returns the addresses of data bytes, counted from the TLV's type.
    func addresses(_ places: Range<Int>) -> [Int] {
        var result: [Int] = []
        result.reserveCapacity(places.count)
        var address = area.lowerBound
        var place = 0
        var gaps = reserved[...]
        while place < places.upperBound, address < area.upperBound {
            if let gap = gaps.first, gap.contains(address) {
                address = gap.upperBound
                gaps = gaps.dropFirst()
                continue
            }
            let stop = min(gaps.first?.lowerBound ?? area.upperBound, area.upperBound)
            let run = min(stop - address, places.upperBound - place)
            if place + run > places.lowerBound {
                let skip = max(0, places.lowerBound - place)
                result += address + skip..<address + run
            }
            place += run
            address += run
        }
        return result
    }

    /// Returns the result of the detection procedure.
    func detection(isWritable: Bool) -> NDEFDetection {
        NDEFDetection(access: isWritable ? .readWrite : .readOnly, capacity: capacity, messageLength: messageLength)
    }

    /// Checks that a message fits.
    ///
    /// - Throws: ``TagError`` with `messageTooLong`.
    func checkCapacity(for message: [UInt8]) throws(TagError) {
        guard message.count <= capacity else {
            throw TagError(
                .messageTooLong,
                "The message has \(message.count) bytes, and the tag has room for \(capacity)."
            )
        }
    }

    /// Returns the layout after a message was written.
    func holding(_ message: [UInt8]) -> TLVLayout {
        var written = self
        written.messageLength = message.count
        written.lengthSize = message.count <= 254 ? 1 : 3
        written.isBroken = false
        return written
    }

    /// The addresses of the current message's bytes.
    var messageAddresses: [Int] {
        addresses(1 + lengthSize..<1 + lengthSize + messageLength)
    }

    private static func merged(_ ranges: [Range<Int>], in area: Range<Int>) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in ranges.map({ $0.clamped(to: area) }).filter({ !$0.isEmpty }).sorted(by: {
            $0.lowerBound < $1.lowerBound
        }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}
