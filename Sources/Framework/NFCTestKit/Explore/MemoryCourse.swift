// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The values that a run without faults writes to a tag's memory, command by command.
///
/// These include intermediate values of writes with several commands, such as a length of zero. A failed run may leave
/// such values in the memory.
struct MemoryCourse: Sendable {
    private struct Place: Hashable {
        var area: Int
        var unit: Int
    }

    private let before: [MemoryArea]
    private var last: [MemoryArea]
    private var values: [Place: Set<ArraySlice<UInt8>>] = [:]

    /// - Parameter areas: the tag's memory before the run; empty if it is unknown.
    init(_ areas: [MemoryArea]) {
        before = areas
        last = before
    }

    var isEmpty: Bool { before.isEmpty }
    var hasWrites: Bool { !values.isEmpty }

    mutating func add(_ areas: [MemoryArea]) {
        for (index, area) in areas.enumerated() where index < last.count {
            for unit in area.differences(from: last[index]) {
                values[Place(area: index, unit: unit), default: []].insert(area[unit: unit])
            }
        }
        last = areas
    }

    /// Describes the first wrong unit of the memory after a run; nil when the memory is right.
    ///
    /// - Parameter isDone: whether the flow reported success. If so, all writes have to be complete.
    func finding(of areas: [MemoryArea], isDone: Bool) -> String? {
        // A flow may create files and delete them.
        for index in 0..<(isDone ? max(areas.count, last.count) : min(areas.count, before.count)) {
            let area = Self.area(index, of: areas, like: last)
            let goal = Self.area(index, of: last, like: areas)
            for unit in area.differences(from: isDone ? goal : before[index]) {
                let holds = "\(area.unitName) \(unit) holds \(Self.text(area[unit: unit]))"
                if isDone {
                    return "\(holds) and not \(Self.text(goal[unit: unit])), and the flow reported success"
                }
                guard values[Place(area: index, unit: unit)]?.contains(area[unit: unit]) != true else { continue }
                return """
                    \(holds), which is neither what it held before (\(Self.text(before[index][unit: unit]))) nor what the flow \
                    writes without faults (\(Self.text(goal[unit: unit]))). A flow that writes something else in each run, \
                    such as the time, leaves this out: Invariant.all.except(.memoryIntact)
                    """
            }
        }
        return nil
    }

    /// Describes the first unit that holds its old value, or one from the middle of the work; nil if no unit does. Other
    /// values are not reported, because a flow may write something else in each run.
    ///
    /// - Parameter units: the units of the first area to look at; nil for all units of all areas.
    func unfinishedUnit(of areas: [MemoryArea], among units: Set<Int>? = nil) -> String? {
        for (index, area) in areas.prefix(units == nil ? before.count : 1).enumerated() where index < last.count {
            for unit in area.differences(from: last[index]) where units?.contains(unit) != false {
                let isOld = area[unit: unit] == before[index][unit: unit]
                if isOld || values[Place(area: index, unit: unit)]?.contains(area[unit: unit]) == true {
                    let goal = Self.text(last[index][unit: unit])
                    return "\(area.unitName) \(unit) holds \(Self.text(area[unit: unit])) and not \(goal)"
                }
            }
        }
        return nil
    }

    /// Returns an area. For a missing file, returns an empty area with the name from `others`.
    private static func area(_ index: Int, of areas: [MemoryArea], like others: [MemoryArea]) -> MemoryArea {
        guard index >= areas.count else { return areas[index] }
        var area = others[index]
        area.bytes = []
        return area
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.isEmpty ? "nothing" : Array(bytes).hexText(separator: " ")
    }
}

extension Invariant {
    /// The bytes of a tag's memory are right, even if they are not NDEF. After a flow that succeeds, the memory is the
    /// same as without faults. After a flow that fails, each page, block or byte of a file has its old value, or a
    /// value that the flow also writes without faults. A second tag stays unchanged, except for NDEF writes to Type 5
    /// tags, which reach both. A tag that takes the place of the first one has only what the flow writes to such a tag.
    ///
    /// This invariant does not fit a flow that writes something different in each run, such as the time. Leave it out
    /// with `Invariant.all.except(.memoryIntact)`.
    public static let memoryIntact = rule("the memory is intact") { run in
        var verdict = Verdict.nothingToCheck("no tag's memory can be copied")
        for tag in run.tags {
            guard tag.before != nil || !tag.areasBefore.isEmpty else { continue }
            let isChanged = tag.after != tag.before || tag.areasAfter != tag.areasBefore
            guard let number = tag.number, number < run.courses.count else {
                if let course = run.replacement?.course, run.isReplaced, tag.number == nil {
                    let isDone = !run.reportsFailure && !run.firstTagIsDone
                    if !run.hasMixedTear, let finding = course.finding(of: tag.areasAfter, isDone: isDone) {
                        return .broken("\(tag.name), which came in place of the first tag: \(finding)")
                    }
                } else if isChanged, !run.canReachSecondTag(tag) {
                    return .broken("\(tag.name) was written, but is not the flow's tag")
                }
                continue
            }
            let course = run.courses[number]
            guard !course.isEmpty else { continue }
            if course.hasWrites || isChanged {
                verdict = .holds
            } else if verdict != .holds {
                verdict = .nothingToCheck("no memory was written")
            }
            // The work with the first tag was not finished when another one came.
            let isDone = !run.reportsFailure && !run.isReplaced
            // No app can prevent the mixture of old and new bits that a tear leaves.
            if !isDone, run.hasMixedTear { continue }
            if let finding = course.finding(of: tag.areasAfter, isDone: isDone) {
                return .broken("\(tag.name): \(finding)")
            }
        }
        return verdict
    }
}

