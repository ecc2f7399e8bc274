// SPDX-License-Identifier: Apache-2.0
public import CardCryptography

/// The persistent state of a MIFARE DESFire.
public struct DESFireContents: Sendable, Hashable {
    /// The size of a card's memory.
    public enum Size: UInt8, Sendable, Hashable, CaseIterable {
        case kilobytes2 = 0x16
        case kilobytes4 = 0x18
        case kilobytes8 = 0x1A

        /// The memory available for files, in bytes.
        package var bytes: Int {
            switch self {
            case .kilobytes2: 2272
            case .kilobytes4: 4832
            case .kilobytes8: 7936
            }
        }
    }

    /// The UID, 7 bytes.
    public var uid: [UInt8]
    /// The answer to GET VERSION: 7 bytes for hardware, 7 for software, and 14 for production, including the UID.
    public var version: [UInt8]
    /// The settings of the card's master key.
    public var keySettings: UInt8 = 0x0F
    /// The card's master key. A new card has a DES key of zeros.
    public var masterKey = DESFireKey.zero(.des)
    /// The answer to READ SIGNATURE, 56 bytes; zeros by default. EV1 lacks this command.
    public var signature = [UInt8](repeating: 0, count: 56)
    /// The changes made by SET CONFIGURATION.
    public var configuration = DESFireConfiguration()
    /// The applications.
    public var applications: [DESFireApplication]
    /// How many more bytes the card reports as used than its files need; negative if it reports fewer. A real card also
    /// needs memory for applications and keys, by unpublished rules.
    public var reservedMemory = 0

    /// Creates a MIFARE DESFire, by default without applications.
    public init(
        uid: [UInt8] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66],
        generation: Generation = .ev1,
        size: Size = .kilobytes4,
        applications: [DESFireApplication] = []
    ) {
        self.uid = uid
        self.applications = applications
        let versions = generation.versions
        version = [0x04, 0x01, 0x01] + versions.hardware + [size.rawValue, 0x05]
        version += [0x04, 0x01, 0x01] + versions.software + [size.rawValue, 0x05]
        version += uid + [0xBA, 0x54, 0x45, 0x72, 0x80, 0x23, 0x21]
    }

    /// The size of the card's memory, derived from its version.
    public var size: Size { Size(rawValue: version[5]) ?? .kilobytes8 }

    /// The number of free bytes. Files use whole units of 32 bytes. Setting this changes ``reservedMemory``.
    public var freeMemory: Int {
        get { max(0, size.bytes - fileMemory - reservedMemory) }
        set { reservedMemory = size.bytes - fileMemory - newValue }
    }

    private var fileMemory: Int {
        applications.flatMap(\.files).reduce(0) { sum, file in
            switch file.kind {
            case .standard(let data): sum + (data.count + 31) / 32 * 32
            case .backup(let data): sum + (data.count + 31) / 32 * 64
            case .value: sum + 32
            case .linearRecords(let size, let maximum, _), .cyclicRecords(let size, let maximum, _):
                sum + (size * maximum + 31) / 32 * 32
            }
        }
    }
}

extension DESFireContents {
    /// Creates a card with an empty NDEF application, as NXP's tools do. The NDEF file has 0800, 1000 or 1E00 bytes,
    /// depending on the memory size.
    public static func ndef(
        uid: [UInt8] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66],
        generation: Generation = .ev1,
        size: Size = .kilobytes4
    ) -> DESFireContents {
        let bytes =
            switch size {
            case .kilobytes2: 0x0800
            case .kilobytes4: 0x1000
            case .kilobytes8: 0x1E00
            }
        var container: [UInt8] = [0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04]
        container += [UInt8(bytes >> 8), UInt8(bytes & 0xFF), 0x00, 0x00]
        return DESFireContents(
            uid: uid,
            generation: generation,
            size: size,
            applications: [.ndef(container: container, ndef: Array(repeating: 0, count: bytes))]
        )
    }

    // MARK: Generation

    /// The generations of the product. Later generations support the commands of the earlier ones.
    public enum Generation: Sendable, Hashable, CaseIterable {
        case ev1, ev2, ev3

        /// The product's name, such as `DESFire EV1`.
        public var name: String {
            switch self {
            case .ev1: "DESFire EV1"
            case .ev2: "DESFire EV2"
            case .ev3: "DESFire EV3"
            }
        }

        /// The versions of hardware and software, major and minor (NXP AN12343; AN12752).
        var versions: (hardware: [UInt8], software: [UInt8]) {
            switch self {
            case .ev1: ([0x01, 0x00], [0x01, 0x04])
            case .ev2: ([0x12, 0x00], [0x02, 0x01])
            case .ev3: ([0x33, 0x00], [0x03, 0x00])
            }
        }
    }

    /// The product's generation, derived from its version.
    public var generation: Generation {
        let hardware = version.count > 3 ? version[3] : 0
        return switch hardware & 0x0F {
        case 0x02: .ev2
        case 0x03: .ev3
        default: .ev1
        }
    }
}

