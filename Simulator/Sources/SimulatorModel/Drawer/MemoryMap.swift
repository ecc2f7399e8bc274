// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// A tag's memory in named regions.
struct MemoryMap: Sendable, Hashable {
    /// A part of the memory.
    struct Region: Sendable, Hashable {
        var name: String
        /// The index of the region's first byte in the tag's memory or file.
        var offset: Int
        var bytes: [UInt8]
        /// Describes in words who can change the region.
        var access: String
        /// The bytes per unit, such as a page.
        var unit: Int
    }

    var regions: [Region]

    init(of contents: TagContents) {
        switch contents {
        case .type1(let contents): regions = Self.regions(contents)
        case .type2(let contents): regions = Self.regions(contents)
        case .type3(let contents): regions = Self.regions(contents)
        case .type4(let contents): regions = Self.regions(contents)
        case .type5(let contents): regions = Self.regions(contents)
        case .classic(let contents): regions = Self.regions(contents)
        case .nfcA: regions = []
        }
        regions.removeAll(where: \.bytes.isEmpty)
    }

    /// The regions as JSON. `changed` lists the indexes of the bytes that differ from an earlier map.
    func json(since earlier: MemoryMap) -> JSON {
        .array(
            regions.enumerated().map { index, region in
                let old = earlier.regions.first { $0.name == region.name && $0.offset == region.offset }?.bytes ?? []
                let changed = region.bytes.indices.filter { !old.indices.contains($0) || old[$0] != region.bytes[$0] }
                return [
                    "name": .string(region.name), "offset": .int(region.offset), "length": .int(region.bytes.count),
                    "bytes": .string(region.bytes.hex), "access": .string(region.access), "unit": .int(region.unit),
                    "changed": old.isEmpty ? [] : .array(changed.map { JSON.int($0) }),
                ]
            }
        )
    }

    // MARK: The types

    /// Divides a memory into regions of whole units.
    private struct Cutter {
        var memory: [UInt8]
        var unit: Int
        var regions: [Region] = []

        mutating func cut(_ name: String, _ units: ClosedRange<Int>, _ access: String) {
            let range = (units.lowerBound * unit..<(units.upperBound + 1) * unit).clamped(to: memory.indices)
            regions.append(
                Region(name: name, offset: range.lowerBound, bytes: Array(memory[range]), access: access, unit: unit)
            )
        }

        /// Divides a range into read-only and writable parts.
        mutating func cut(_ name: String, _ units: ClosedRange<Int>, locked: Set<Int>, _ access: String) {
            var start = units.lowerBound
            while start <= units.upperBound {
                let isLocked = locked.contains(start)
                var end = start
                while end < units.upperBound, locked.contains(end + 1) == isLocked { end += 1 }
                cut(name, start...end, isLocked ? "read-only" : access)
                start = end + 1
            }
        }
    }

    private static func regions(_ contents: Type1Contents) -> [Region] {
        var cutter = Cutter(memory: contents.memory, unit: 8)
        cutter.cut("UID", 0...0, "read-only")
        let locks = contents.memory.count > 113 ? Array(contents.memory[112..<114]) : [0, 0]
        let locked = Set((0..<16).filter { locks[$0 / 8] >> ($0 % 8) & 1 == 1 })
        cutter.cut("Capability container and data", 1...12, locked: locked, "read and write")
        cutter.cut("Reserved", 13...13, "read-only")
        cutter.cut("Locks and one-time bytes", 14...14, "bits can be set once")
        if contents.product != .topaz96 {
            cutter.cut("Reserved and locks", 15...15, "bits can be set once")
            cutter.cut("Data", 16...63, "read and write")
        }
        return cutter.regions
    }

    private static func regions(_ contents: Type2Contents) -> [Region] {
        let product = contents.product
        var cutter = Cutter(memory: contents.memory, unit: 4)
        let locked = Set(contents.lockedPages)
        cutter.cut("UID", 0...1, "read-only")
        cutter.cut("UID and static locks", 2...2, "bits can be set once")
        cutter.cut("Capability container", 3...3, locked.contains(3) ? "read-only" : "bits can be set once")
        let open = "read and write"
        if let page = contents.firstProtectedPage, product.userPages.contains(page), page > product.userPages.lowerBound
        {
            cutter.cut("Data", product.userPages.lowerBound...(page - 1), locked: locked, open)
            cutter.cut("Data", page...product.userPages.upperBound, locked: locked, "needs the password")
        } else {
            let isProtected = contents.firstProtectedPage.map { $0 <= product.userPages.lowerBound } == true
            cutter.cut("Data", product.userPages, locked: locked, isProtected ? "needs the password" : open)
        }
        if let page = product.dynamicLockPage { cutter.cut("Dynamic locks", page...page, "bits can be set once") }
        if let page = product.firstConfigurationPage, page < product.pageCount {
            cutter.cut("Configuration and password", page...(product.pageCount - 1), "the password can't be read")
        }
        return cutter.regions
    }

