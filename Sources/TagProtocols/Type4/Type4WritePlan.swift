// SPDX-License-Identifier: Apache-2.0

/// The UPDATE BINARY commands for a message, in an order in which the card may be lost after any of them.
///
/// Where length field and message go in one command, that is all. Otherwise the first command writes a length of 0 and
/// the start of the message, the others its rest, and the last one the length: after the first the tag is empty, after
/// the last it has the message (NFC Forum T4T 1.2, 6.4).
///
/// With an MLc that is shorter than the length field, the length takes several commands, and a tag that is lost between
/// them has a length that is none of the three: as many commands as the field's significant octets, less one.
struct Type4WritePlan: Equatable {
    /// One UPDATE BINARY.
    struct Step: Equatable {
        var offset: Int
        var octets: [UInt8]
    }

    let steps: [Step]

    /// Lays a message out.
    ///
    /// - Parameters:
    ///   - message: the message; not longer than the capacity.
    ///   - lengthSize: octets of the length field.
    ///   - oldLength: the length that is on the tag.
    ///   - limit: the most data octets of a command at an offset.
    init(_ message: [UInt8], lengthSize: Int, oldLength: Int, limit: (Int) -> Int) {
        let length = Self.lengthField(message.count, size: lengthSize)
        if lengthSize + message.count <= limit(0) {
            steps = [Step(offset: 0, octets: length + message)]
            return
        }
        var steps: [Step] = []
        if limit(0) < lengthSize {
            // Octet by octet: leave those alone that are as they shall be, the most significant one last.
            let old = Self.lengthField(oldLength, size: lengthSize)
            for index in old.indices.reversed() where old[index] != 0 { steps.append(Step(offset: index, octets: [0])) }
            steps += Self.pieces(message, at: lengthSize, limit: limit)
            for index in length.indices.reversed() where length[index] != 0 {
                steps.append(Step(offset: index, octets: [length[index]]))
            }
        } else {
            steps = Self.pieces([UInt8](repeating: 0, count: lengthSize) + message, at: 0, limit: limit)
            if !message.isEmpty { steps.append(Step(offset: 0, octets: length)) }
        }
        self.steps = steps
    }

    /// A length, most significant octet first.
    private static func lengthField(_ length: Int, size: Int) -> [UInt8] {
        (0..<size).reversed().map { (index: Int) -> UInt8 in UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }

    private static func pieces(_ octets: [UInt8], at start: Int, limit: (Int) -> Int) -> [Step] {
        var steps: [Step] = []
        var position = 0
        while position < octets.count {
            let end = min(octets.count, position + max(1, limit(start + position)))
            steps.append(Step(offset: start + position, octets: Array(octets[position..<end])))
            position = end
        }
        return steps
    }
}
