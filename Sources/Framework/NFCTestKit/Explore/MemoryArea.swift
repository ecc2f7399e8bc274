// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A part of a tag's memory that commands write: pages, blocks, or the bytes of a file.
struct MemoryArea: Sendable {
    /// The name of one unit, such as `page`.
    var unitName: String
    /// The number of bytes in a unit.
    var unit: Int
    var bytes: [UInt8]

    var unitCount: Int { (bytes.count + unit - 1) / unit }

    subscript(unit index: Int) -> ArraySlice<UInt8> {
        bytes[min(index * unit, bytes.count)..<min((index + 1) * unit, bytes.count)]
    }

    /// The units in which two states of the area differ.
    func differences(from other: MemoryArea) -> [Int] {
        guard bytes != other.bytes else { return [] }
        return (0..<max(unitCount, other.unitCount)).filter { self[unit: $0] != other[unit: $0] }
    }
}

extension TagContents {
    /// The memory that commands write. Empty for a card whose data are not a memory.
    var areas: [MemoryArea] {
        switch self {
        case .type1(let contents): return [MemoryArea(unitName: "byte", unit: 1, bytes: contents.memory)]
        case .type2(let contents): return [MemoryArea(unitName: "page", unit: 4, bytes: contents.memory)]
        case .type3(.liteS(let contents)):
            return [MemoryArea(unitName: "block", unit: 16, bytes: contents.userMemory + contents.register)]
        case .type3(.standard(let contents)):
            return contents.systems.flatMap { system in
                system.files.map { file in
                    let service = Self.hex(file.serviceCodes.first ?? 0)
                    return MemoryArea(unitName: "service \(service), block", unit: 16, bytes: file.memory)
                }
            }
        case .type4(let contents): return contents.areas
        case .type5(let contents):
            return [MemoryArea(unitName: "block", unit: contents.product.blockSize, bytes: contents.memory)]
        case .classic(let contents): return [MemoryArea(unitName: "block", unit: 16, bytes: contents.memory)]
        case .nfcA: return []
        }
    }

    fileprivate static func hex(_ number: UInt16) -> String { number.hexText(digits: 4) }
}

extension Type4Contents {
    fileprivate var areas: [MemoryArea] {
        switch kind {
        case .ndef(let files):
            files.sorted { $0.key < $1.key }.map { Self.area(of: "file \(TagContents.hex($0.key))", $0.value) }
        case .desfire(let contents):
            contents.applications.flatMap { application in
                application.files.compactMap { file in
                    let name = "application \(String(application.identifier, radix: 16)), file \(file.number)"
                    return switch file.kind {
                    case .standard(let bytes), .backup(let bytes), .linearRecords(_, _, let bytes),
                        .cyclicRecords(_, _, let bytes):
                        Self.area(of: name, bytes)
                    case .value: nil
                    }
                }
            }
        case .ntag424(let contents): contents.files.map { Self.area(of: "file \($0.number)", $0.data) }
        case .emrtd, .emv, .version, .unspecified: []
        }
    }

    private static func area(of file: String, _ bytes: [UInt8]) -> MemoryArea {
        MemoryArea(unitName: "\(file), byte", unit: 1, bytes: bytes)
    }
}
