// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// The contents of an electronic travel document: the files of its application, and the zone that unlocks them.
///
/// ```swift
/// let contents = try EMRTDContents(
///     MachineReadableZone("P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"),
///     signer: .test
/// )
/// field.bring(VirtualType4Tag(contents))
/// ```
public struct EMRTDContents: Sendable, Hashable {
    /// The machine readable zone printed in the document. The keys of basic access control are derived from it.
    public var zone: MachineReadableZone
    /// The files of the application by identifier: EF.COM 011E, EF.SOD 011D, and 0101 to 0110 for data groups 1 to 16.
    public var files: [UInt16: [UInt8]]
    /// EF.CardAccess, which everybody may read; nil for a document without PACE, which lacks this file.
    public var cardAccess: [UInt8]?
    /// The card access number (CAN): six printed digits, which open a document with PACE; nil for a document without one.
    public var accessNumber: String?
    /// The chip's private key on brainpoolP256r1, 32 bytes, whose public key is in data groups 14 and 15; nil for a chip that can't
    /// prove that it is no copy.
    @Hidden public var chipKey: [UInt8]?

    /// Whether a text can be a card access number: 4 to 20 digits. Documents print six.
    package static func isAccessNumber(_ text: String) -> Bool {
        (4...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// EF.CardAccess of a document with PACE: generic mapping over brainpoolP256r1, with AES-128 (ICAO 9303-11, 9.2).
    public static let pace: [UInt8] = [
        0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, 0x02, 0x02, 0x02, 0x01,
        0x02, 0x02, 0x01, 0x0D,
    ]

    /// The identifier of EF.COM, which lists the data groups.
    public static let comIdentifier: UInt16 = 0x011E
    /// The identifier of EF.SOD, which contains the signed hashes of the data groups.
    public static let sodIdentifier: UInt16 = 0x011D

    /// Creates contents from existing files, such as files read from a document.
    public init(_ zone: MachineReadableZone, files: [UInt16: [UInt8]], cardAccess: [UInt8]? = nil) {
        self.zone = zone
        self.files = files
        self.cardAccess = cardAccess
    }

    /// Creates contents with data group 1 from the zone, data group 2 from a portrait, EF.COM and EF.SOD.
    ///
    /// The same arguments result in the same bytes.
    ///
    /// - Parameters:
    ///   - zone: the printed zone.
    ///   - portrait: a portrait, a JPEG file; by default a drawing of an invented face.
    ///   - otherGroups: the complete files of data groups 3 to 16 by number, each starting with its tag.
    ///   - chipKey: the chip's private key, which adds data groups 14 and 15; nil for a chip that can't prove that it is no copy.
    ///   - signer: the signer of the data groups' hashes. Use ``EMRTDSigner/test`` for a document that nobody needs to
    ///     trust.
    /// - Throws: ``EMRTDError`` with `unsuitableContents`, or `cryptography` when the system's libcrypto is missing.
    public init(
        _ zone: MachineReadableZone,
        portrait: [UInt8] = samplePortrait,
        otherGroups: [Int: [UInt8]] = [:],
        chipKey: [UInt8]? = nil,
        signer: EMRTDSigner
    ) throws(EMRTDError) {
        guard let face = Self.faceGroup(portrait) else {
            throw EMRTDError(.unsuitableContents, "The portrait is not a JPEG picture.")
        }
        var groups = try chipKey.map { key throws(EMRTDError) in try Self.chipGroups(key) } ?? [:]
        groups.merge(otherGroups) { $1 }
        groups[1] = Self.zoneGroup(zone)
        groups[2] = face
        for (number, file) in groups {
            guard let tag = Self.tag(ofGroup: number), file.first == tag else {
                throw EMRTDError(.unsuitableContents, "Data group \(number) does not begin with its tag.")
            }
        }
        var files = [
            Self.comIdentifier: Self.commonData(ofGroups: groups.keys.sorted()),
            Self.sodIdentifier: try Self.securityObject(of: groups, signer: signer),
        ]
        for (number, file) in groups { files[0x0100 | UInt16(number)] = file }
        self.init(zone, files: files)
        self.chipKey = chipKey
    }
}

/// The reason why an electronic travel document could not be created. Two errors with the same code are equal.
public struct EMRTDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case malformedZone, wrongCheckDigit, unsuitableContents, cryptography }

