// SPDX-License-Identifier: Apache-2.0

/// What became of a job.
package struct JobOutcome: Sendable, Hashable {
    /// How it ended.
    package enum Result: String, Sendable, Hashable, CaseIterable {
        case done, refused, expired
        case tagLost = "tag-lost"
    }

    /// What a tag is left with.
    package enum TagState: String, Sendable, Hashable, CaseIterable {
        /// What it had before.
        case unchanged
        /// The old message, the new one, or an empty one.
        case uncertain
        /// The new message.
        case written
        case protected, locked
    }

    /// The job's id; nil when it could not be read.
    package var job: String?
    /// The name of the job's kind; nil when it could not be read.
    package var kind: String?
    package var result: Result
    /// The reader at which it ended; nil without a tag.
    package var reader: FleetName?
    /// The tag; nil without one.
    package var uid: [UInt8]?
    package var tagState: TagState?
    /// The serial number that the job has used.
    package var serial: Int64?
    /// Why it was refused, for programs.
    package var code: JobRefusal.Code?
    /// Why it was refused, for people.
    package var message: String?

    package init(_ result: Result, job: String?, kind: String? = nil) {
        self.result = result
        self.job = job
        self.kind = kind
    }

    /// Creates the outcome of a job that was refused.
    package init(_ refusal: JobRefusal, of job: Job? = nil) {
        self.init(.refused, job: refusal.job ?? job?.id, kind: job?.work.name ?? refusal.kind)
        code = refusal.code
        message = refusal.reason
    }

    /// The event of the outcome.
    ///
    /// - Parameters:
    ///   - naming: how tags are named.
    ///   - time: when it ended.
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
        // What Home Assistant calls the tag depends on its message, which the job may have changed.
        members += (names?.members ?? []).filter { $0.name != "tag_id" }
        if let tagState { members.append(.init("tag_state", .string(tagState.rawValue))) }
        if let serial { members.append(.init("serial", .integer(Int(serial)))) }
        if let code { members.append(.init("code", .string(code.description))) }
        if let message { members.append(.init("message", .string(message))) }
        members.append(.init("repeated", .bool(isRepeated)))
        return FleetEvent(.outcome, time: time, subject: names?.subject, members: members)
    }
}
