// SPDX-License-Identifier: Apache-2.0

/// A complete record, never a chunk: type name format, type, identifier and payload. A value type.
///
/// Type, identifier and payload are stored one after the other in one array. Records that were read share the array of
/// their message, so reading copies nothing. The message's bytes stay in memory as long as one of its records does.
@frozen public struct NDEFRecord: Sendable {
    /// The format of the type.
    public let typeNameFormat: TypeNameFormat
    /// Holds type, identifier and payload, one after the other.
    @usableFromInline let storage: [UInt8]
    @usableFromInline let start: Int
    @usableFromInline let typeLength: UInt32
    @usableFromInline let identifierLength: UInt32
    /// The length of the payload in bytes.
    public let payloadCount: Int

    /// Creates a record. Encoding, not this initializer, checks whether the parts go together.
    ///
    /// - Parameters:
    ///   - typeNameFormat: the format of the type.
    ///   - type: the type's bytes.
    ///   - identifier: the identifier's bytes.
    ///   - payload: the payload.
    public init(
        _ typeNameFormat: TypeNameFormat,
        type: some Collection<UInt8> = [],
        identifier: some Collection<UInt8> = [],
        payload: some Collection<UInt8> = []
    ) {
        precondition(type.count <= UInt32.max && identifier.count <= UInt32.max, "No type is that long.")
        self.typeNameFormat = typeNameFormat
        var storage: [UInt8] = []
        storage.reserveCapacity(type.count + identifier.count + payload.count)
        storage.append(contentsOf: type)
        storage.append(contentsOf: identifier)
        storage.append(contentsOf: payload)
        self.storage = storage
        start = 0
        typeLength = UInt32(type.count)
        identifierLength = UInt32(identifier.count)
        payloadCount = payload.count
    }

    /// Creates the record that a reference points to. It shares the bytes, unless chunks have to be joined.
    ///
    /// - Parameters:
    ///   - reference: a record that was found in `bytes`.
    ///   - bytes: the bytes of the message.
    @inlinable
    public init(_ reference: NDEFRecordReference, of bytes: [UInt8]) {
        if reference.isChunked {
            self.init(copying: reference, of: bytes)
        } else {
            self.init(sharing: reference, of: bytes)
        }
    }

    @inlinable
    init(sharing reference: NDEFRecordReference, of bytes: [UInt8]) {
        typeNameFormat = reference.typeNameFormat
        storage = bytes
        start = reference.bodyOffset
        typeLength = UInt32(reference.typeCount)
        identifierLength = UInt32(reference.identifierCount)
        payloadCount = reference.payloadCount
    }

    /// Creates the record that a reference points to, with a copy of the bytes.
    @usableFromInline
    init(copying reference: NDEFRecordReference, of bytes: [UInt8]) {
        var storage: [UInt8] = []
        storage.reserveCapacity(reference.type.count + reference.identifier.count + reference.payloadCount)
        storage.append(contentsOf: bytes[reference.type.lowerBound..<reference.identifier.upperBound])
        for range in reference.payloadRanges(in: bytes.span) {
            storage.append(contentsOf: bytes[range])
        }
        typeNameFormat = reference.typeNameFormat
        self.storage = storage
        start = 0
        typeLength = UInt32(reference.typeCount)
        identifierLength = UInt32(reference.identifierCount)
        payloadCount = reference.payloadCount
    }

    @inlinable var typeRange: Range<Int> { start..<start + Int(typeLength) }
    @inlinable var identifierRange: Range<Int> {
        start + Int(typeLength)..<start + Int(typeLength) + Int(identifierLength)
    }
    @inlinable var payloadRange: Range<Int> {
        let first = start + Int(typeLength) + Int(identifierLength)
        return first..<first + payloadCount
    }

    /// The type's bytes, as a copy. ``typeSlice`` doesn't copy.
    @inlinable public var type: [UInt8] { Array(typeSlice) }
    /// The identifier's bytes, as a copy. ``identifierSlice`` doesn't copy.
    @inlinable public var identifier: [UInt8] { Array(identifierSlice) }
    /// The payload, as a copy. ``payloadSlice`` doesn't copy.
    @inlinable public var payload: [UInt8] { Array(payloadSlice) }

    /// The type's bytes, without a copy. The indices don't start at 0.
    @inlinable public var typeSlice: ArraySlice<UInt8> { storage[typeRange] }
    /// The identifier's bytes, without a copy. The indices don't start at 0.
    @inlinable public var identifierSlice: ArraySlice<UInt8> { storage[identifierRange] }
    /// The payload, without a copy. The indices don't start at 0.
    @inlinable public var payloadSlice: ArraySlice<UInt8> { storage[payloadRange] }
}

extension NDEFRecord: Hashable {
    public static func == (lhs: NDEFRecord, rhs: NDEFRecord) -> Bool {
        lhs.typeNameFormat == rhs.typeNameFormat && lhs.typeSlice == rhs.typeSlice
            && lhs.identifierSlice == rhs.identifierSlice && lhs.payloadSlice == rhs.payloadSlice
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(typeNameFormat)
        hasher.combine(typeSlice)
        hasher.combine(identifierSlice)
        hasher.combine(payloadSlice)
    }
}
