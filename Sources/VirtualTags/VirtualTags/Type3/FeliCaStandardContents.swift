// SPDX-License-Identifier: Apache-2.0

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
