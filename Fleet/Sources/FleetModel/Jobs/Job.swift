// SPDX-License-Identifier: Apache-2.0

/// Something that a node has to do, once.
package struct Job: Sendable, Hashable {
    /// What a job does.
    package enum Work: Sendable, Hashable {
        /// Writes the next tag.
        case write(MessageTemplate, locks: Bool)
        /// Sets the next tag's password.
        case protect(TagSecret)
        /// Makes the next tag read-only.
        case lock
        /// Shows something at the reader.
        case indicate(Signal)
        /// Changes an allow list.
        case allow(AllowChange)
        /// Takes back a job that waits.
        case cancel(job: String)

        /// The name in `kind`.
        package var name: String {
            switch self {
            case .write: "write"
            case .protect: "protect"
            case .lock: "lock"
            case .indicate: "indicate"
            case .allow: "allow"
            case .cancel: "cancel"
            }
        }

        /// All names in `kind`.
        static let names: Set<String> = ["write", "protect", "lock", "indicate", "allow", "cancel"]

        /// Whether it waits for a tag.
        package var needsTag: Bool {
            switch self {
            case .write, .protect, .lock: true
            case .indicate, .allow, .cancel: false
            }
        }
    }

    /// What a reader shows.
    package enum Signal: String, Sendable, Hashable, CaseIterable {
        case allowed, refused, attention
    }

    /// How an allow list changes.
    package struct AllowChange: Sendable, Hashable {
        package enum Mode: String, Sendable, Hashable, CaseIterable {
            case replace, add, remove, off
        }

        package var mode: Mode
        package var uids: [[UInt8]]

        package init(_ mode: Mode, uids: [[UInt8]] = []) {
            self.mode = mode
            self.uids = uids
        }
    }

    /// The longest time until the deadline, in milliseconds: 7 days.
    package static let longestWait: Int64 = 7 * 86_400_000
    /// The most UIDs in one job.
    package static let maximumUIDs = 10_000

    /// The same id has one effect.
    package var id: String
    /// The node that has to do it.
    package var node: FleetName
    /// When to give up, in milliseconds since 1970.
    package var deadline: Int64
    /// The reader; nil for the first at which a tag comes.
    package var reader: FleetName?
    /// The only tag that counts; nil for any.
    package var uid: [UInt8]?
    /// What it does.
    package var work: Work

    package init(
        id: String,
        node: FleetName,
        deadline: Int64,
        reader: FleetName? = nil,
        uid: [UInt8]? = nil,
        work: Work
    ) {
        self.id = id
        self.node = node
        self.deadline = deadline
        self.reader = reader
        self.uid = uid
        self.work = work
    }
}
