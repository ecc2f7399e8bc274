// SPDX-License-Identifier: Apache-2.0

/// The IDm: the eight bytes by which a FeliCa card answers for one of its systems.
package enum FeliCaIDm {
    /// Whether two IDms are of systems of one card. Only their first four bits may differ, which number the system (FeliCa
    /// Card User's Manual, 2.3.1).
    ///
    /// - Parameters:
    ///   - idm: eight bytes.
    ///   - other: eight bytes.
    package static func areOfOneCard(_ idm: [UInt8], _ other: [UInt8]) -> Bool {
        guard let first = idm.first, let otherFirst = other.first else { return idm == other }
        return first & 0x0F == otherFirst & 0x0F && idm.dropFirst() == other.dropFirst()
    }
}
