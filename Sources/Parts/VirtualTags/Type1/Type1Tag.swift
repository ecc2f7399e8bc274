// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 1 tag product.
public enum Type1Product: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Topaz 96 (BCM20203T96): 120 bytes, static memory.
    case topaz96 = "Topaz 96"
    /// Topaz 512 (BCM20203T512): 512 bytes, dynamic memory.
    case topaz512 = "Topaz 512"

    public var description: String { rawValue }

    /// Finds the product with a name such as `Topaz 96`; nil for an unknown name.
    public init?(named name: String) {
        self.init(rawValue: name)
    }

    /// The size of the memory, in bytes.
    public var memorySize: Int { self == .topaz96 ? 120 : 512 }

    /// The header bytes HR0 and HR1.
    package var header: [UInt8] { self == .topaz96 ? [0x11, 0x48] : [0x12, 0x4C] }

    /// The capability container and the TLVs after it, as on a new tag.
    var factoryData: [UInt8] {
        switch self {
        case .topaz96: [0xE1, 0x10, 0x0E, 0x00, 0x03, 0x00]
        case .topaz512:
            // Lock control: byte 122, 48 bits, 8 bytes per bit. Memory control: bytes 120 and 121.
            [0xE1, 0x10, 0x3F, 0x00, 0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03, 0x03, 0x00]
        }
    }
}

/// The persistent state of a Type 1 tag, as in an image of the tag.
public struct Type1Contents: Sendable, Hashable {
    /// The product.
    public var product: Type1Product
    /// The header bytes HR0 and HR1.
    public var header: [UInt8]
    /// All bytes from block 0 on. The first seven are the UID.
    public var memory: [UInt8]

    /// Creates contents from an image of the memory.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - memory: the memory from block 0 on. Missing bytes at the end are zero.
    ///   - header: HR0 and HR1; nil for the product's.
    public init(_ product: Type1Product, memory: [UInt8], header: [UInt8]? = nil) {
        self.product = product
        self.header = header ?? product.header
        self.memory = Array((memory + Array(repeating: 0, count: product.memorySize)).prefix(product.memorySize))
    }

    /// Creates a new tag with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID, 7 bytes.
    public init(blank product: Type1Product, uid: [UInt8]) {
        self.init(product, memory: uid + [0x00] + product.factoryData)
        // Blocks 0, D and E are locked.
        memory[112] = 0x01
        memory[113] = 0x60
    }

    /// The UID, 7 bytes.
    public var uid: [UInt8] { Array(memory[0..<7]) }
}

/// A virtual Type 1 tag: a Topaz 96 or 512, answering raw frames with CRC_B over NFC-A.
///
/// ```swift
/// let tag = Type1Tag(.topaz512)
/// ```
///
/// A forbidden command gets no answer, for example a write to a locked block, or a command with another UID. A command
/// that a fault plan refuses gets none either.
public final class Type1Tag: VirtualTag {
    /// The product.
    public let product: Type1Product
    private let silicon: Locked<Type1Silicon>

    /// The UID of tags that are created without one.
    public static let defaultUID: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x2A]

    /// Creates a tag with the given contents.
    public init(_ contents: Type1Contents) {
        precondition(contents.memory.count == contents.product.memorySize, "the memory is not of the product's size")
        precondition(contents.header.count == 2, "the header is HR0 and HR1")
        product = contents.product
        silicon = Locked(Type1Silicon(contents))
    }

    /// Creates a new tag with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - product: the product.
    ///   - uid: the UID, 7 bytes.
    public convenience init(_ product: Type1Product, uid: [UInt8] = Type1Tag.defaultUID) {
        precondition(uid.count == 7, "a UID of Type 1 tags has 7 bytes")
        self.init(Type1Contents(blank: product, uid: uid))
    }

    public var technology: Technology { .nfcA }

    public var identifier: [UInt8] {
        silicon.withLock { $0.contents.uid }
    }

    /// Returns whether the UID begins with these bytes. Readers only know the first four, which RID returns.
    public func answers(to identifier: [UInt8]) -> Bool {
        self.identifier.starts(with: identifier)
    }

    /// The current persistent state of the tag.
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
