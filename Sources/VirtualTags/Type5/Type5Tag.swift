// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A virtual Type 5 tag: an ICODE, ST25TV or ST25DV, or a generic one, answering raw frames of ISO/IEC 15693.
///
/// ```swift
/// let tag = Type5Tag(.icodeSLIX2)
/// let large = Type5Tag(Type5Contents(blank: .st25dv64K, uid: [0xE0, 0x02, 0x26, 0, 1, 2, 3, 4]))
/// ```
///
/// A frame without octets and checksum is the end of a frame alone: it opens the next slot of an inventory, and fetches
/// the answer to a write whose option flag was set. What a product does not have is refused with error code 01, a length
/// that is wrong with 02. A fault plan's refusal is answered with its code as the error code.
///
/// Passwords, protected pages, privacy and destruction of ICODE SLIX2 are modelled; so are areas, passwords, kill and
/// untraceable mode of ST25TV, and areas, passwords and the mailbox of ST25DV, whose host is played by
/// ``putMessage(_:)`` and ``takeMessage()``.
public final class Type5Tag: VirtualTag {
    /// What the tag is.
    public let product: Type5Product
    private let silicon: Locked<Type5Silicon>

    /// Creates a tag with the given contents.
    ///
    /// - Parameter contents: the contents. A UID that has not 8 octets is a mistake of the caller, as is more memory
    ///   than the product has.
    public init(_ contents: Type5Contents) {
        let product = contents.product
        precondition(contents.uid.count == 8, "a UID of NFC-V has 8 octets")
        precondition((1...32).contains(product.blockSize), "a block has 1 to 32 octets")
        precondition((1...0x1_0000).contains(product.blockCount), "a tag has 1 to 65536 blocks")
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
        silicon = Locked(Type5Silicon(contents))
    }

    /// Creates a tag that is formatted for NDEF and empty.
    ///
    /// - Parameters:
    ///   - product: what the tag is.
    ///   - uid: the UID, E0 first; one of the product's form when nil.
    public convenience init(_ product: Type5Product, uid: [UInt8]? = nil) {
        self.init(Type5Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcV }

    public var identifier: [UInt8] {
        silicon.withLock { $0.contents.uid }
    }

    /// What the tag keeps without power, as it is now.
    public var contents: Type5Contents {
        silicon.withLock { $0.contents }
    }

    /// Puts a message into the mailbox of an ST25DV, as its host does over I2C.
    ///
    /// - Parameter message: 1 to 256 octets.
    /// - Returns: whether it was taken: not while the reader has the mailbox off, or another message waits to be read.
    public func putMessage(_ message: [UInt8]) -> Bool {
        silicon.withLock { $0.mailbox.put(message, from: .host) }
    }

    /// Takes the message that a reader put into the mailbox of an ST25DV, as its host does over I2C.
    ///
    /// - Returns: the message, or nil when none waits for the host.
    public func takeMessage() -> [UInt8]? {
        silicon.withLock { silicon in
            guard silicon.mailbox.holdsMessageForHost else { return nil }
            return silicon.mailbox.read(0..<silicon.mailbox.message.count, by: .host)
        }
    }

    public func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        silicon.withLock { $0.receive(request, disturbance: disturbance) }
    }

    public func losePower() {
        silicon.withLock { $0.losePower() }
    }
}
