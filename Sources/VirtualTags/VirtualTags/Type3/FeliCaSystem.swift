// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// A system of a FeliCa Standard card: files under a system code.
public struct FeliCaSystem: Sendable, Hashable {
    /// The system code.
    public var code: UInt16
    /// The files.
    public var files: [FeliCaFile]
    /// The areas; empty when only the root area 0000 is known.
    public var areas: [FeliCaArea] = []
    /// The version of the system's key, which Request Service answers for node FFFF; nil if unknown.
    public var keyVersion: UInt16?
    /// The versions of the keys of areas and services by code, if they differ from ``FeliCaFile/keyVersion``.
    public var nodeKeyVersions: [UInt16: UInt16] = [:]
    /// The system's key; nil if unknown. The virtual card does not use it.
    @Hidden public var key: [UInt8]? = nil
    /// The known keys of areas and services by code. The virtual card does not use them.
    @Hidden public var nodeKeys: [UInt16: [UInt8]] = [:]
    /// The maximum number of blocks in a Read Without Encryption.
    public var maximumRead: Int
    /// The maximum number of blocks in a Write Without Encryption.
    public var maximumWrite: Int

    /// Creates a system.
    public init(code: UInt16, files: [FeliCaFile], maximumRead: Int = 15, maximumWrite: Int = 13) {
        self.code = code
        self.files = files
        self.maximumRead = maximumRead
        self.maximumWrite = maximumWrite
    }

    /// Creates the NDEF system of a Type 3 tag: system 12FC, services 0009 and 000B.
    ///
    /// - Parameter memory: all blocks, starting with the attribute information block. Its Nbr and Nbw are the system's
    ///   limits, unless they are 0.
    public init(ndef memory: [UInt8]) {
        let read = memory.count > 1 ? Int(memory[1]) : 0
        let write = memory.count > 2 ? Int(memory[2]) : 0
        self.init(
            code: 0x12FC,
            files: [FeliCaFile(serviceCodes: [0x0009, 0x000B], memory: memory)],
            maximumRead: read == 0 ? 15 : read,
            maximumWrite: write == 0 ? 13 : write
        )
    }

    /// The codes of all services, in the order of the files.
    public var serviceCodes: [UInt16] { files.flatMap(\.serviceCodes) }

    /// Returns the key version of an area, a service or the system itself (FFFF), as Request Service answers it; FFFF
    /// when the system has no such node.
    func keyVersion(ofNode code: UInt16) -> UInt16 {
        if code == 0xFFFF { return keyVersion ?? 0xFFFF }
        if let version = nodeKeyVersions[code] { return version }
        if let file = files.first(where: { $0.serviceCodes.contains(code) }) { return file.keyVersion }
        // Every system has the root area 0000.
        return code == 0 || areas.contains { $0.code == code } ? 0 : 0xFFFF
    }

    /// All areas and services in the order of their codes, each area with the last code that it may contain. If that is
    /// unknown, it is the code of its last service.
    var nodes: [(code: UInt16, end: UInt16?)] {
        let codes = serviceCodes
        var nodes: [(code: UInt16, end: UInt16?)] = areas.map { area in
            let last = area.firstService <= area.lastService ? codes.dropFirst(area.lastService).first : nil
            return (area.code, area.end ?? max(area.code, last ?? area.code))
        }
        if !areas.contains(where: { $0.code == 0 }) { nodes.append((0, 0xFFFE)) }
        nodes += codes.map { ($0, nil) }
        return nodes.sorted { $0.code < $1.code }
    }

    /// Creates an empty NDEF system (NFC Forum T3T 1.0, 6.1).
    ///
    /// - Parameters:
    ///   - blockCount: Nmaxb, the number of blocks for the message.
    ///   - maximumRead: Nbr.
    ///   - maximumWrite: Nbw.
    public init(ndefBlocks blockCount: Int, maximumRead: UInt8 = 12, maximumWrite: UInt8 = 8) {
        self.init(
            ndef: Self.attributes(blockCount: blockCount, maximumRead: maximumRead, maximumWrite: maximumWrite)
                + Array(repeating: 0, count: blockCount * 16)
        )
    }

    /// Returns the attribute information block of an empty tag.
    static func attributes(blockCount: Int, maximumRead: UInt8, maximumWrite: UInt8) -> [UInt8] {
        var block: [UInt8] = [0x10, maximumRead, maximumWrite, UInt8(blockCount >> 8), UInt8(blockCount & 0xFF)]
        block += [0, 0, 0, 0, 0x00, 0x01, 0, 0, 0]
        let sum = block.reduce(0) { $0 + Int($1) }
        return block + UInt16(sum).bigEndianBytes
    }
}
