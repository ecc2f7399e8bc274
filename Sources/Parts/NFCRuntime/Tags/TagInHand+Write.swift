// SPDX-License-Identifier: Apache-2.0
package import TagProtocols

/// Why a tag was not written, and how far it came.
package struct TagWriteFailure: Error, Sendable {
    /// What was being done.
    package enum Step: Sendable {
        /// The message was being written, or what has to be known for that was being read.
        case writing
        /// The message was written, and was being read again.
        case checking
        /// The message was written, and the tag was being made read-only.
        case locking
    }

    /// What was being done.
    package var step: Step
    /// What happened.
    package var error: TagError

    /// Whether nobody can say what is on the tag, since it did not answer to the last of what was sent.
    package var leavesDoubt: Bool { [.tagLost, .readerUnavailable, .cancelled].contains(error.code) }
}

/// What came of a write.
package struct TagWriteOutcome: Sendable {
    /// What is on the tag, as far as it is known, and what the write alone cost.
    package var findings: TagFindings
    /// Why it failed; nil when it did not.
    package var failure: TagWriteFailure?

    init(_ findings: TagFindings, _ failure: TagWriteFailure?) {
        self.findings = findings
        self.failure = failure
    }
}

extension TagInHand {
    /// Writes a message as a session would, and tells what is on the tag then. One that is to be locked afterwards, and
    /// wants a key for that, is not written.
    ///
    /// - Parameters:
    ///   - message: the message's octets.
    ///   - checks: whether the message is read from the tag again, and compared.
    ///   - locks: whether the tag is made read-only afterwards, for ever.
    /// - Returns: what is on the tag, with the cost of the write alone; and why it failed, when it did: what is on the tag
    ///   then is not looked at.
    package func write(
        _ message: [UInt8],
        checks: Bool,
        locks: Bool
    ) async -> TagWriteOutcome {
        var findings = TagFindings(self)
        guard let tag else {
            findings.survey.error = missingProcedures
            return TagWriteOutcome(findings, TagWriteFailure(step: .writing, error: missingProcedures))
        }
        var step = TagWriteFailure.Step.writing
        do throws(TagError) {
            var start = try await begin(&findings)
            defer { if findings.cost == nil { findings.cost = cost(since: start) } }
            if locks {
                try await tag.checkLocking()
                start = statistics
            }
            try await tag.writeNDEF(message)
            findings.cost = cost(since: start)
            step = .checking
            if checks { try await tag.checkNDEF(message) }
            // A tag that leaves now has been written all the same.
            findings.survey = NDEFSurvey(detection: try? await tag.detectNDEF(), message: message)
            findings.noteIdentifier(of: tag)
            step = .locking
            if locks {
                try await tag.lock()
                findings.survey.detection?.access = .readOnly
            }
            return TagWriteOutcome(findings, nil)
        } catch {
            return TagWriteOutcome(findings, TagWriteFailure(step: step, error: error))
        }
    }

    /// Writes a message, and describes the tag as it is left: what it holds where the write failed and the tag is still
    /// there, and which product it says that it is.
    ///
    /// - Parameters:
    ///   - message: the message's octets.
    ///   - checks: whether the message is read from the tag again, and compared.
    ///   - locks: whether the tag is made read-only afterwards, for ever.
    /// - Returns: what is on the tag, with the cost of the write alone; and why it failed, when it did.
    package func writeAndDescribe(
        _ message: [UInt8],
        checks: Bool,
        locks: Bool
    ) async -> TagWriteOutcome {
        var outcome = await write(message, checks: checks, locks: locks)
        if let failure = outcome.failure {
            guard !failure.leavesDoubt else { return outcome }
            if let tag, let survey = try? await tag.surveyNDEF() { outcome.findings.survey = survey }
        }
        outcome.findings.product = await productName()
        return outcome
    }
}
