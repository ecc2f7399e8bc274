// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NDEF
import TagLink

/// An NDEF message: a list of records.
///
/// A message may be used from any thread. Each read or change of ``records`` is atomic.
public final class NFCNDEFMessage: NSObject, NSSecureCoding {
    private let storage: Locked<UncheckedSendableBox<[NFCNDEFPayload]>>

    /// Creates a message from its records.
    public init(records: [NFCNDEFPayload]) { storage = Locked(UncheckedSendableBox(records)) }

    /// Creates a message from its records.
    @available(*, deprecated, renamed: "init(records:)")
    public convenience init(NDEFRecords records: [NFCNDEFPayload]) { self.init(records: records) }

    /// Parses a message.
    ///
    /// - Parameter data: the bytes of one whole message.
    /// - Returns: nil when the data are not a message.
    public convenience init?(data: Data) { self.init(bytes: [UInt8](data)) }

    /// The records, in order.
    public var records: [NFCNDEFPayload] {
        get { storage.withLock { $0 }.value }
        set {
            let records = UncheckedSendableBox(newValue)
            storage.withLock { $0 = records }
        }
    }

    /// The size of the message when it is written, in bytes. One that can't be written, such as with a type of over
    /// 255 bytes, has a size nevertheless.
    public var length: Int { encodedLength }

    public override var description: String {
        "(\n" + records.map { "    \"\($0.description)\"" }.joined(separator: ",\n") + "\n)"
    }

    // MARK: NSSecureCoding

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) { coder.encode(records as NSArray, forKey: "records") }

    public convenience init?(coder: NSCoder) {
        let classes = [NSArray.self, NFCNDEFPayload.self] as [AnyClass]
        guard let records = coder.decodeObject(of: classes, forKey: "records") as? [NFCNDEFPayload] else { return nil }
        self.init(records: records)
    }
}

extension NFCNDEFMessage {
    /// Parses a message.
    ///
    /// - Parameter bytes: the bytes of one whole message.
    /// - Throws: `NDEFError` with the first rule that the bytes break.
    convenience init(parsing bytes: [UInt8]) throws(NDEFError) {
        let message = try NDEFMessage(decoding: bytes)
        self.init(records: message.records.map { NFCNDEFPayload($0) })
    }

    /// Parses a message; nil when the bytes are not a message.
    convenience init?(bytes: [UInt8]) {
        guard let message = try? NDEFMessage(decoding: bytes) else { return nil }
        self.init(records: message.records.map { NFCNDEFPayload($0) })
    }

    /// The message's bytes. Each record is written in chunks of its own chunk size.
    func encoded() throws(NDEFError) -> [UInt8] {
        let fields = records.map(\.fields)
        let message = NDEFMessage(fields.map(NDEFRecord.init))
        return try message.encoded(chunkSizes: fields.map(\.chunkSize))
    }

    /// The length of ``encoded()``; 0 when there are no records.
    var encodedLength: Int {
        records.map(\.fields).reduce(0) { length, fields in
            let record = NDEFRecord(fields)
            return length
                + (fields.chunkSize == 0 ? record.encodedLength : record.encodedLength(chunkSize: fields.chunkSize))
        }
    }
}

extension NFCNDEFPayload {
    /// Creates a record from one that was read. A reserved type name format counts as unknown.
    convenience init(_ record: NDEFRecord) {
        self.init(
            Fields(
                format: NFCTypeNameFormat(rawValue: record.typeNameFormat.rawValue) ?? .unknown,
                type: Data(record.typeSlice),
                identifier: Data(record.identifierSlice),
                payload: Data(record.payloadSlice)
            )
        )
    }
}

extension NDEFRecord {
    init(_ fields: NFCNDEFPayload.Fields) {
        self.init(
            TypeNameFormat(rawValue: fields.format.rawValue) ?? .unknown,
            type: fields.type,
            identifier: fields.identifier,
            payload: fields.payload
        )
    }
}