        let kind: Kind

        /// The machine readable zone does not have the lines of TD1, TD2 or TD3, or contains an invalid character.
        public static let malformedZone = Code(kind: .malformedZone)
        /// A check digit of the machine readable zone is wrong.
        public static let wrongCheckDigit = Code(kind: .wrongCheckDigit)
        /// A portrait is not a JPEG file, a data group has a wrong tag, or the signer is invalid.
        public static let unsuitableContents = Code(kind: .unsuitableContents)
        /// The system's libcrypto is missing, or returned an error.
        public static let cryptography = Code(kind: .cryptography)
    }

    /// The kind of failure.
    public var code: Code
    /// The reason, as a sentence for people.
    public var reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }

    public static func == (lhs: EMRTDError, rhs: EMRTDError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// The data groups (ICAO 9303-10, 4.7).
extension EMRTDContents {
    /// Returns the tag at the start of a data group; nil for an unknown group.
    static func tag(ofGroup number: Int) -> UInt8? {
        let tags: [UInt8] = [
            0x61, 0x75, 0x63, 0x76, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70,
        ]
        return tags.indices.contains(number - 1) ? tags[number - 1] : nil
    }

    /// Returns EF.COM: data structure version 1.7, Unicode version 4.0.0, and the tags of the existing groups.
    static func commonData(ofGroups numbers: [Int]) -> [UInt8] {
        DataObject(
            0x60,
            [
                DataObject(0x5F01, Array("0107".utf8)), DataObject(0x5F36, Array("040000".utf8)),
                DataObject(0x5C, numbers.compactMap { tag(ofGroup: $0) }),
            ]
        ).bytes
    }

    /// Returns data group 1: the zone as printed.
    static func zoneGroup(_ zone: MachineReadableZone) -> [UInt8] {
        DataObject(0x61, [DataObject(0x5F1F, zone.characters)]).bytes
    }

    /// Returns data group 2: one facial image; nil when the portrait is not a JPEG file.
    static func faceGroup(_ portrait: [UInt8]) -> [UInt8]? {
        guard let record = faceRecord(portrait) else { return nil }
        // The header of ISO/IEC 7816-11: facial features, in format 8 of ISO/IEC JTC 1/SC 37.
        let header = DataObject(
            0xA1,
            [
                DataObject(0x81, [0x02]), DataObject(0x82, [0x00]), DataObject(0x87, [0x01, 0x01]),
                DataObject(0x88, [0x00, 0x08]),
            ]
        )
        let template = DataObject(0x7F60, [header, DataObject(0x5F2E, record)])
        return DataObject(0x75, [DataObject(0x7F61, [DER.number(1), template])]).bytes
    }

    /// Returns the facial record of ISO/IEC 19794-5:2005, 5.
    private static func faceRecord(_ portrait: [UInt8]) -> [UInt8]? {
        guard let picture = JPEGSize(portrait) else { return nil }
        let length = 20 + 12 + portrait.count
        var record =
            Array("FAC\0010\0".utf8) + [UInt8](bigEndian: 14 + length, count: 4) + [UInt8](bigEndian: 1, count: 2)
        // Facial information: no feature points; sex, eyes, hair, properties, expression and pose are unspecified.
        record += [UInt8](bigEndian: length, count: 4) + Array(repeating: 0, count: 16)
        // Image information: full frontal, JPEG; the source, the camera and the quality are unspecified.
        record +=
            [0x01, 0x00] + [UInt8](bigEndian: picture.width, count: 2) + [UInt8](bigEndian: picture.height, count: 2)
        record += [picture.components == 1 ? 0x03 : 0x01, 0x00, 0x00, 0x00, 0x00, 0x00]
        return record + portrait
    }
}

/// The size of a JPEG picture, from its frame header (ITU-T T.81, B.2.2).
struct JPEGSize {
    var width: Int
    var height: Int
    /// The number of colour components: 1 for grey, 3 for colour.
    var components: Int

    /// Finds the frame header; returns nil when the bytes are not a complete JPEG file.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0xFF, 0xD8]), bytes.suffix(2) == [0xFF, 0xD9] else { return nil }
        var position = 2
        while position + 10 <= bytes.count {
            guard bytes[position] == 0xFF else { return nil }
            let marker = bytes[position + 1]
            // C0 to CF start a frame header, except C4 and CC (tables) and C8 (an extension).
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                height = Int(high: bytes[position + 5], low: bytes[position + 6])
                width = Int(high: bytes[position + 7], low: bytes[position + 8])
                components = Int(bytes[position + 9])
                guard width > 0, height > 0 else { return nil }
                return
            }
            position += 2 + Int(high: bytes[position + 2], low: bytes[position + 3])
        }
        return nil
    }
}

