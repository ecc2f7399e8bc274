// SPDX-License-Identifier: Apache-2.0

/// Why a job is not done. Two refusals with the same code are equal.
package struct JobRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code in the outcome. Codes of tags have the names of the command line's errors.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let description: String

        /// A code with a name, such as that of an error of a tag.
        package init(_ name: String) { description = name }

        /// It is no job, or a member is missing or wrong.
        package static let badJob = Code("bad-job")
        /// It is for another node.
        package static let wrongNode = Code("wrong-node")
        /// The node has no such reader.
        package static let unknownReader = Code("unknown-reader")
        /// The node takes signed jobs alone.
        package static let unsigned = Code("unsigned")
        /// The signature does not fit.
        package static let badSignature = Code("bad-signature")
        /// The node does not have the key.
        package static let unknownKey = Code("unknown-key")
        /// The node does not have the secret.
        package static let noSecret = Code("no-secret")
        /// The reader has no light that can be set.
        package static let noIndicator = Code("no-indicator")
        /// It was taken back.
        package static let cancelled = Code("cancelled")
        /// Too many jobs wait.
        package static let tooManyJobs = Code("too-many-jobs")
        /// The node takes no jobs.
        package static let notAccepted = Code("not-accepted")
    }

    /// The kind of refusal.
    package var code: Code
    /// A sentence that says what to do.
    package var reason: String
    /// The job's id, as far as it is known. Of a job whose signature does not fit it is what the sender says.
    package var job: String?
    /// The job's kind, likewise.
    package var kind: String?

    package init(_ code: Code, _ reason: String, job: String? = nil) {
        self.code = code
        self.reason = reason
        self.job = job
    }

    /// The refusal with the id and the kind that a job says, where they are valid.
    func naming(_ job: JSONValue?) -> JobRefusal {
        var named = self
        named.job = self.job ?? job?["id"]?.text.flatMap(FleetName.init)?.text
        named.kind = kind ?? job?["kind"]?.text.flatMap { Job.Work.names.contains($0) ? $0 : nil }
        return named
    }

    package var description: String { "\(code): \(reason)" }
    package static func == (left: JobRefusal, right: JobRefusal) -> Bool { left.code == right.code }
    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
