// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// A file of a FeliCa system: blocks, and the services that give access to them.
///
/// Several services may share the blocks, such as 0009 (read and write) and 000B (read only) of a Type 3 tag.
public struct FeliCaFile: Sendable, Hashable {
    /// The codes of the services: a number in the upper ten bits, an attribute in the lower six.
    public var serviceCodes: [UInt16]
    /// The blocks, 16 octets each.
    public var memory: [UInt8]
    /// The version of the services' keys, as Request Service tells it.
    public var keyVersion: UInt16

    /// Creates a file. Octets are filled up to a whole block.
    public init(serviceCodes: [UInt16], memory: [UInt8], keyVersion: UInt16 = 0) {
        self.serviceCodes = serviceCodes
        self.memory = memory + Array(repeating: 0, count: (16 - memory.count % 16) % 16)
        self.keyVersion = keyVersion
    }

    /// How many blocks there are.
    public var blockCount: Int { memory.count / 16 }
}

/// An area of a FeliCa system: a folder of services and of other areas (FeliCa Card User's Manual, 2.3).
public struct FeliCaArea: Sendable, Hashable {
    /// The code: a number in the upper ten bits, an attribute in the lower six.
    public var code: UInt16
    /// The last code that the area may hold; nil when a dump does not say it.
    public var end: UInt16?
    /// The places of the first and the last service of the area in the system's list of services, as a dump counts them.
    public var firstService: Int
    /// The index in the system of the last service in the area; below the first one where the area has none.
    public var lastService: Int

    /// Creates an area.
    public init(code: UInt16, end: UInt16? = nil, firstService: Int = 0, lastService: Int = 0) {
        self.code = code
        self.end = end
        self.firstService = firstService
        self.lastService = lastService
    }
}

/// A system of a FeliCa Standard card: files, found by a system code.
public struct FeliCaSystem: Sendable, Hashable {
    /// The system code.
    public var code: UInt16
    /// The files.
    public var files: [FeliCaFile]
    /// The areas; none for a system of which only the root area 0000 is known.
    public var areas: [FeliCaArea] = []
    /// The version of the system's key, which Request Service answers for node FFFF; nil when it is not known.
    public var keyVersion: UInt16?
    /// The versions of the keys of areas and services by their codes, where they are not ``FeliCaFile/keyVersion``.
    public var nodeKeyVersions: [UInt16: UInt16] = [:]
    /// The system's key; nil when it is not known. The virtual card does not use it.
    @Hidden public var key: [UInt8]? = nil
    /// The keys of areas and services by their codes, those that are known. The virtual card does not use them.
    @Hidden public var nodeKeys: [UInt16: [UInt8]] = [:]
    /// The most blocks of one Read Without Encryption.
    public var maximumRead: Int
    /// The most blocks of one Write Without Encryption.
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
    /// - Parameter memory: all blocks, the attribute information block first; its Nbr and Nbw are the limits of the
    ///   system, where they are not 0.
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

    /// The version of the key of an area, a service, or the system itself (FFFF), as Request Service answers it; FFFF when
    /// the system does not have the node.
    func keyVersion(ofNode code: UInt16) -> UInt16 {
        if code == 0xFFFF { return keyVersion ?? 0xFFFF }
        if let version = nodeKeyVersions[code] { return version }
        if let file = files.first(where: { $0.serviceCodes.contains(code) }) { return file.keyVersion }
        // 0000 is the root area, which every system has.
        return code == 0 || areas.contains { $0.code == code } ? 0 : 0xFFFF
    }

    /// All areas and services in the order of their codes, an area with the last code that it may hold. Of an area
    /// without one it is that of its last service.
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
    ///   - blockCount: Nmaxb, how many blocks there are for the message.
    ///   - maximumRead: Nbr.
    ///   - maximumWrite: Nbw.
    public init(ndefBlocks blockCount: Int, maximumRead: UInt8 = 12, maximumWrite: UInt8 = 8) {
        self.init(
            ndef: Self.attributes(blockCount: blockCount, maximumRead: maximumRead, maximumWrite: maximumWrite)
                + Array(repeating: 0, count: blockCount * 16)
        )
    }

    /// The attribute information block of an empty tag.
    static func attributes(blockCount: Int, maximumRead: UInt8, maximumWrite: UInt8) -> [UInt8] {
        var block: [UInt8] = [0x10, maximumRead, maximumWrite, UInt8(blockCount >> 8), UInt8(blockCount & 0xFF)]
        block += [0, 0, 0, 0, 0x00, 0x01, 0, 0, 0]
        let sum = block.reduce(0) { $0 + Int($1) }
        return block + UInt16(sum).bigEndianOctets
    }
}
