// SPDX-License-Identifier: Apache-2.0

/// What a tag tells of itself beside its message.
extension Type5Tag {
    /// GET SYSTEM INFORMATION, and the extended one for a tag that gives its size there alone; nil where the tag does not
    /// tell, or its reader can't ask.
    package func readSystemInfo() async throws(TagError) -> ISO15693SystemInfo? {
        let told = try await systemInformation(.getSystemInformation, []).flatMap { try? ISO15693SystemInfo($0) }
        if told?.blockCount != nil { return told }
        // DSFID, AFI, memory and IC reference.
        let extended = try await systemInformation(.extendedGetSystemInformation, [0x0F])
            .flatMap { try? ISO15693SystemInfo($0, isExtended: true) }
        return extended ?? told
    }

    /// The blocks that are locked, by GET MULTIPLE BLOCK SECURITY STATUS; nil where the tag, or its reader, does not have
    /// the command.
    ///
    /// - Parameter count: how many blocks there are.
    package func readLockedBlocks(of count: Int) async throws(TagError) -> [Int]? {
        var locked: [Int] = []
        var first = 0
        while first < count {
            let size = min(Self.maximumBlocksPerRead, count - first)
            let place = address(first)
            let octets =
                place.isLong
                ? try await systemInformation(
                    .extendedGetMultipleBlockSecurityStatus,
                    place.octets + [UInt8(size - 1), 0]
                )
                : try await systemInformation(.getMultipleBlockSecurityStatus, place.octets + [UInt8(size - 1)])
            guard let octets, octets.count == size else { return nil }
            locked += octets.indices.filter { octets[$0] & 0x01 != 0 }.map { first + $0 }
            first += size
        }
        return locked
    }

    /// The octets of the capability container; nil before it was read, and where it is none.
    package var capabilityContainerOctets: [UInt8]? { capabilityContainer?.octets }

    /// The 32 octets of NXP's READ SIGNATURE; nil where the tag has none, or its reader can't ask.
    package func readSignature() async throws(TagError) -> [UInt8]? {
        guard hasSignature, let octets = try await systemInformation(Self.readSignatureCommand, [target.manufacturer])
        else { return nil }
        return octets.count == 32 && octets.contains { $0 != 0 } ? octets : nil
    }

    /// The counter in block 79 of an ICODE SLIX2 (SL2S2602 data sheet); nil for other tags.
    package func readCounter() async throws(TagError) -> UInt16? {
        guard target.productName == "ICODE SLIX2",
            let octets = try await systemInformation(.readSingleBlock, [79]), octets.count == 4
        else { return nil }
        return UInt16(octets[0]) | UInt16(octets[1]) << 8
    }

    /// A command of NXP's own (SL2S2602 data sheet).
    private static let readSignatureCommand = ISO15693Command(rawValue: 0xBD)

    private var hasSignature: Bool { ["ICODE SLIX2", "ICODE DNA"].contains(target.productName) }
}