    private static func regions(_ contents: VirtualType3Tag.Contents) -> [Region] {
        switch contents {
        case .liteS(let contents):
            let isLocked = contents.memoryConfiguration.first.map { $0 & 0x01 == 0 } == true
            var cutter = Cutter(memory: contents.userMemory, unit: 16)
            let last = max(0, contents.userMemory.count / 16 - 1)
            cutter.cut("Attribute information", 0...0, isLocked ? "read-only" : "read and write")
            if last > 0 { cutter.cut("Data", 1...last, "read and write, depending on the configuration") }
            return cutter.regions + [
                Region(name: "Register", offset: 0xE0, bytes: contents.register, access: "counts down", unit: 16),
                Region(
                    name: "Memory configuration",
                    offset: 0x880,
                    bytes: contents.memoryConfiguration,
                    access: "bits can be cleared once",
                    unit: 16
                ),
            ]
        case .standard(let contents):
            return contents.systems.flatMap { system in
                system.files.map { file in
                    let services = file.serviceCodes.map { String($0, radix: 16) }.joined(separator: ", ")
                    return Region(
                        name: "System \(String(system.code, radix: 16)), service \(services)",
                        offset: 0,
                        bytes: file.memory,
                        access: file.serviceCodes.contains { $0 & 0x0002 == 0 } ? "read and write" : "read-only",
                        unit: 16
                    )
                }
            }
        }
    }

    private static func regions(_ contents: Type4Contents) -> [Region] {
        func file(_ name: String, _ bytes: [UInt8], _ access: String) -> Region {
            Region(name: name, offset: 0, bytes: bytes, access: access, unit: 16)
        }
        func name(_ identifier: UInt16) -> String {
            let digits = String(identifier, radix: 16, uppercase: true)
            return "File " + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
        switch contents.kind {
        case .ndef(let files):
            return files.sorted { $0.key < $1.key }.map { key, bytes in
                key == NDEFApplication.capabilityContainer
                    ? file(name(key) + ", capability container", bytes, "read-only for phones")
                    : file(name(key), bytes, "depends on the capability container")
            }
        case .ntag424(let contents):
            return contents.files.map { file(name($0.isoIdentifier), $0.data, "depends on its access rights") }
        case .desfire(let contents):
            return contents.applications.flatMap { application in
                application.files.compactMap { entry in
                    entry.data.map {
                        file(
                            "Application \(String(application.identifier, radix: 16)), file \(entry.number)",
                            $0,
                            "depends on its access rights"
                        )
                    }
                }
            }
        case .emrtd(let contents):
            return contents.files.sorted { $0.key < $1.key }.map {
                file(name($0.key), $0.value, "read-only, after access control")
            }
        case .applications(let applications):
            return applications.values.sorted { $0.key < $1.key }.flatMap { name, values in
                values.sorted { $0.key < $1.key }.map { file("\(name), \($0.key)", $0.value, "through commands") }
            }
        case .mifarePlus(let contents):
            guard let size = ClassicProduct(memorySize: contents.memory.count) else { return [] }
            return regions(ClassicContents(size, memory: contents.memory))
        case .emv, .version, .unspecified: return []
        }
    }

    private static func regions(_ contents: Type5Contents) -> [Region] {
        let product = contents.product
        var cutter = Cutter(memory: contents.memory, unit: product.blockSize)
        let open = "read and write"
        cutter.cut("Capability container", 0...0, locked: contents.lockedBlocks, open)
        if product.dataBlockCount > 1 {
            cutter.cut("Data", 1...(product.dataBlockCount - 1), locked: contents.lockedBlocks, open)
        }
        if product.blockCount > product.dataBlockCount {
            cutter.cut("Counter", product.dataBlockCount...(product.blockCount - 1), "counts up")
        }
        return cutter.regions
    }

    private static func regions(_ contents: ClassicContents) -> [Region] {
        var cutter = Cutter(memory: contents.memory, unit: 16)
        var first = 0
        for sector in 0..<contents.product.sectorCount {
            let trailer = ClassicProduct.trailer(ofSector: sector)
            if first < trailer { cutter.cut("Sector \(sector)", first...(trailer - 1), "needs a key") }
            cutter.cut("Sector \(sector), keys and rights", trailer...trailer, "needs a key")
            first = trailer + 1
        }
        return cutter.regions
    }
}
