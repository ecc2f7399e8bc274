// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 2 tag: a product of the MIFARE Ultralight or NTAG families that answers raw frames from its memory.
///
/// ```swift
/// let tag = VirtualType2Tag(.ntag215, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])
/// ```
///
/// Commands, refusals, locks, counters and passwords follow the product's data sheet. Read the memory with ``contents``
/// at any time between two exchanges.
public final class VirtualType2Tag: VirtualTag {
    /// The product.
    public let product: Type2Product
    private let chip: Locked<Type2Chip>

    /// Creates a tag with the given contents.
    ///
    /// - Parameter contents: the contents. The UID must have 4, 7 or 10 bytes.
    public init(_ contents: Type2Contents) {
        precondition([4, 7, 10].contains(contents.uid.count), "a UID of NFC-A has 4, 7 or 10 bytes")
        product = contents.product
        chip = Locked(Type2Chip(contents))
    }

    /// Creates a new tag with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID; nil for a random one.
    public convenience init(_ product: Type2Product, uid: [UInt8]? = nil) {
        var generator = SystemRandomNumberGenerator()
        self.init(Type2Contents(blank: product, uid: uid ?? Type2Contents.randomUID(using: &generator)))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] {
        chip.withLock { $0.contents.uid }
    }

    /// The current persistent state of the tag.
    public var contents: Type2Contents {
        chip.withLock { $0.contents }
    }

    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        chip.withLock { $0.receive(request, injectedFault: injectedFault) }
    }

    public func losePower() {
        chip.withLock { $0.losePower() }
    }
}
