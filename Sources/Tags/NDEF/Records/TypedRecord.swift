// SPDX-License-Identifier: Apache-2.0

/// A value that can be decoded from a record's payload and encoded as one.
public protocol TypedRecord: Sendable, Hashable {
    /// Decodes a record.
    ///
    /// - Parameter record: the record.
    /// - Throws: ``RecordError`` with `wrongType` when the record has another type, or with the fault in the payload.
    init(_ record: NDEFRecord) throws(RecordError)

    /// Makes a record.
    ///
    /// - Parameter identifier: the record's identifier.
    /// - Returns: a record that decodes to this value.
    /// - Throws: ``RecordError`` when the value can't be encoded, such as `valueTooLong`.
    func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord
}

extension TypedRecord {
    /// Makes a record without an identifier.
    ///
    /// - Throws: as ``makeRecord(identifier:)`` does.
    public func makeRecord() throws(RecordError) -> NDEFRecord { try makeRecord(identifier: []) }
}
