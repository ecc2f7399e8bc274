// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// One record of an NDEF message.
///
/// A record may be used from any thread. Each read or change of a property is atomic.
public final class NFCNDEFPayload: NSObject, NSSecureCoding {
    struct Fields: Sendable {
        var format: NFCTypeNameFormat
        var type: Data
        var identifier: Data
        var payload: Data
        /// The size of the chunks in which the payload is written; 0 for one piece.
        var chunkSize = 0
    }

    private let storage: Locked<Fields>

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - format: how to interpret the type.
    ///   - type: the type, at most 255 bytes.
    ///   - identifier: the identifier, at most 255 bytes; empty for none.
    ///   - payload: the payload.
    public convenience init(format: NFCTypeNameFormat, type: Data, identifier: Data, payload: Data) {
        self.init(Fields(format: format, type: type, identifier: identifier, payload: payload))
    }

    /// Creates a record that is written in chunks.
    ///
    /// - Parameters:
    ///   - format: how to interpret the type.
    ///   - type: the type, at most 255 bytes.
    ///   - identifier: the identifier, at most 255 bytes; empty for none.
    ///   - payload: the payload.
    ///   - chunkSize: the maximum number of payload bytes in a chunk; 0 for one piece.
    public convenience init(format: NFCTypeNameFormat, type: Data, identifier: Data, payload: Data, chunkSize: Int) {
        self.init(
            Fields(
                format: format,
                type: type,
                identifier: identifier,
                payload: payload,
                chunkSize: max(chunkSize, 0)
            )
        )
    }

    init(_ fields: Fields) {
        storage = Locked(fields)
    }

    var fields: Fields { storage.withLock { $0 } }

    /// How to interpret the type.
    public var typeNameFormat: NFCTypeNameFormat {
        get { storage.withLock { $0.format } }
        set { storage.withLock { $0.format = newValue } }
    }

    /// The type.
    public var type: Data {
        get { storage.withLock { $0.type } }
        set { storage.withLock { $0.type = newValue } }
    }

    /// The identifier; empty for none.
    public var identifier: Data {
        get { storage.withLock { $0.identifier } }
        set { storage.withLock { $0.identifier = newValue } }
    }

    /// The payload; its form depends on the type.
    public var payload: Data {
        get { storage.withLock { $0.payload } }
        set { storage.withLock { $0.payload = newValue } }
    }

    public override var description: String {
        let fields = fields
        let type = String(decoding: fields.type, as: UTF8.self).debugDescription
        return "TNF=\(fields.format.rawValue), Payload Type=\(type), "
            + "Payload ID=\(fields.identifier.hex), Payload=\(fields.payload.hex)"
    }

    // MARK: NSSecureCoding

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) {
        let fields = fields
        coder.encode(Int(fields.format.rawValue), forKey: "typeNameFormat")
        coder.encode(fields.type as NSData, forKey: "type")
        coder.encode(fields.identifier as NSData, forKey: "identifier")
        coder.encode(fields.payload as NSData, forKey: "payload")
        coder.encode(fields.chunkSize, forKey: "chunkSize")
    }

    public convenience init?(coder: NSCoder) {
        guard
            let rawFormat = UInt8(exactly: coder.decodeInteger(forKey: "typeNameFormat")),
            let format = NFCTypeNameFormat(rawValue: rawFormat),
            let type = coder.decodeObject(of: NSData.self, forKey: "type"),
            let identifier = coder.decodeObject(of: NSData.self, forKey: "identifier"),
            let payload = coder.decodeObject(of: NSData.self, forKey: "payload")
        else { return nil }
        self.init(
            Fields(
                format: format,
                type: type as Data,
                identifier: identifier as Data,
                payload: payload as Data,
                chunkSize: max(coder.decodeInteger(forKey: "chunkSize"), 0)
            )
        )
    }
}
