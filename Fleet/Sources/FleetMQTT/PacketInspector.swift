// SPDX-License-Identifier: Apache-2.0

/// Follows the packets of a broker, byte by byte, and finds those that libmosquitto must not get.
///
/// libmosquitto 2.0.11 ends the process when a packet has a property of MQTT 5 that it does not know, and gets memory
/// for a packet of any size.
package struct PacketInspector: Sendable {
    /// In bytes: a job with the most UIDs, and events, are smaller.
    package static let largestPacket = 2 << 20

    private enum State: Sendable {
        case start
        case length(shift: Int)
        case body
    }

    private let hasProperties: Bool
    private var state = State.start
    private var first: UInt8 = 0
    /// How many bytes of the packet are missing.
    private var missing = 0
    private var body: [UInt8] = []
    /// What is wrong with the last packet, as a sentence; nil while everything is right.
    package private(set) var fault: String?

    /// - Parameter hasProperties: whether the connection is one of MQTT 5.
    package init(hasProperties: Bool) { self.hasProperties = hasProperties }

    /// Takes the next bytes.
    ///
    /// - Returns: whether they are right. After false all later ones are wrong too.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count, fault == nil {
            guard case .body = state else {
                takeHeader(unsafe bytes[index])
                index += 1
                continue
            }
            let end = min(index + missing, bytes.count)
            if hasProperties { unsafe body.append(contentsOf: bytes[index..<end]) }
            missing -= end - index
            index = end
            finishIfComplete()
        }
        return fault == nil
    }

    private mutating func takeHeader(_ byte: UInt8) {
        switch state {
        case .length(let shift):
            missing |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 {
                state = .body
                guard missing <= Self.largestPacket else { return fail("a packet of \(missing) bytes") }
                finishIfComplete()
            } else if shift == 21 {
                fail("a length of more than 4 bytes")
            } else {
                state = .length(shift: shift + 7)
            }
        case .start, .body: (first, missing, state) = (byte, 0, .length(shift: 0))
        }
    }

    private mutating func finishIfComplete() {
        guard missing == 0 else { return }
        state = .start
        if hasProperties, let wrong = PacketProperties.fault(first: first, body: body) { fail(wrong) }
        body.removeAll(keepingCapacity: body.count < 1 << 16)
    }

    private mutating func fail(_ what: String) {
        fault = "The broker sends \(what), which is not understood. Check that it is a broker of MQTT."
    }
}
