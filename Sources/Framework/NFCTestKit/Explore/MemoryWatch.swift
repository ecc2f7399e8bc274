// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// Records the memory of tags while a run without faults writes to it.
extension TestField {
    /// Starts to record what commands write to the tags near.
    func watchMemory() {
        state.withLock { state in
            state.courses = state.tags.map { MemoryCourse($0.before) }
            state.writesNoted = 0
        }
    }

    /// Records what the last exchange wrote.
    func noteMemory() {
        guard let virtual, state.withLock({ $0.courses != nil }) else { return }
        let writes = virtual.writeCount
        state.withLock { state in
            guard writes > state.writesNoted, let count = state.courses?.count else { return }
            state.writesNoted = writes
            for (index, tag) in state.tags.prefix(count).enumerated() {
                if let contents = TagContents(of: tag.virtual) { state.courses?[index].add(contents) }
            }
        }
    }
}
