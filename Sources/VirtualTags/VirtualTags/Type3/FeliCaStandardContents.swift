// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// The persistent state of a FeliCa Standard card or a generic Type 3 tag.
public struct FeliCaStandardContents: Sendable, Hashable {
    /// The IDm (NFCID2) of the first system, 8 bytes. For each further system, the highest four bits count up.
    public var idm: [UInt8]
    /// The PMm, 8 bytes. Readers compute the duration of commands from it.
    public var pmm: [UInt8]
    /// The systems, in the order of their numbers; 16 at most.
    public var systems: [FeliCaSystem]

    /// Creates contents.
    public init(
        idm: [UInt8],
        pmm: [UInt8] = [0x00, 0xFF, 0x0B, 0x4B, 0x42, 0x84, 0x85, 0xD0],
        systems: [FeliCaSystem]
    ) {
        self.idm = idm
        self.pmm = pmm
        self.systems = systems
    }

    /// Creates a card like those of transit companies, with invented data: system 0003 with the balance in service 008B
    /// and the journeys in service 090F. Both are readable without encryption.
    ///
    /// - Parameters:
    ///   - idm: the IDm.
    ///   - balance: the balance in yen. It is in bytes 11 and 12 of block 0 of 008B, least significant byte first.
    ///   - history: the records of 090F, 16 bytes each, newest first; 20 at most.
    public static func transitCard(idm: [UInt8], balance: UInt16, history: [[UInt8]] = []) -> FeliCaStandardContents {
        var attributes = [UInt8](repeating: 0, count: 16)
        attributes[8] = 0x20
        attributes[11] = UInt8(balance & 0xFF)
        attributes[12] = UInt8(balance >> 8)
        let padding = [UInt8](repeating: 0, count: 16)
        var log = history.prefix(20).flatMap { ($0 + padding).prefix(16) }
        log += Array(repeating: 0, count: 320 - log.count)
        let system = FeliCaSystem(
            code: 0x0003,
            files: [
                FeliCaFile(serviceCodes: [0x0048, 0x004A], memory: Array(repeating: 0, count: 32)),
                FeliCaFile(serviceCodes: [0x0088, 0x008B], memory: attributes),
                FeliCaFile(serviceCodes: [0x090C, 0x090F], memory: log),
            ],
            maximumRead: 12,
            maximumWrite: 8
        )
        return FeliCaStandardContents(
            idm: idm,
            pmm: [0x10, 0x0B, 0x4B, 0x42, 0x84, 0x85, 0xD0, 0xFF],
            systems: [system]
        )
    }
}

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

/// A file of a FeliCa system: blocks, and the services that give access to them.
///
/// Several services may share the blocks, such as 0009 (read and write) and 000B (read only) of a Type 3 tag.
public struct FeliCaFile: Sendable, Hashable {
    /// The codes of the services: a number in the upper ten bits, and an attribute in the lower six.
    public var serviceCodes: [UInt16]
    /// The blocks, 16 bytes each.
    public var memory: [UInt8]
    /// The version of the services' keys, for Request Service.
    public var keyVersion: UInt16

    /// Creates a file. The memory is padded to a whole block.
    public init(serviceCodes: [UInt16], memory: [UInt8], keyVersion: UInt16 = 0) {
        self.serviceCodes = serviceCodes
        self.memory = memory + Array(repeating: 0, count: (16 - memory.count % 16) % 16)
        self.keyVersion = keyVersion
    }

    /// The number of blocks.
    public var blockCount: Int { memory.count / 16 }
}

/// An area of a FeliCa system: a folder of services and of other areas (FeliCa Card User's Manual, 2.3).
public struct FeliCaArea: Sendable, Hashable {
    /// The code: a number in the upper ten bits, and an attribute in the lower six.
    public var code: UInt16
    /// The last code that the area may contain; nil when a dump does not have it.
    public var end: UInt16?
    /// The index of the area's first service in the system's list of services, as in a dump.
    public var firstService: Int
    /// The index of the area's last service; lower than the first one if the area has none.
    public var lastService: Int

    /// Creates an area.
    public init(code: UInt16, end: UInt16? = nil, firstService: Int = 0, lastService: Int = 0) {
        self.code = code
        self.end = end
        self.firstService = firstService
        self.lastService = lastService
    }
}
