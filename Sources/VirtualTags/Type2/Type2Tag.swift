// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 2 tag: a product of the MIFARE Ultralight or NTAG families, answering raw frames from its memory.
///
/// ```swift
/// let tag = Type2Tag(.ntag215, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
/// ```
///
/// Commands, refusals, locks, counters and passwords are those of the product's data sheet. The memory can be looked at
/// with ``contents`` at any time, between two exchanges.
public final class Type2Tag: VirtualTag {
    /// What the tag is.
    public let product: Type2Product
    private let silicon: Locked<Type2Silicon>

    /// Creates a tag with the given contents.
    ///
    /// - Parameter contents: the contents. A UID that has not 4, 7 or 10 octets is a mistake of the caller.
    public init(_ contents: Type2Contents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 octets")
        product = contents.product
        silicon = Locked(Type2Silicon(contents))
    }

    /// Creates a tag as it is delivered, formatted for NDEF and empty.
    ///
    /// - Parameters:
    ///   - product: what the tag is.
    ///   - uid: the UID; a random one when nil.
    public convenience init(_ product: Type2Product, uid: [UInt8]? = nil) {
        var generator = SystemRandomNumberGenerator()
        self.init(Type2Contents(blank: product, uid: uid ?? Type2Contents.randomUID(using: &generator)))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] {
        silicon.withLock { $0.contents.uid }
    }

    /// What the tag keeps without power, as it is now.
    public var contents: Type2Contents {
        silicon.withLock { $0.contents }
    }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
