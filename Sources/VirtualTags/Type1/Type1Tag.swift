// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 1 tag: a Topaz 96 or 512, answering raw frames with CRC_B over NFC-A.
///
/// ```swift
/// let tag = Type1Tag(.topaz512)
/// ```
///
/// A command that the tag may not carry out, such as a write to a locked block or one with another tag's UID, is not
/// answered; neither is one that a fault plan refuses.
public final class Type1Tag: VirtualTag {
    /// What the tag is.
    public let product: Type1Product
    private let silicon: Locked<Type1Silicon>

    /// The UID of tags that are made without one.
    public static let defaultUID: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x2A]

    /// Creates a tag with the given contents.
    public init(_ contents: Type1Contents) {
        precondition(contents.memory.count == contents.product.memorySize, "the memory is not of the product's size")
        precondition(contents.header.count == 2, "the header is HR0 and HR1")
        product = contents.product
        silicon = Locked(Type1Silicon(contents))
    }

    /// Creates a tag as it is delivered, formatted for NDEF and empty.
    ///
    /// - Parameters:
    ///   - product: what the tag is.
    ///   - uid: the UID, 7 octets.
    public convenience init(_ product: Type1Product, uid: [UInt8] = Type1Tag.defaultUID) {
        precondition(uid.count == 7, "a UID of Type 1 tags has 7 octets")
        self.init(Type1Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] {
        silicon.withLock { $0.contents.uid }
    }

    /// What the tag keeps without power, as it is now.
    public var contents: Type1Contents {
        silicon.withLock { $0.contents }
    }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
