// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A FeliCa Standard chip without cryptography. Services that need a key refuse access.
struct FeliCaStandardChip: FeliCaChip {
    /// The time for programming a block.
    static let programmingTime = Airtime.milliseconds(2)

    var contents: FeliCaStandardContents

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
    ) -> FeliCaChipAnswer? {
        let index = Int((number &- idm[0] >> 4) & 0x0F)
        switch command {
        case 0x02: return requestService(payload, contents.systems[index])
        // Request Response: mode 0, like without an authentication.
        case 0x04: return payload.isEmpty ? FeliCaChipAnswer([0x00]) : nil
        case 0x06: return read(payload, contents.systems[index])
        case 0x08: return write(payload, index, tear)
        case 0x0A: return searchService(payload, contents.systems[index])
        case 0x0C: return payload.isEmpty ? requestSystemCode() : nil
        default: return nil
        }
    }

    /// Request Service: the version of each service's key, or FFFF.
    private func requestService(_ payload: ArraySlice<UInt8>, _ system: FeliCaSystem) -> FeliCaChipAnswer? {
        guard let count = payload.first, (1...32).contains(count), payload.count == 1 + 2 * Int(count) else {
            return nil
        }
        let codes = Array(payload.dropFirst())
        var answer = [count]
        for index in 0..<Int(count) {
            let code = UInt16(high: codes[index * 2 + 1], low: codes[index * 2])
            answer += system.keyVersion(ofNode: code).littleEndianBytes
        }
        return FeliCaChipAnswer(answer)
    }

    /// Search Service Code: all areas and services in the order of their codes, the root area first, then FFFF.
    private func searchService(_ payload: ArraySlice<UInt8>, _ system: FeliCaSystem) -> FeliCaChipAnswer? {
        let bytes = Array(payload)
        guard bytes.count == 2 else { return nil }
        let index = Int(high: bytes[1], low: bytes[0])
        let nodes = system.nodes
        guard index < nodes.count else { return FeliCaChipAnswer([0xFF, 0xFF]) }
        let end = nodes[index].end.map(\.littleEndianBytes) ?? []
        return FeliCaChipAnswer(nodes[index].code.littleEndianBytes + end)
    }

    private func requestSystemCode() -> FeliCaChipAnswer {
        var answer = [UInt8(contents.systems.count)]
        for system in contents.systems { answer += system.code.bigEndianBytes }
        return FeliCaChipAnswer(answer)
    }

    // MARK: Blocks

    private func read(_ payload: ArraySlice<UInt8>, _ system: FeliCaSystem) -> FeliCaChipAnswer? {
        guard let list = FeliCaBlockList(payload), list.data.isEmpty else { return nil }
        if let status = check(list, system, limit: system.maximumRead, isWrite: false) {
            return FeliCaChipAnswer(status)
        }
        var data: [UInt8] = []
        for element in list.elements {
            let code = list.services[element.service]
            guard let file = system.files.first(where: { $0.serviceCodes.contains(code) }) else { continue }
            data += file.memory[(element.block * 16)..<(element.block * 16 + 16)]
        }
        return FeliCaChipAnswer(FeliCaStatus.success.bytes + [UInt8(list.elements.count)] + data)
    }

    /// Write Without Encryption. All blocks of a command are written or none, because the card protects them against
    /// tearing.
    private mutating func write(_ payload: ArraySlice<UInt8>, _ index: Int, _ tear: TornWrite?) -> FeliCaChipAnswer? {
        let system = contents.systems[index]
        guard let list = FeliCaBlockList(payload), list.data.count == list.elements.count * 16 else { return nil }
        if let status = check(list, system, limit: system.maximumWrite, isWrite: true) {
            return FeliCaChipAnswer(status)
        }
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
        if tear.map(Self.keepsNew) ?? true { contents.systems[index] = written }
        return FeliCaChipAnswer(.success, workTime: Self.programmingTime * list.elements.count, isWrite: true)
    }

    private static func keepsNew(_ tear: TornWrite) -> Bool {
        switch tear {
        case .old: return false
        case .new: return true
        case .mixed(let seed):
            var random = SplitMix64(seed: seed)
            return random.next() & 1 == 0
        }
    }

    /// Attributes 0C to 0F: block 0 is the newest record, and a write moves the others.
    private static func isCyclic(_ code: UInt16) -> Bool {
        (0x0C...0x0F).contains(code & 0x3F)
    }

    /// Returns the error in the lists, if any.
    private func check(_ list: FeliCaBlockList, _ system: FeliCaSystem, limit: Int, isWrite: Bool) -> FeliCaStatus? {
        guard (1...16).contains(list.services.count) else { return .serviceCount }
        guard !list.elements.isEmpty, list.elements.count <= limit else { return .blockCount }
        for code in list.services where !system.files.contains(where: { $0.serviceCodes.contains(code) }) {
            return .unknownService
        }
        for (position, element) in list.elements.enumerated() {
            guard element.service < list.services.count else { return .block(position, .serviceOrder) }
            guard element.accessMode == 0 else { return .block(position, .accessMode) }
            let code = list.services[element.service]
            // Bit 0 of the attribute means that no key is needed. Attributes 09 and 0D allow writing.
            guard code & 0x01 == 1, !isWrite || [0x09, 0x0D].contains(code & 0x3F) else {
                return .block(position, .accessDenied)
            }
            let file = system.files.first { $0.serviceCodes.contains(code) }
            guard element.block < file?.blockCount ?? 0, !(isWrite && Self.isCyclic(code) && element.block != 0) else {
                return .block(position, .blockNumber)
            }
        }
        return nil
    }
}
