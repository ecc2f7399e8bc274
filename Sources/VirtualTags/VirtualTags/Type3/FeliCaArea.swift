// SPDX-License-Identifier: Apache-2.0

/// An area of a FeliCa system: a folder of services and of other areas (FeliCa Card User's Manual, 2.3).
public struct FeliCaArea: Sendable, Hashable {
    /// The code: a number in the upper ten bits, and an attribute in the lower six.
    public var code: UInt16
    /// The last code that the area may contain; nil when a dump does not have it.
    public var end: UInt16?
    /// The index of the area's first service in the system's list of services, as in a dump.
    public var firstService: Int
    /// The index of the area's last service; lower than the first one if the area has none.
    public var lastService: Int

    /// Creates an area.
    public init(code: UInt16, end: UInt16? = nil, firstService: Int = 0, lastService: Int = 0) {
        self.code = code
        self.end = end
        self.firstService = firstService
        self.lastService = lastService
    }
}
