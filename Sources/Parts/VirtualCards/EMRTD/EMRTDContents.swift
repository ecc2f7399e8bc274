// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Everything that an electronic travel document holds: the files of its application, and the zone that opens it.
///
/// ```swift
/// let contents = try EMRTDContents(
///     MachineReadableZone("P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"),
///     signer: .test
/// )
/// field.bring(Type4Tag(contents))
/// ```
public struct EMRTDContents: Sendable, Hashable {
    /// The machine readable zone that is printed in the document. Basic access control has its keys from it.
    public var zone: MachineReadableZone
    /// The files of the application by their identifiers: EF.COM 011E, EF.SOD 011D, and 0101 to 0110 for the data
    /// groups 1 to 16.
    public var files: [UInt16: [UInt8]]
    /// EF.CardAccess, which everybody may read; nil for a document without it, as one without PACE is.
    public var cardAccess: [UInt8]?

    /// The identifier of EF.COM, which lists the data groups.
    public static let comIdentifier: UInt16 = 0x011E
    /// The identifier of EF.SOD, the signed hashes of the data groups.
    public static let sodIdentifier: UInt16 = 0x011D

    /// Creates contents of given files, such as those of a document that was read.
    ///
    /// - Parameters:
    ///   - zone: the printed zone.
    ///   - files: the files by their identifiers.
    ///   - cardAccess: EF.CardAccess, or nil.
    public init(_ zone: MachineReadableZone, files: [UInt16: [UInt8]], cardAccess: [UInt8]? = nil) {
        self.zone = zone
        self.files = files
        self.cardAccess = cardAccess
    }

    /// Creates contents with data group 1 from the zone and data group 2 from a portrait, with EF.COM and EF.SOD.
    ///
    /// The same arguments give the same octets.
    ///
    /// - Parameters:
    ///   - zone: the printed zone.
    ///   - portrait: a portrait in JPEG; a drawn face of nobody unless given.
    ///   - otherGroups: whole files of the data groups 3 to 16, each with its tag, by their numbers.
    ///   - signer: who signs the hashes of the data groups; ``EMRTDSigner/test`` for a document that vouches for nothing.
    /// - Throws: ``EMRTDError`` with `unsuitableContents`, or `cryptography` when the system has no libcrypto.
    public init(
        _ zone: MachineReadableZone,
        portrait: [UInt8] = samplePortrait,
        otherGroups: [Int: [UInt8]] = [:],
        signer: EMRTDSigner
    ) throws(EMRTDError) {
        guard let face = Self.faceGroup(portrait) else {
            throw EMRTDError(.unsuitableContents, "The portrait is not a JPEG picture.")
        }
        var groups = otherGroups
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
    }
}

/// Why an electronic travel document could not be made. Equal by code.
public struct EMRTDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case malformedZone, wrongCheckDigit, unsuitableContents, cryptography }

        let kind: Kind

        /// The machine readable zone has not the lines of TD1, TD2 or TD3, or characters that such a zone does not have.
        public static let malformedZone = Code(kind: .malformedZone)
        /// A check digit of the machine readable zone is another one.
        public static let wrongCheckDigit = Code(kind: .wrongCheckDigit)
        /// A portrait is no JPEG, a data group has a wrong tag, or a signer is none.
        public static let unsuitableContents = Code(kind: .unsuitableContents)
        /// The system's libcrypto is missing, or refused.
        public static let cryptography = Code(kind: .cryptography)
    }

    /// The kind of failure.
    public var code: Code
    /// What is wrong, as a sentence for people.
    public var reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }

    public static func == (lhs: EMRTDError, rhs: EMRTDError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
