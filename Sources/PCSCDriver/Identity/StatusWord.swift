// SPDX-License-Identifier: Apache-2.0

/// A reader's own answer to a pseudo-APDU: data, and the status word that says whether it was done.
struct ReaderAnswer: Hashable {
    var data: [UInt8]
    var status: UInt16

    /// Takes an answer apart; nil when there is no status word in it.
    init?(_ octets: [UInt8]) {
        guard octets.count >= 2 else { return nil }
        data = Array(octets.dropLast(2))
        status = UInt16(octets[octets.count - 2]) << 8 | UInt16(octets[octets.count - 1])
    }

    /// Whether it was done.
    var isDone: Bool { status == 0x9000 }

    /// The status word in hexadecimal, as sentences have it.
    var statusText: String {
        let digits = String(status, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