extension FlowRun {
    fileprivate var firstTagIsDone: Bool {
        guard let course = courses.first, let tag = tags.first else { return true }
        return course.finding(of: tag.areasAfter, isDone: true) == nil
    }

    /// Whether no app can prevent that its writes reach a second tag: NDEF writes to Type 5 tags contain no UID.
    fileprivate func canReachSecondTag(_ tag: Tag) -> Bool {
        guard let contents = tag.after, contents.tagType == 5, hasNote("app: writeNDEF") || hasNote("app: writeLock")
        else { return false }
        // The writing and locking commands of ISO/IEC 15693, with the address flag and the UID of this tag.
        let writes: Set<UInt8> = [0x21, 0x22, 0x24, 0x27, 0x28, 0x29, 0x2A, 0x31, 0x32, 0x34]
        return !trace.exchanges.contains { exchange in
            let request = exchange.request.bytes
            return request.count >= 10 && request[0] & 0x20 != 0 && writes.contains(request[1])
                && request[2..<10].elementsEqual(contents.uid.reversed())
        }
    }
}

/// Records the memory of tags while a run without faults writes to it.
extension TestField {
    func watchMemory() {
        state.withLock { state in
            state.courses = state.tags.map { MemoryCourse($0.areasBefore) }
            state.writesNoted = 0
        }
    }

    /// Records the memory after the last exchange, if it wrote anything.
    func noteMemory() {
        guard let virtual, state.withLock({ $0.courses != nil }) else { return }
        let writes = virtual.writeCount
        state.withLock { state in
            guard writes > state.writesNoted, let count = state.courses?.count else { return }
            state.writesNoted = writes
            for (index, tag) in state.tags.prefix(count).enumerated() {
                state.courses?[index].add(MemoryArea.all(of: tag.virtual))
            }
        }
    }
}

/// A writable part of a tag's memory, in units of pages, blocks, or the bytes of a file.
struct MemoryArea: Sendable, Equatable {
    var unitName: String
    var unit: Int
    var bytes: [UInt8]

    var unitCount: Int { (bytes.count + unit - 1) / unit }

    subscript(unit index: Int) -> ArraySlice<UInt8> {
        bytes[min(index * unit, bytes.count)..<min((index + 1) * unit, bytes.count)]
    }

    /// The areas of a tag's memory; empty if the memory is unknown. A card of the test's own is one area.
    static func all(of tag: any VirtualTag) -> [MemoryArea] {
        if let contents = TagContents(of: tag) { return contents.areas }
        guard let memory = (tag as? VirtualType4Tag)?.card.persistentMemory, !memory.isEmpty else { return [] }
        return [MemoryArea(unitName: "byte", unit: 1, bytes: memory)]
    }

    func differences(from other: MemoryArea) -> [Int] {
        guard bytes != other.bytes else { return [] }
        return (0..<max(unitCount, other.unitCount)).filter { self[unit: $0] != other[unit: $0] }
    }
}

extension TagContents {
    /// The writable areas of the memory; empty for a card without such a memory.
    var areas: [MemoryArea] {
        switch self {
        case .type1(let contents): return [MemoryArea(unitName: "byte", unit: 1, bytes: contents.memory)]
        case .type2(let contents):
            let memory = MemoryArea(unitName: "page", unit: 4, bytes: contents.memory)
            // An NTAG has only a counter of its readings, which changes with each visit of the tag.
            guard contents.countersOfProduct.count == 3 else { return [memory] }
            let counters = contents.counters.flatMap { [UInt8](bigEndian: Int($0), count: 3) }
            return [memory, MemoryArea(unitName: "counter", unit: 3, bytes: counters)]
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
            let memory = MemoryArea(unitName: "block", unit: contents.product.blockSize, bytes: contents.memory)
            guard contents.product.features.contains(.counter) else { return [memory] }
            return [memory, MemoryArea(unitName: "counter", unit: 2, bytes: contents.counter.bigEndianBytes)]
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
                application.files.map { file in
                    let name = "application \(String(application.identifier, radix: 16)), file \(file.number)"
                    return switch file.kind {
                    case .standard(let bytes), .backup(let bytes), .linearRecords(_, _, let bytes),
                        .cyclicRecords(_, _, let bytes):
                        Self.area(of: name, bytes)
                    case .value(_, _, let value, _):
                        MemoryArea(
                            unitName: name + ", value",
                            unit: 4,
                            bytes: [UInt8](bigEndian: Int(UInt32(bitPattern: value)), count: 4)
                        )
                    }
                }
            }
        case .ntag424(let contents): contents.files.map { Self.area(of: "file \($0.number)", $0.data) }
        case .emrtd, .emv, .mifarePlus, .version, .applications, .unspecified: []
        }
    }

    private static func area(of file: String, _ bytes: [UInt8]) -> MemoryArea {
        MemoryArea(unitName: "\(file), byte", unit: 1, bytes: bytes)
    }
}
