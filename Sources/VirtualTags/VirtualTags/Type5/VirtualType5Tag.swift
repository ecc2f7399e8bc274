// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 5 tag: an ICODE, ST25TV or ST25DV, or a generic one. It answers raw frames of ISO/IEC 15693.
///
/// ```swift
/// let tag = VirtualType5Tag(.icodeSLIX2)
/// let large = VirtualType5Tag(Type5Contents(blank: .st25dv64K, uid: [0xE0, 0x02, 0x26, 0, 1, 2, 3, 4]))
/// ```
///
/// A frame without content is only an end of frame. It starts the next slot of an inventory, or fetches the answer to a
/// write with the option flag. A command that the product does not have is refused with error code 01, a wrong length
/// with 02. If a fault plan refuses a command, its code is the error code.
///
/// Passwords, protected pages, privacy and destruction of ICODE SLIX2 are modelled. So are areas, passwords, kill and
/// untraceable mode of ST25TV, and areas, passwords and the mailbox of ST25DV. For its host, use ``putMessage(_:)`` and
/// ``takeMessage()``.
public final class VirtualType5Tag: VirtualTag {
    /// The product.
    public let product: Type5Product
    private let chip: Locked<Type5Chip>

    /// Creates a tag with the given contents.
    ///
    /// - Parameter contents: the contents. The UID must have 8 bytes, and the memory must fit into the product.
    public init(_ contents: Type5Contents) {
        let product = contents.product
        precondition(contents.uid.count == 8, "a UID of NFC-V has 8 bytes")
        precondition((1...32).contains(product.blockSize), "a block has 1 to 32 bytes")
        precondition((1...0x1_0000).contains(product.blockCount), "a tag has 1 to 65536 blocks")
        precondition(!product.features.contains(.counter) || product.blockSize == 4, "a counter has a block of 4 bytes")
        precondition(
            contents.memory.count <= product.dataBlockCount * product.blockSize,
            "the memory is larger than the product's"
        )
        let settings = contents.settings
        let delivered = ST25Settings(product)
        precondition(
            settings.registers.count == delivered.registers.count
                && settings.passwords.map(\.count) == delivered.passwords.map(\.count)
                && settings.telegram.count == 32,
            "the registers, passwords and telegram are not those of the product"
        )
        self.product = product
        chip = Locked(Type5Chip(contents))
    }

    /// Creates a new tag with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID, E0 first; nil for a default one with the product's prefix.
    public convenience init(_ product: Type5Product, uid: [UInt8]? = nil) {
        self.init(Type5Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcV }

    public var identifier: [UInt8] {
        chip.withLock { $0.contents.uid }
    }

    /// The current persistent state of the tag.
    public var contents: Type5Contents {
        chip.withLock { $0.contents }
    }

    /// Puts a message into the mailbox of an ST25DV, like its host over I2C.
    ///
    /// - Parameter message: 1 to 256 bytes.
    /// - Returns: whether it was stored. It is not stored while the mailbox is off, or while another message was not
    ///   read yet.
    public func putMessage(_ message: [UInt8]) -> Bool {
        chip.withLock { $0.mailbox.put(message, from: .host) }
    }

    /// Takes the message that a reader put into the mailbox of an ST25DV, like its host over I2C.
    ///
    /// - Returns: the message; nil when there is none for the host.
    public func takeMessage() -> [UInt8]? {
        chip.withLock { chip in
            guard chip.mailbox.holdsMessageForHost else { return nil }
            return chip.mailbox.read(0..<chip.mailbox.message.count, by: .host)
        }
    }

    public func answer(_ request: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        chip.withLock { $0.receive(request, injectedFault: injectedFault) }
    }

    public func losePower() {
        chip.withLock { $0.losePower() }
    }
}