/// The changes that SET CONFIGURATION made to a MIFARE DESFire. The defaults are those of a new card.
public struct DESFireConfiguration: Sendable, Hashable {
    /// Whether FORMAT PICC is refused. This can't be undone.
    public var isFormatDisabled = false
    /// Whether the card is activated with a random UID of 4 bytes that changes at each power-up. This can't be undone.
    /// A reader with a key gets the permanent UID with GET CARD UID.
    public var usesRandomUID = false
    /// The key for new applications: 24 bytes, of which each kind of key uses as many as it needs; nil for zeros.
    @Hidden public var defaultKey: [UInt8]? = nil
    /// The version of ``defaultKey``.
    public var defaultKeyVersion: UInt8 = 0
    /// The ATS that replaces the tag's original ATS from the next power-up on; nil for no change.
    public var answerToSelect: [UInt8]?

    /// The length of a default key, which is the same for all kinds of keys.
    public static let defaultKeyLength = 24
    /// The maximum length of an ATS.
    public static let maximumAnswerToSelect = 20

    /// Creates the configuration of a new card.
    public init() {}

    func key(for kind: DESFireKey.Kind) -> DESFireKey {
        guard let defaultKey else { return .zero(kind) }
        var bytes = Array(defaultKey.prefix(kind.length))
        // A DES key's version is in the lowest bits of its bytes.
        if kind != .aes {
            for index in bytes.indices where index < 16 {
                bytes[index] = bytes[index] & 0xFE | defaultKeyVersion >> (7 - index % 8) & 1
            }
        }
        return DESFireKey(kind, bytes, version: defaultKeyVersion) ?? .zero(kind)
    }
}

/// An application of a MIFARE DESFire.
public struct DESFireApplication: Sendable, Hashable {
    /// The AID, a 24-bit number.
    public var identifier: UInt32
    /// The key settings, such as bit 1 for free listing, and bit 2 for free creation and deletion of files.
    public var keySettings: UInt8
    /// The number of keys in the lower four bits. The upper bits are the key kind and whether ISO identifiers are used.
    public var keyCount: UInt8
    /// The keys. ``keyCount`` gives their number and kind. Missing keys are zero.
    public var keys: [DESFireKey]
    /// The ISO/IEC 7816-4 file identifier of the dedicated file.
    public var isoIdentifier: UInt16?
    /// The name of the dedicated file.
    public var name: [UInt8]?
    /// The files.
    public var files: [DESFireFile]

    /// Creates an application. Its keys are zero by default, with the given versions.
    public init(
        identifier: UInt32,
        keySettings: UInt8 = 0x0F,
        keyCount: UInt8 = 0x21,
        keyVersions: [UInt8]? = nil,
        keys: [DESFireKey]? = nil,
        isoIdentifier: UInt16? = nil,
        name: [UInt8]? = nil,
        files: [DESFireFile] = []
    ) {
        self.identifier = identifier
        self.keySettings = keySettings
        self.keyCount = keyCount
        let kind = DESFireKey.Kind(code: keyCount) ?? .des
        self.keys =
            keys
            ?? (keyVersions ?? Array(repeating: 0, count: Int(keyCount & 0x0F))).map { .zero(kind, version: $0) }
        self.isoIdentifier = isoIdentifier
        self.name = name
        self.files = files
    }

    /// The version of each key.
    public var keyVersions: [UInt8] { keys.map(\.version) }

    /// The cipher of the keys.
    public var keyKind: DESFireKey.Kind { DESFireKey.Kind(code: keyCount) ?? .des }

    func key(_ number: UInt8) -> DESFireKey? {
        guard number < keyCount & 0x0F else { return nil }
        return Int(number) < keys.count ? keys[Int(number)] : .zero(keyKind)
    }

    /// Stores a key. Missing keys with lower numbers become zero.
    package mutating func setKey(_ number: UInt8, _ key: DESFireKey) {
        while keys.count <= Int(number) { keys.append(.zero(keyKind)) }
        keys[Int(number)] = key
    }

