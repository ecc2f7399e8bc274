// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// The memory of tags while a run without faults writes to it.
extension TestField {
    /// Begins to note what commands write to the tags that are there.
    func watchMemory() {
        state.withLock { state in
            state.courses = state.tags.map { MemoryCourse($0.before) }
            state.writesNoted = 0
        }
    }

    /// Notes what the last exchange has written.
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
