// SPDX-License-Identifier: Apache-2.0

/// A file of a MIFARE DESFire application.
public struct DESFireFile: Sendable, Hashable {
    /// The kind of the file, with its content.
    public indirect enum Kind: Sendable, Hashable {
        case standard([UInt8])
        /// Writes take effect with COMMIT TRANSACTION.
        case backup([UInt8])
        case value(lower: Int32, upper: Int32, current: Int32, limitedCredit: Bool)
        /// Records of `size` bytes, oldest first, `maximum` at most.
        case linearRecords(size: Int, maximum: Int, records: [UInt8])
        /// Like linear records, but the newest record replaces the oldest.
        case cyclicRecords(size: Int, maximum: Int, records: [UInt8])
    }

    /// The file's number, 0 to 31.
    public var number: UInt8
    /// The ISO/IEC 7816-4 identifier; nil when the file has none.
    public var isoIdentifier: UInt16?
    /// The protection of data in messages.
    public var communication: CommunicationSettings
    /// The keys that may read, write, do both, and change the rights.
    public var accessRights: FileAccessRights
    /// The kind of the file, with its content.
    public var kind: Kind

    /// Creates a file.
    public init(
        number: UInt8,
        isoIdentifier: UInt16? = nil,
        communication: CommunicationSettings = .plain,
        accessRights: FileAccessRights,
        kind: Kind
    ) {
        self.number = number
        self.isoIdentifier = isoIdentifier
        self.communication = communication
        self.accessRights = accessRights
        self.kind = kind
    }

    /// The bytes of a data file; nil for values and records.
    public var data: [UInt8]? {
        switch kind {
        case .standard(let data), .backup(let data): data
        default: nil
        }
    }
}
