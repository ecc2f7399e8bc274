// SPDX-License-Identifier: Apache-2.0

/// Memory in which TLVs are searched, as far as it was read.
protocol TLVSource {
    /// The byte at an address; nil when it was not read.
    subscript(byte address: Int) -> UInt8? { get }
    /// Returns the bytes of a unit that the tag writes at once; nil when one of them was not read.
    func unit(_ unit: Int) -> [UInt8]?
}