extension EMRTDContents {
    /// A drawing of an invented face: a JPEG of 90 by 120 grey pixels.
    public static let samplePortrait: [UInt8] = [UInt8](hexadecimal: digits.utf8.filter { $0 != 0x0A }) ?? []

    private static let digits = """
        ffd8ffe000104a46494600010100000100010000ffdb004300120c0d100d0b12100e10141312151b2c1d1b18181b362729202c40
        3944433f393e3d47506657474b614d3d3e59795a61696d72737245557d867c6f856670726effc0000b080078005a01011100ffc4
        001a000100020301000000000000000000000000030402050601ffc4003610000103020402070605050000000000000100020304
        11051221314151061314226171815291a1b1d1e115232442c13233627292ffda0008010100003f00ea9111111111111111140ead
        a56bb2baa6107917852b1ed7b7331c1cde6d370b2444444455312c462c3a0cf2779e746306ee3f45c8d7627535cf2669086708db
        a342a8a4a7a89a99e1f048e8ddcda6cba8c1b1b6d6910545993f02367fdfc16e1111116323db1c6e7bcd9ad0493c82e1b10ad7d7
        d5be67e80e8d6fb2de0156445eb5c5ae0e6921c0dc11c0aedb08aeedf42d94dbac6f75e3c7eeaea2222d4f496730e16580d8cae0
        df4dcfc96a303c323ab124d50d2e8c775a2f6b9e27d158a9e8e03734b35bfc64fa85ac9309ae8e40c34ef713b16ea0faabb4dd1d
        99f635323631ecb7bc7e8acd760703281e699aeeb59deb9372ee6141d15a8c95b2424f76465c798fb5d7528888b9ee973886528e
        1771f92bd4103a0c3228a321afc97b917173aa93b20b5faea8cfedf587e5b7c14b187060123839c37205aea2ecc6425d34b238df
        40c716868f21fcace163e3cc1d2191b7eee6dc7813c573f411765e93b626ec24701e4415d622222d174b22cd4d4f25b46bcb4fa8
        fb2dab6c00d341654dd4f527a44dab137e8c32c62bf85b2db6df5bab85c33016dd51c6a9aaab21a66d0cdd4ba37ddfde22fc8e9b
        db92d848439d768e1ef5a58e2cfd2d240d18cce7fe6dfcae81111154c5690d6e1d342dfeb22ecff61a858d2c9d752c520fdcc07e
        0a558820caed76d02c9154c321cd5b5958468f7f56cf26e84fbfe4b6688888a03108ef9746924db912b09256c4d0e79b026d7e5e
        6b2b5ec77580958653183770172070f35206971b036f1e4a58d8d8e36b182cd68b00b2444445e117162a17b2c0822e0aafd8e1e0
        d734726bc81ee5345136319626068f053b5b9478ac911111114751fd972a799dcca9e93573fd159444444455ea6ba9e97496419b
        d91a9547f186544a216445ad77ee7394aa396bc50b9bdc0fcfb8cd6214f4f8b52ce402e31b8f07e9f1579111136dd69311c5cb89
        8a90d9bb1906e7c96a0ea6e7728ac36b6a1adca24d3c45ca81ee73dc5cf25ce3b92bc5728712969086925f17161e1e4ba28268ea
        221244ebb4fc14888b518e56960ecd19b122ef239725a44444445770bad34950038fe53cd9c3978ae95178480093b0d4ae4a794c
        f3be576ef24a8d111111174f854c67a08dce37737ba7d15b5fffd9
        """
}
