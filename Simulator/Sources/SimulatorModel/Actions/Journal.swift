// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink

/// The user's actions on tags and the phone, and what apps do in their sessions, in order. "Copy as test" turns them into
/// tests.
struct Journal: Sendable {
    /// A tag that was brought near. `image` is the tag's contents at that moment, as a JSON image.
    struct Tag: Sendable, Hashable {
        var id: String
        var name: String
        var image: String
    }

    /// A call of an app on a tag, and its result: a message, or the answer to a command.
    struct Call: Sendable, Hashable {
        enum Name: String, Sendable {
            case connect, queryNDEFStatus, readNDEF, writeNDEF, writeLock, command
            /// The framework has read a message for the app.
            case didDetectNDEFs
        }

        var name: Name
        var sent: [UInt8] = []
        var received: [UInt8] = []
        /// The code of the error; nil for success, 0 for an error without a code.
        var error: Int?
    }

    /// A step.
    enum Step: Sendable, Hashable {
        case bring(Tag)
        /// The user has taken a tag away, or a tap has ended.
        case remove(tag: String)
        case set(String, JSON)
        case cancel
        /// A session of this class begins, with these tags near and these conditions. The counts of faults are those
        /// that are left.
        case begin(session: Int, kind: String, near: [Tag], conditions: [String: JSON])
        /// A session has ended, for a reason that begins with a code. Its tags have these messages.
        case end(session: Int, reason: String, messages: [String: [UInt8]])
        /// The app's session has become active, as Core NFC reports it.
        case active
        /// The app was passed so many tags.
        case detect(Int)
        case call(Call)
        /// A condition has made an exchange fail.
        case fault(FieldFaults.Kind)
    }

    private(set) var steps: [Step] = []

    mutating func add(_ step: Step) {
        steps.append(step)
        if steps.count > Limits.journal { steps.removeFirst(steps.count - Limits.journal) }
    }

    mutating func clear() { steps = [] }
}

extension Journal.Call {
    /// Creates a call from a program's event; nil if the event is wrong.
    init?(_ event: JSON) {
        guard let name = event["name"]?.string.flatMap(Name.init(rawValue:)),
            let sent = [UInt8](hex: event["sent"]?.string ?? ""),
            let received = [UInt8](hex: event["received"]?.string ?? "")
        else { return nil }
        self.init(name: name, sent: sent, received: received, error: event["error"]?.int)
    }
}

extension Journal.Call {
    /// Creates the command that sends a frame in Core NFC.
    init(_ frame: [UInt8], _ technology: Technology, _ answer: Frame?) {
        // Core NFC adds the length of a FeliCa command.
        self.init(name: .command, sent: technology == .nfcF ? Array(frame.dropFirst()) : frame, error: 0)
        guard let answer else { return }
        if technology == .nfcV, answer.bytes.first.map({ $0 & 1 == 1 }) ?? true {
            // The tag's answer is an error (ISO/IEC 15693-3, 7.4).
            error = 102
        } else if answer.validBitsInLastByte == 8 || answer.bytes == [0x0A] {
            // Four bits other than A are a refusal.
            (received, error) = (answer.bytes, nil)
        }
    }
}

extension SimulatorState {
    /// A tag for the journal, with its current contents.
    func journalTag(_ card: DrawerCard) -> Journal.Tag {
        let image = (try? TagImage(card.contents, format: .json).encoded()) ?? []
        return Journal.Tag(id: card.id, name: card.name, image: String(decoding: image, as: UTF8.self))
    }

    mutating func journalBegin(_ session: Session) {
        var conditions = switches.json.object ?? [:]
        if let count = switches.leaveAfter { conditions["leave_after"] = .int(field.faults.exchangesLeft(of: count)) }
        if let write = switches.tearWrite { conditions["tear_write"] = .int(field.faults.writesLeft(of: write)) }
        let near = field.near.compactMap { drawer[$0.id].map(journalTag) }
        journal.add(.begin(session: session.id, kind: session.kind, near: near, conditions: conditions))
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
            case .bring(let tag): messages[tag.id] = drawer[tag.id]?.summary.message
            case .begin(_, _, let near, _): for tag in near { messages[tag.id] = drawer[tag.id]?.summary.message }
            default: break
            }
        }
        return messages
    }
}
