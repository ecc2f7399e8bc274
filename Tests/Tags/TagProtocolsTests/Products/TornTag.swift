// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import VirtualTags

/// A tag that counts the commands that program it.
final class CountingTag: VirtualTag {
    private let inner: any VirtualTag
    private let count = Mutex(0)

    init(_ inner: any VirtualTag) {
        self.inner = inner
    }

    var writes: Int { count.withLock { $0 } }
    var technology: Technology { inner.technology }
    var identifier: [UInt8] { inner.identifier }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        let answer = inner.answer(request, disturbance: disturbance)
        if answer?.isWrite == true { count.withLock { $0 += 1 } }
        return answer
    }

    func losePower() { inner.losePower() }
}

/// A tag that suffers a power cut in every command that programs it, keeps what is left, and carries the command out
/// then: all cuts of a write in one write.
final class TornTag: VirtualTag {
    /// What one command leaves.
    struct Cut: Sendable {
        /// The tag as it was before the command.
        var before: any VirtualTag
        /// The tag after the power went within it, mixed in two ways.
        var torn: [any VirtualTag]
    }

    let inner: any VirtualTag
    private let copy: @Sendable (any VirtualTag) -> any VirtualTag
    private let state = Mutex<[Cut]>([])

    init(_ inner: any VirtualTag, keeping copy: @escaping @Sendable (any VirtualTag) -> any VirtualTag) {
        self.inner = inner
        self.copy = copy
    }

    var cuts: [Cut] { state.withLock { $0 } }
    var technology: Technology { inner.technology }
    var identifier: [UInt8] { inner.identifier }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? {
        let old = copy(inner)
        // A power cut does nothing to a command that does not program.
        guard let probe = inner.answer(request, disturbance: .powerCut(.old)) else { return nil }
        guard probe.isWrite else { return probe }
        var cut = Cut(before: old, torn: [])
        for rest in `Every cut of every write`.mixed {
            // The second cut goes over the rest of the first: of its bits more are new.
            _ = inner.answer(request, disturbance: .powerCut(rest))
            cut.torn.append(copy(inner))
        }
        state.withLock { $0.append(cut) }
        return inner.answer(request, disturbance: disturbance)
    }

    func losePower() { inner.losePower() }
}
