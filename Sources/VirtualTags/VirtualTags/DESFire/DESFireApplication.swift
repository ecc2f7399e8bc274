// SPDX-License-Identifier: Apache-2.0

/// An application of a MIFARE DESFire.
public struct DESFireApplication: Sendable, Hashable {
    /// The AID, a 24-bit number.
    public var identifier: UInt32
    /// The key settings: bit 1 free listing, bit 2 free creation and deletion of files.
    public var keySettings: UInt8
    /// The number of keys in the lower four bits; ISO identifiers and the kind of keys in the upper ones.
    public var keyCount: UInt8
    /// The keys. ``keyCount`` has their number and kind. Missing keys are zero.
    public var keys: [DESFireKey]
    /// The ISO/IEC 7816-4 file identifier of the dedicated file.
    public var isoIdentifier: UInt16?
    /// The name of the dedicated file.
    public var name: [UInt8]?
    /// The files.
    public var files: [DESFireFile]

    /// Creates an application.
    ///
    /// - Parameters:
    ///   - identifier: the AID.
    ///   - keySettings: the key settings.
    ///   - keyCount: the number of keys and their kind: bit 6 triple DES with three keys, bit 7 AES.
    ///   - keyVersions: the versions of keys that are zero otherwise.
    ///   - keys: the keys; by default zero.
    ///   - isoIdentifier: the ISO/IEC 7816-4 file identifier.
    ///   - name: the name of the dedicated file.
    ///   - files: the files.
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

    /// Returns a key; nil when the application has no such key.
    func key(_ number: UInt8) -> DESFireKey? {
        guard number < keyCount & 0x0F else { return nil }
        return Int(number) < keys.count ? keys[Int(number)] : .zero(keyKind)
    }

    /// Stores a key. Missing keys before it become zero.
    package mutating func setKey(_ number: UInt8, _ key: DESFireKey) {
        while keys.count <= Int(number) { keys.append(.zero(keyKind)) }
        keys[Int(number)] = key
    }

    /// The NDEF application (NXP AN11004): the capability container in file 01, the NDEF file in file 02.
    ///
    /// - Parameters:
    ///   - container: the capability container.
    ///   - ndef: the NDEF file with its length field.
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
}
