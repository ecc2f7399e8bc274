// SPDX-License-Identifier: Apache-2.0
public import CardCryptography
import TagLink

/// The persistent state of a FeliCa Standard card or a generic Type 3 tag.
public struct FeliCaStandardContents: Sendable, Hashable {
    /// The IDm (NFCID2) of the first system, 8 bytes. Each further system adds one to the highest four bits.
    public var idm: [UInt8]
    /// The PMm, 8 bytes. Readers compute the maximum duration of commands from it.
    public var pmm: [UInt8]
    /// At most 16 systems, in the order of their numbers.
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

    /// Creates a card like those of transit companies, with invented data in system 0003 that is readable without
    /// encryption. Service 008B has the balance in yen, in bytes 11 and 12 of block 0, least significant byte first.
    /// Service 090F has up to 20 journeys of 16 bytes, newest first.
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

/// A system of a FeliCa Standard card: a system code and its files.
public struct FeliCaSystem: Sendable, Hashable {
    /// The system code.
    public var code: UInt16
    /// The files.
    public var files: [FeliCaFile]
    /// The areas; empty if only the root area 0000 is known.
    public var areas: [FeliCaArea] = []
    /// The version of the system's key, which Request Service reports for node FFFF; nil if unknown.
    public var keyVersion: UInt16?
    /// The key versions of areas and services by code, where they differ from ``FeliCaFile/keyVersion``.
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

    /// Creates the NDEF system of a Type 3 tag: system 12FC, services 0009 and 000B. Nbr and Nbw of the attribute
    /// information block become the system's limits, unless they are 0.
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

    /// Returns the key version that Request Service reports for an area, a service or the system itself (FFFF); FFFF
    /// for an unknown node.
    func keyVersion(ofNode code: UInt16) -> UInt16 {
        if code == 0xFFFF { return keyVersion ?? 0xFFFF }
        if let version = nodeKeyVersions[code] { return version }
        if let file = files.first(where: { $0.serviceCodes.contains(code) }) { return file.keyVersion }
        // Every system has the root area 0000.
        return code == 0 || areas.contains { $0.code == code } ? 0 : 0xFFFF
    }

    /// All areas and services in the order of their codes. Each area has the last code that it may contain; if unknown,
    /// the code of its last service.
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

    /// Creates an empty NDEF system with the given Nmaxb, Nbr and Nbw (NFC Forum T3T 1.0, 6.1).
    public init(ndefBlocks blockCount: Int, maximumRead: UInt8 = 12, maximumWrite: UInt8 = 8) {
        self.init(
            ndef: Self.attributes(blockCount: blockCount, maximumRead: maximumRead, maximumWrite: maximumWrite)
                + Array(repeating: 0, count: blockCount * 16)
        )
    }

    static func attributes(blockCount: Int, maximumRead: UInt8, maximumWrite: UInt8) -> [UInt8] {
        var block: [UInt8] = [0x10, maximumRead, maximumWrite, UInt8(blockCount >> 8), UInt8(blockCount & 0xFF)]
        block += [0, 0, 0, 0, 0x00, 0x01, 0, 0, 0]
        let sum = block.reduce(0) { $0 + Int($1) }
        return block + UInt16(sum).bigEndianBytes
    }
}

/// A file of a FeliCa system: blocks, and the services that access them.
///
/// Several services may share these blocks, such as 0009 (read and write) and 000B (read only) of a Type 3 tag.
public struct FeliCaFile: Sendable, Hashable {
    /// The codes of the services: a number in the upper ten bits, and an attribute in the lower six.
    public var serviceCodes: [UInt16]
    /// The blocks, 16 bytes each.
    public var memory: [UInt8]
    /// The key version of the services, which Request Service reports.
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
    /// The last code that the area may contain; nil if a dump lacks it.
    public var end: UInt16?
    /// The index of the area's first service in the system's list of services, as in a dump.
    public var firstService: Int
    /// The index of the area's last service; lower than ``firstService`` if the area has no services.
    public var lastService: Int

    /// Creates an area.
    public init(code: UInt16, end: UInt16? = nil, firstService: Int = 0, lastService: Int = 0) {
        self.code = code
        self.end = end
        self.firstService = firstService
        self.lastService = lastService
    }
}

/// A FeliCa Standard chip without cryptography. Services that need a key refuse access.
struct FeliCaStandardChip: FeliCaChip {
    static let programmingTime = Airtime.milliseconds(2)

    var contents: FeliCaStandardContents

    var state: VirtualType3Tag.Contents { .standard(contents) }
    var idm: [UInt8] { contents.idm }
    var pmm: [UInt8] { contents.pmm }

    var systems: [(code: UInt16, number: UInt8)] {
        contents.systems.enumerated().map { ($0.element.code, (idm[0] >> 4 + UInt8($0.offset)) & 0x0F) }
    }

    mutating func losePower() {}

    mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system number: UInt8,
        tear: TornWrite?
    ) throws(FeliCaStatus) -> CardAnswer? {
        let index = Int((number &- idm[0] >> 4) & 0x0F)
        switch command {
        case 0x02: return requestService(payload, contents.systems[index])
        // Request Response always reports mode 0, as without an authentication.
        case 0x04: return payload.isEmpty ? CardAnswer([0x00]) : nil
        case 0x06: return try read(payload, contents.systems[index])
        case 0x08: return try write(payload, index, tear)
        case 0x0A: return searchService(payload, contents.systems[index])
        case 0x0C: return payload.isEmpty ? requestSystemCode() : nil
        default: return nil
        }
    }

    /// Request Service: the key version of each service, or FFFF for an unknown service.
    private func requestService(_ payload: ArraySlice<UInt8>, _ system: FeliCaSystem) -> CardAnswer? {
        guard let count = payload.first, (1...32).contains(count), payload.count == 1 + 2 * Int(count) else {
            return nil
        }
        let codes = Array(payload.dropFirst())
        var answer = [count]
        for index in 0..<Int(count) {
            let code = UInt16(high: codes[index * 2 + 1], low: codes[index * 2])
            answer += system.keyVersion(ofNode: code).littleEndianBytes
        }
        return CardAnswer(answer)
    }

    /// Search Service Code: all areas and services in the order of their codes, starting with the root area, then FFFF.
    private func searchService(_ payload: ArraySlice<UInt8>, _ system: FeliCaSystem) -> CardAnswer? {
        let bytes = Array(payload)
        guard bytes.count == 2 else { return nil }
        let index = Int(high: bytes[1], low: bytes[0])
        let nodes = system.nodes
        guard index < nodes.count else { return CardAnswer([0xFF, 0xFF]) }
        let end = nodes[index].end.map(\.littleEndianBytes) ?? []
        return CardAnswer(nodes[index].code.littleEndianBytes + end)
    }

    private func requestSystemCode() -> CardAnswer {
        var answer = [UInt8(contents.systems.count)]
        for system in contents.systems { answer += system.code.bigEndianBytes }
        return CardAnswer(answer)
    }

    // MARK: Blocks

    private func read(_ payload: ArraySlice<UInt8>, _ system: FeliCaSystem) throws(FeliCaStatus) -> CardAnswer? {
        guard let list = FeliCaBlockList(payload), list.data.isEmpty else { return nil }
        try check(list, system, limit: system.maximumRead, isWrite: false)
        var data: [UInt8] = []
        for element in list.elements {
            let code = list.services[element.service]
            guard let file = system.files.first(where: { $0.serviceCodes.contains(code) }) else { continue }
            data += file.memory[(element.block * 16)..<(element.block * 16 + 16)]
        }
        return CardAnswer(FeliCaStatus.success.bytes + [UInt8(list.elements.count)] + data)
    }

    /// Write Without Encryption. The card prevents tearing: it writes all blocks of a command or none.
    private mutating func write(
        _ payload: ArraySlice<UInt8>,
        _ index: Int,
        _ tear: TornWrite?
    ) throws(FeliCaStatus) -> CardAnswer? {
        let system = contents.systems[index]
        guard let list = FeliCaBlockList(payload), list.data.count == list.elements.count * 16 else { return nil }
        try check(list, system, limit: system.maximumWrite, isWrite: true)
        var written = system
        for (position, element) in list.elements.enumerated() {
            let code = list.services[element.service]
            guard let file = written.files.firstIndex(where: { $0.serviceCodes.contains(code) }) else { continue }
            let block = Array(list.data[(position * 16)..<(position * 16 + 16)])
            if Self.isCyclic(code) {
                written.files[file].memory = block + written.files[file].memory.dropLast(16)
            } else {
                written.files[file].memory.replaceSubrange(
                    (element.block * 16)..<(element.block * 16 + 16),
                    with: block
                )
            }
        }
        if tear?.keepsNew ?? true { contents.systems[index] = written }
        return CardAnswer(.success, workTime: Self.programmingTime * list.elements.count, isWrite: true)
    }

    /// Returns whether the attribute is 0C to 0F: block 0 is the newest record, and a write shifts the others.
    private static func isCyclic(_ code: UInt16) -> Bool { (0x0C...0x0F).contains(code & 0x3F) }

    private func check(_ list: FeliCaBlockList, _ system: FeliCaSystem, limit: Int, isWrite: Bool) throws(FeliCaStatus)
    {
        guard (1...16).contains(list.services.count) else { throw .serviceCount }
        guard !list.elements.isEmpty, list.elements.count <= limit else { throw .blockCount }
        for code in list.services where !system.files.contains(where: { $0.serviceCodes.contains(code) }) {
            throw .unknownService
        }
        for (position, element) in list.elements.enumerated() {
            guard element.service < list.services.count else { throw .block(position, .serviceOrder) }
            guard element.accessMode == 0 else { throw .block(position, .accessMode) }
            let code = list.services[element.service]
            // Bit 0 of the attribute means access without a key. Attributes 09 and 0D allow writing.
            guard code & 0x01 == 1, !isWrite || [0x09, 0x0D].contains(code & 0x3F) else {
                throw .block(position, .accessDenied)
            }
            let file = system.files.first { $0.serviceCodes.contains(code) }
            guard element.block < file?.blockCount ?? 0, !(isWrite && Self.isCyclic(code) && element.block != 0) else {
                throw .block(position, .blockNumber)
            }
        }
    }
}
