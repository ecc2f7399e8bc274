// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A tag that the chip has found.
struct TagHandle: Sendable, Equatable {
    /// The data with which the tag can be found again.
    enum Target: Sendable, Equatable {
        case nfcA(uid: [UInt8], sak: UInt8)
        /// A Type 1 tag, with the four bytes of its UID that it reports.
        case type1(uid: [UInt8])
        case nfcB(pupi: [UInt8])
        /// A FeliCa tag, and the system for which it was polled.
        case nfcF(idm: [UInt8], systemCode: UInt16)

        var technology: Technology {
            switch self {
            case .nfcA, .type1: .nfcA
            case .nfcB: .nfcB
            case .nfcF: .nfcF
            }
        }
    }

    var target: Target
    /// The list of targets that found it.
    var generation: Int
}
