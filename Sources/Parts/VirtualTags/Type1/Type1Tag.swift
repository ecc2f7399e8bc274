// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A product that is a Type 1 tag.
public enum Type1Product: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Topaz 96 (BCM20203T96): 120 octets, static memory.
    case topaz96 = "Topaz 96"
    /// Topaz 512 (BCM20203T512): 512 octets, dynamic memory.
    case topaz512 = "Topaz 512"

    public var description: String { rawValue }

    /// The product with a name such as `Topaz 96`, or nil.
    public init?(named name: String) {
        self.init(rawValue: name)
    }

    /// How many octets of memory there are.
    public var memorySize: Int { self == .topaz96 ? 120 : 512 }

    /// The header octets HR0 and HR1.
    package var header: [UInt8] { self == .topaz96 ? [0x11, 0x48] : [0x12, 0x4C] }

    /// The capability container and the TLVs after it, as delivered.
    var factoryData: [UInt8] {
        switch self {
        case .topaz96: [0xE1, 0x10, 0x0E, 0x00, 0x03, 0x00]
        case .topaz512:
            // Lock control: octet 122, 48 bits, 8 octets a bit. Memory control: octets 120 and 121.
            [0xE1, 0x10, 0x3F, 0x00, 0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03, 0x03, 0x00]
        }
    }
}

/// Everything that a Type 1 tag keeps without power: what an image of the tag holds.
public struct Type1Contents: Sendable, Hashable {
    /// What the tag is.
    public var product: Type1Product
    /// The header octets HR0 and HR1.
    public var header: [UInt8]
    /// All octets from block 0 on; the UID is in the first seven.
    public var memory: [UInt8]

    /// Creates contents from an image of the memory.
    ///
    /// - Parameters:
    ///   - product: what the tag is.
    ///   - memory: the memory from block 0 on; octets that are missing at the end are zero.
    ///   - header: HR0 and HR1; the product's when nil.
    public init(_ product: Type1Product, memory: [UInt8], header: [UInt8]? = nil) {
        self.product = product
        self.header = header ?? product.header
        self.memory = Array((memory + Array(repeating: 0, count: product.memorySize)).prefix(product.memorySize))
    }

    /// Creates a tag as it is delivered, formatted for NDEF and empty.
    ///
    /// - Parameters:
    ///   - product: what the tag is.
    ///   - uid: the UID, 7 octets.
    public init(blank product: Type1Product, uid: [UInt8]) {
        self.init(product, memory: uid + [0x00] + product.factoryData)
        // Blocks 0, D and E are locked.
        memory[112] = 0x01
        memory[113] = 0x60
    }

    /// The UID, 7 octets.
    public var uid: [UInt8] { Array(memory[0..<7]) }
}

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
        precondition(uid.count == 7, "a UID of Type 1 tags has 7 bytes")
        self.init(Type1Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] {
        silicon.withLock { $0.contents.uid }
    }

    /// Whether the UID begins with this: readers know the first four bytes alone, which RID gives.
    public func answers(to identifier: [UInt8]) -> Bool {
        self.identifier.starts(with: identifier)
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
