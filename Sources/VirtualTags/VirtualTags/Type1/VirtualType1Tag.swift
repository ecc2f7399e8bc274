// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 1 tag: a Topaz 96 or 512, answering raw frames with CRC_B over NFC-A.
///
/// ```swift
/// let tag = VirtualType1Tag(.topaz512)
/// ```
///
/// A forbidden command gets no answer, for example a write to a locked block, or a command with another UID. A command
/// that a fault plan refuses gets none either.
public final class VirtualType1Tag: VirtualTag {
    /// The product.
    public let product: Type1Product
    private let chip: Locked<Type1Chip>

    /// The UID of tags that are created without one.
    public static let defaultUID: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x2A]

    /// Creates a tag with the given contents.
    public init(_ contents: Type1Contents) {
        precondition(contents.memory.count == contents.product.memorySize, "the memory is not of the product's size")
        precondition(contents.header.count == 2, "the header is HR0 and HR1")
        product = contents.product
        chip = Locked(Type1Chip(contents))
    }

    /// Creates a new tag with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID, 7 bytes.
    public convenience init(_ product: Type1Product, uid: [UInt8] = VirtualType1Tag.defaultUID) {
        precondition(uid.count == 7, "a UID of Type 1 tags has 7 bytes")
        self.init(Type1Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] {
        chip.withLock { $0.contents.uid }
    }

    /// Returns whether the UID begins with these bytes. Readers only know the first four, which RID returns.
    public func answers(to identifier: [UInt8]) -> Bool {
        self.identifier.starts(with: identifier)
    }

    /// The current persistent state of the tag.
    public var contents: Type1Contents {
        chip.withLock { $0.contents }
    }

    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        chip.withLock { $0.receive(request, injectedFault: injectedFault) }
    }

    public func losePower() {
        chip.withLock { $0.losePower() }
    }
}
