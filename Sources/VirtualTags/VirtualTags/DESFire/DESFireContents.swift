// SPDX-License-Identifier: Apache-2.0

/// The persistent state of a MIFARE DESFire.
public struct DESFireContents: Sendable, Hashable {
    /// The size of a card's memory.
    public enum Size: UInt8, Sendable, Hashable, CaseIterable {
        case kilobytes2 = 0x16
        case kilobytes4 = 0x18
        case kilobytes8 = 0x1A

        /// The size of the memory for files, in bytes.
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
    /// The three parts of GET VERSION: hardware 7 bytes, software 7, production 14 with the UID.
    public var version: [UInt8]
    /// The settings of the card's master key.
    public var keySettings: UInt8 = 0x0F
    /// The card's master key; on a new card, a DES key of zeros.
    public var masterKey = DESFireKey.zero(.des)
    /// The answer to READ SIGNATURE, 56 bytes, which EV1 does not have; zeros unless it was given.
    public var signature = [UInt8](repeating: 0, count: 56)
    /// The changes of SET CONFIGURATION.
    public var configuration = DESFireConfiguration()
    /// The applications.
    public var applications: [DESFireApplication]
    /// How many more bytes the card reports as used than its files need; negative when it reports fewer. A real card
    /// also needs memory for applications and keys, by unpublished rules.
    public var reservedMemory = 0

    /// Creates the contents of a MIFARE DESFire.
    ///
    /// - Parameters:
    ///   - uid: the UID.
    ///   - generation: the product's generation.
    ///   - size: the size of the memory.
    ///   - applications: the applications; a new card has none.
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

    /// The size of the card's memory, from its version.
    public var size: Size { Size(rawValue: version[5]) ?? .kilobytes8 }

    /// The number of free bytes. Files use whole units of 32 bytes. Setting this changes ``reservedMemory``.
    public var freeMemory: Int {
        get { max(0, size.bytes - fileMemory - reservedMemory) }
        set { reservedMemory = size.bytes - fileMemory - newValue }
    }

    /// The number of bytes that the files use.
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
    /// Creates a card with an empty NDEF application, like NXP's tools.
    ///
    /// - Parameters:
    ///   - uid: the UID.
    ///   - generation: the product's generation.
    ///   - size: the size of the memory; the NDEF file has 0800, 1000 or 1E00 bytes.
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

    /// The generations of the product. Later ones support the commands of the earlier ones.
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

    /// The product's generation, from its version.
    public var generation: Generation {
        let hardware = version.count > 3 ? version[3] : 0
        return switch hardware & 0x0F {
        case 0x02: .ev2
        case 0x03: .ev3
        default: .ev1
        }
    }
}
