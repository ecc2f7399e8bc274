// SPDX-License-Identifier: Apache-2.0

/// The outcome of a job.
package struct JobOutcome: Sendable, Hashable {
    /// How the job ended.
    package enum Result: String, Sendable, Hashable, CaseIterable {
        case done, refused, expired
        case tagLost = "tag-lost"
    }

    /// The state in which the job left the tag.
    package enum TagState: String, Sendable, Hashable, CaseIterable {
        /// The tag was not changed.
        case unchanged
        /// The tag holds the old message, the new message, or an empty message.
        case uncertain
        /// The tag holds the new message.
        case written
        case protected, locked
    }

    /// The job's ID; nil if it could not be read.
    package var job: String?
    /// The job's kind; nil if it could not be read.
    package var kind: String?
    package var result: Result
    /// The reader at which the job ended; nil if no tag was involved.
    package var reader: FleetName?
    /// The tag's UID; nil if no tag was involved.
    package var uid: [UInt8]?
    package var tagState: TagState?
    /// The serial number used by the job.
    package var serial: Int64?
    /// The reason for a refusal, for programs.
    package var code: JobRefusal.Code?
    /// The reason for a refusal, for people.
    package var message: String?

    package init(_ result: Result, job: String?, kind: String? = nil) {
        self.result = result
        self.job = job
        self.kind = kind
    }

    /// Creates the outcome of a refused job.
    package init(_ refusal: JobRefusal, of job: Job? = nil) {
        self.init(.refused, job: refusal.job ?? job?.id, kind: job?.work.name ?? refusal.kind)
        code = refusal.code
        message = refusal.reason
    }

    /// Returns the event that reports this outcome.
    ///
    /// - Parameters:
    ///   - naming: how events identify tags.
    ///   - time: when the job ended.
    ///   - isRepeated: whether the outcome was sent before.
    package func event(_ naming: TagNaming, time: Int64, isRepeated: Bool = false) -> FleetEvent {
        let names = uid.map { naming.names(of: $0) }
        var members = FleetEvent(
            .outcome,
            time: time,
            [
                "job": job.map { .string($0) }, "kind": kind.map { .string($0) }, "outcome": .string(result.rawValue),
                "at": reader.map { .string($0.text) },
            ]
        ).members
        // Omits Home Assistant's tag ID, which depends on the message: the job may have changed it.
        members += (names?.members ?? []).filter { $0.name != "tag_id" }
        if let tagState { members.append(.init("tag_state", .string(tagState.rawValue))) }
        if let serial { members.append(.init("serial", .integer(Int(serial)))) }
        if let code { members.append(.init("code", .string(code.description))) }
        if let message { members.append(.init("message", .string(message))) }
        members.append(.init("repeated", .bool(isRepeated)))
        return FleetEvent(.outcome, time: time, subject: names?.subject, members: members)
    }
}
