// SPDX-License-Identifier: Apache-2.0

/// The contents of an electronic travel document: the files of its application, and the zone that gives access to them.
///
/// ```swift
/// let contents = try EMRTDContents(
///     MachineReadableZone("P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"),
///     signer: .test
/// )
/// field.bring(VirtualType4Tag(contents))
/// ```
public struct EMRTDContents: Sendable, Hashable {
    /// The machine readable zone that is printed in the document. The keys of basic access control are derived from it.
    public var zone: MachineReadableZone
    /// The files of the application by identifier: EF.COM 011E, EF.SOD 011D, and 0101 to 0110 for data groups 1 to 16.
    public var files: [UInt16: [UInt8]]
    /// EF.CardAccess, which everybody may read; nil for a document without it. Only documents with PACE have it.
    public var cardAccess: [UInt8]?

    /// The identifier of EF.COM, which lists the data groups.
    public static let comIdentifier: UInt16 = 0x011E
    /// The identifier of EF.SOD, the signed hashes of the data groups.
    public static let sodIdentifier: UInt16 = 0x011D

    /// Creates contents from existing files, such as those that were read from a document.
    ///
    /// - Parameters:
    ///   - zone: the printed zone.
    ///   - files: the files by identifier.
    ///   - cardAccess: EF.CardAccess, or nil.
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
    ///   - signer: the signer of the data groups' hashes; ``EMRTDSigner/test`` for a document that nobody needs to
    ///     trust.
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
