// SPDX-License-Identifier: Apache-2.0

/// The number of a system on a FeliCa card: the first four bits of the IDm with which the card answers for that system
/// (FeliCa Card User's Manual, 2.3.1).
package enum FeliCaSystemNumber {
    /// Whether two IDms are the same but for the number of the system, so that they are of one card.
    ///
    /// - Parameters:
    ///   - idm: eight bytes.
    ///   - other: eight bytes.
    package static func differsAtMost(_ idm: [UInt8], _ other: [UInt8]) -> Bool {
        guard let first = idm.first, let otherFirst = other.first else { return idm == other }
        return first & 0x0F == otherFirst & 0x0F && idm.dropFirst() == other.dropFirst()
    }
}