    /// Creates the NDEF application (NXP AN11004): file 01 is the capability container, file 02 the NDEF file with its
    /// length field.
    public static func ndef(container: [UInt8], ndef: [UInt8]) -> DESFireApplication {
        DESFireApplication(
            identifier: 0x00_0001,
            isoIdentifier: 0xE110,
            name: [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01],
            files: [
                DESFireFile(number: 1, isoIdentifier: 0xE103, accessRights: 0xE000, kind: .standard(container)),
                DESFireFile(number: 2, isoIdentifier: 0xE104, accessRights: 0xEEE0, kind: .standard(ndef)),
            ]
        )
    }

    /// The application with the names of the NDEF mapping (NXP AN11004) if its identifier and its files 1 and 2 follow the
    /// mapping. No command lists which file has which name.
    package var namedForNDEF: DESFireApplication {
        let container = files.first { $0.number == 1 }?.data
        guard identifier == 0x00_0001, let container, container.count >= 15, container[7] == 0x04,
            files.first(where: { $0.number == 2 })?.data != nil
        else { return self }
        let names = DESFireApplication.ndef(container: [], ndef: [])
        var named = self
        (named.isoIdentifier, named.name) = (names.isoIdentifier, names.name)
        named.keyCount |= 0x20
        for index in named.files.indices {
            let number = named.files[index].number
            named.files[index].isoIdentifier = names.files.first { $0.number == number }?.isoIdentifier
        }
        return named
    }
}

/// A file of a MIFARE DESFire application.
public struct DESFireFile: Sendable, Hashable {
    /// The kind of the file, with its content.
    public indirect enum Kind: Sendable, Hashable {
        case standard([UInt8])
        /// A data file whose writes take effect with COMMIT TRANSACTION.
        case backup([UInt8])
        case value(lower: Int32, upper: Int32, current: Int32, limitedCredit: Bool)
        /// At most `maximum` records of `size` bytes, oldest first.
        case linearRecords(size: Int, maximum: Int, records: [UInt8])
        /// Like linear records, but the newest record replaces the oldest.
        case cyclicRecords(size: Int, maximum: Int, records: [UInt8])
    }

    /// The file's number, 0 to 31.
    public var number: UInt8
    /// The ISO/IEC 7816-4 identifier; nil when the file has none.
    public var isoIdentifier: UInt16?
    /// The protection of this file's data in messages.
    public var communication: CommunicationSettings
    /// The keys that may read, write, do both, or change the rights.
    public var accessRights: FileAccessRights
    /// The kind of the file, with its content.
    public var kind: Kind {
        didSet { isUnread = false }
    }
    /// Whether an image does not have the content, because nobody could read it. ``kind`` has zeros or no records then,
    /// until the file is written.
    public var isUnread = false

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

/// A file's access rights on a DESFire or NTAG 424 card: a key for each right (NTAG 424 DNA data sheet, 8.2.3.3).
///
/// An integer literal is the 16 bits as in data sheets. With 0xE000, everybody can read, and key 0 may do the rest.
public struct FileAccessRights: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// An operation that a key may perform on a file.
    public enum Right: Int, Sendable, Hashable, CaseIterable {
        case read = 12
        case write = 8
        /// Read, write, and change a value in both directions.
        case readWrite = 4
        /// Change the file's settings.
        case change = 0
    }

    /// The holder of a right.
    public enum Holder: Sendable, Hashable {
        /// A reader that authenticated with the key of this number, 0 to 13.
        case key(UInt8)
        case everybody
        case nobody
    }

    /// Four bits per right, starting with reading at the highest: a key number, E for everybody, or F for nobody.
    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public init(integerLiteral value: UInt16) { rawValue = value }

    /// Returns the holder of a right.
    public func holder(of right: Right) -> Holder {
        switch UInt8(rawValue >> right.rawValue & 0x0F) {
        case 0x0E: .everybody
        case 0x0F: .nobody
        case let number: .key(number)
        }
    }

    /// Returns whether everybody or the authenticated key has one of these rights.
    func allow(_ provedKey: UInt8?, _ rights: [Right]) -> Bool {
        rights.contains { holder(of: $0) == .everybody } || hasOne(of: rights, provedKey)
    }

    /// Returns the protection of data between card and reader. If the authenticated key has one of the rights, the
    /// file's settings apply. Otherwise everybody has one of the rights, and the data are plain.
    func mode(_ settings: CommunicationSettings, _ provedKey: UInt8?, _ rights: [Right]) -> CommunicationMode {
        hasOne(of: rights, provedKey) ? settings.mode : .plain
    }

    private func hasOne(of rights: [Right], _ provedKey: UInt8?) -> Bool {
        guard let provedKey else { return false }
        return rights.contains { holder(of: $0) == .key(provedKey) }
    }
}
