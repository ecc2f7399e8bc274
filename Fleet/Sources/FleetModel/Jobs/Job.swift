// SPDX-License-Identifier: Apache-2.0

/// A task for a node, to be done once.
package struct Job: Sendable, Hashable {
    /// The work that a job requests.
    package enum Work: Sendable, Hashable {
        /// Writes a message to the next tag.
        case write(MessageTemplate, locks: Bool)
        /// Sets the next tag's password.
        case protect(TagSecret)
        /// Makes the next tag read-only.
        case lock
        /// Shows a signal at the reader.
        case indicate(Signal)
        /// Changes an allow list.
        case allow(AllowChange)
        /// Cancels a waiting job.
        case cancel(job: String)

        /// The value of the `kind` member.
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

        /// All values of the `kind` member.
        static let names: Set<String> = ["write", "protect", "lock", "indicate", "allow", "cancel"]

        /// Whether the job waits for a tag.
        package var needsTag: Bool {
            switch self {
            case .write, .protect, .lock: true
            case .indicate, .allow, .cancel: false
            }
        }
    }

    /// A signal shown at a reader.
    package enum Signal: String, Sendable, Hashable, CaseIterable {
        case allowed, refused, attention
    }

    /// A change to an allow list.
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

    /// The longest time from now to the deadline, in milliseconds: 7 days.
    package static let longestWait: Int64 = 7 * 86_400_000
    /// The maximum number of UIDs in one job.
    package static let maximumUIDs = 10_000

    /// Identifies the job. A job with the same ID is not carried out twice.
    package var id: String
    /// The node that performs the job.
    package var node: FleetName
    /// The job expires at this time, in milliseconds since 1970.
    package var deadline: Int64
    /// The reader to use; nil for whichever reader gets a tag first.
    package var reader: FleetName?
    /// The UID of the only tag to use; nil for any tag.
    package var uid: [UInt8]?
    /// The work to perform.
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
