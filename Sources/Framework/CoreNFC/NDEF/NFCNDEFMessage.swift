// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// An NDEF message: a list of records.
///
/// A message may be used from any thread. Each read or change of ``records`` is atomic.
public final class NFCNDEFMessage: NSObject, NSSecureCoding {
    private let storage: Locked<UncheckedSendableBox<[NFCNDEFPayload]>>

    /// Creates a message from its records.
    ///
    /// - Parameter records: the records, in order.
    public init(records: [NFCNDEFPayload]) {
        storage = Locked(UncheckedSendableBox(records))
    }

    /// Creates a message from its records.
    ///
    /// - Parameter records: the records, in order.
    @available(*, deprecated, renamed: "init(records:)")
    public convenience init(NDEFRecords records: [NFCNDEFPayload]) {
        self.init(records: records)
    }

    /// Parses a message.
    ///
    /// - Parameter data: the bytes of one whole message.
    /// - Returns: nil when the data are not a message.
    public convenience init?(data: Data) {
        self.init(bytes: [UInt8](data))
    }

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

    public func encode(with coder: NSCoder) {
        coder.encode(records as NSArray, forKey: "records")
    }

    public convenience init?(coder: NSCoder) {
        let classes = [NSArray.self, NFCNDEFPayload.self] as [AnyClass]
        guard let records = coder.decodeObject(of: classes, forKey: "records") as? [NFCNDEFPayload] else { return nil }
        self.init(records: records)
    }
}
