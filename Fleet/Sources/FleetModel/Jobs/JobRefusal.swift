// SPDX-License-Identifier: Apache-2.0

/// Why a job is not performed. Refusals with the same code are equal.
package struct JobRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code in the outcome. Tag errors use the same names as the command line.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let description: String

        /// Creates a code with a name, such as a tag error's name.
        package init(_ name: String) { description = name }

        /// The message is not a job, or a member is missing or invalid.
        package static let badJob = Code("bad-job")
        /// The job is for another node.
        package static let wrongNode = Code("wrong-node")
        /// The node has no such reader.
        package static let unknownReader = Code("unknown-reader")
        /// The node accepts only signed jobs.
        package static let unsigned = Code("unsigned")
        /// The signature is invalid.
        package static let badSignature = Code("bad-signature")
        /// The node does not have the key.
        package static let unknownKey = Code("unknown-key")
        /// The node does not have the secret.
        package static let noSecret = Code("no-secret")
        /// The reader has no controllable light.
        package static let noIndicator = Code("no-indicator")
        /// The job was cancelled.
        package static let cancelled = Code("cancelled")
        /// Too many jobs are waiting.
        package static let tooManyJobs = Code("too-many-jobs")
        /// The node accepts no jobs.
        package static let notAccepted = Code("not-accepted")
    }

    /// Identifies the reason for programs.
    package var code: Code
    /// A sentence that says what to do.
    package var reason: String
    /// The job's ID, if known. If the signature is invalid, this is only the sender's claim.
    package var job: String?
    /// The job's kind, if known. If the signature is invalid, this is only the sender's claim.
    package var kind: String?

    package init(_ code: Code, _ reason: String, job: String? = nil) {
        self.code = code
        self.reason = reason
        self.job = job
    }

    /// Returns the refusal with the ID and kind that a job claims, if they are valid.
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
