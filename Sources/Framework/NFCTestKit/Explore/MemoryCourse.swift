// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// What a run without faults writes to a tag's memory, one command after the other.
///
/// A write of several commands leaves values that are neither the old ones nor the new ones for a while, such as a length of zero.
/// A run that fails may leave these.
struct MemoryCourse: Sendable {
    /// A unit of an area.
    private struct Place: Hashable {
        var area: Int
        var unit: Int
    }

    private let before: [MemoryArea]
    private var last: [MemoryArea]
    private var values: [Place: Set<ArraySlice<UInt8>>] = [:]

    /// - Parameter contents: what the tag holds at first; nil where that can't be copied.
    init(_ contents: TagContents?) {
        before = contents?.areas ?? []
        last = before
    }

    var isEmpty: Bool { before.isEmpty }
    /// Whether anything was written.
    var hasWrites: Bool { !values.isEmpty }

    /// Notes what the memory holds after a command.
    mutating func add(_ contents: TagContents) {
        let areas = contents.areas
        for (index, area) in areas.enumerated() where index < last.count {
            for unit in area.differences(from: last[index]) {
                values[Place(area: index, unit: unit), default: []].insert(area[unit: unit])
            }
        }
        last = areas
    }

    /// What is wrong with the memory after a run; nil when all is well.
    ///
    /// - Parameters:
    ///   - contents: what the tag holds.
    ///   - isDone: whether the flow reported success: then all of it has to be written.
    func finding(of contents: TagContents, isDone: Bool) -> String? {
        for (index, area) in contents.areas.enumerated() where index < before.count {
            for unit in area.differences(from: isDone ? last[index] : before[index]) {
                let holds = "\(area.unitName) \(unit) holds \(Self.text(area[unit: unit]))"
                if isDone {
                    return
                        "\(holds) and not \(Self.text(last[index][unit: unit])), and the flow ended as if all were well"
                }
                guard values[Place(area: index, unit: unit)]?.contains(area[unit: unit]) != true else { continue }
                return """
                    \(holds), which is neither what it held before (\(Self.text(before[index][unit: unit]))) nor what the flow \
                    writes without faults (\(Self.text(last[index][unit: unit]))). A flow that writes something else in each run, \
                    such as the time, leaves this out: Invariant.all.except(.memoryIntact)
                    """
            }
        }
        return nil
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.isEmpty ? "nothing" : Array(bytes).hexText(separator: " ")
    }
}

extension Invariant {
    /// The bytes of a tag's memory are right, also where it holds no NDEF: a flow that ends well has written every page, block and
    /// byte of a file that it writes without faults, and one that fails leaves each as it was or as it writes it. A second tag
    /// stays as it is.
    ///
    /// A flow that writes something else in each run, such as the time, is no flow for this: leave it out with
    /// `Invariant.all.except(.memoryIntact)`.
    public static let memoryIntact = Invariant(
        "the memory is intact",
        judging: { run in
            var verdict = Verdict.nothingToCheck("no tag's memory can be copied")
            for (index, tag) in run.tags.enumerated() {
                guard let before = tag.before, let after = tag.after else { continue }
                guard index < run.courses.count else {
                    // Writes of NDEF to Type 5 tags carry no UID: each that is near takes them, and no app can prevent it.
                    if after != before, after.tagType != 5 {
                        return .broken("\(tag.name) was written, and is not the tag of the flow")
                    }
                    continue
                }
                let course = run.courses[index]
                guard !course.isEmpty else { continue }
                if course.hasWrites || after != before {
                    verdict = .holds
                } else {
                    if verdict != .holds { verdict = .nothingToCheck("no memory was written") }
                    continue
                }
                let isDone = !run.reportsFailure
                // Bits of both are left by a tear, and no app can prevent them.
                if !isDone, run.hasMixedTear { continue }
                if let finding = course.finding(of: after, isDone: isDone) { return .broken("\(tag.name): \(finding)") }
            }
            return verdict
        }
    )
}
