// SPDX-License-Identifier: Apache-2.0
import TagImages

/// The user's actions on tags and the phone, and the sessions of apps, in order. "Copy as test" turns them into tests.
struct Journal: Sendable {
    /// A tag that was brought near. `image` is the tag's contents at that moment, as a JSON image.
    struct Tag: Sendable, Hashable {
        var id: String
        var name: String
        var image: String
    }

    /// A step.
    enum Step: Sendable, Hashable {
        case bring(Tag, milliseconds: Int?)
        case remove(tag: String)
        case removeAll
        case set(String, JSON)
        case cancel
        /// A session begins, with these tags near and these conditions. The counts of faults are those that are left.
        case begin(session: Int, near: [Tag], conditions: [String: JSON])
        /// A session has ended, for a reason that begins with a code. Its tags have these messages.
        case end(session: Int, reason: String, messages: [String: [UInt8]])
        /// A program exchanged frames while only this tag was near.
        case exchangeAlone(tag: String)
        /// A condition has made an exchange fail.
        case fault(FieldFaults.Kind)
    }

    private(set) var steps: [Step] = []
    /// The tags that had an exchange alone since the last session began.
    private var aloneTags: Set<String> = []

    mutating func add(_ step: Step) {
        if case .begin = step { aloneTags = [] }
        if case .exchangeAlone(let tag) = step, !aloneTags.insert(tag).inserted { return }
        steps.append(step)
        if steps.count > Limits.journal { steps.removeFirst(steps.count - Limits.journal) }
    }

    mutating func clear() {
        steps = []
        aloneTags = []
    }
}

extension SimulatorState {
    /// A tag for the journal, with its current contents.
    func journalTag(_ card: DrawerCard) -> Journal.Tag {
        let image = (try? TagImage(card.contents, format: .json).encoded()) ?? []
        return Journal.Tag(id: card.id, name: card.name, image: String(decoding: image, as: UTF8.self))
    }

    mutating func journalBegin(_ session: Int) {
        var conditions = switches.json.object ?? [:]
        if let count = switches.leaveAfter { conditions["leave_after"] = .int(field.faults.exchangesLeft(of: count)) }
        if let write = switches.tearWrite { conditions["tear_write"] = .int(field.faults.writesLeft(of: write)) }
        let near = field.near.compactMap { drawer[$0.id].map(journalTag) }
        journal.add(.begin(session: session, near: near, conditions: conditions))
    }

    mutating func journalEnd(_ session: Int, _ reason: String) {
        drawer.refresh()
        journal.add(.end(session: session, reason: reason, messages: journalMessages))
    }

    /// The messages of the tags that the journal mentions.
    var journalMessages: [String: [UInt8]] {
        var messages: [String: [UInt8]] = [:]
        for step in journal.steps {
            switch step {
            case .bring(let tag, _): messages[tag.id] = drawer[tag.id]?.summary.message
            case .begin(_, let near, _): for tag in near { messages[tag.id] = drawer[tag.id]?.summary.message }
            default: break
            }
        }
        return messages
    }
}
