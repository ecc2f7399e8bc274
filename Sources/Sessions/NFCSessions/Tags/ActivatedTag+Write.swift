// SPDX-License-Identifier: Apache-2.0
import TagProtocols

/// The result of a write.
package struct TagWriteOutcome: Sendable {
    /// The content of the tag, as far as known, and the airtime of the write alone.
    package var findings: TagReadResult
    /// Why it failed; nil on success.
    package var failure: TagWriteFailure?

    init(_ findings: TagReadResult, _ failure: TagWriteFailure?) {
        self.findings = findings
        self.failure = failure
    }
}

extension ActivatedTag {
    /// Writes a message like a session, and reports the tag's content afterwards. If the tag should be locked and needs
    /// a key for that, nothing is written.
    ///
    /// - Parameters:
    ///   - message: the bytes of the message.
    ///   - checks: whether to read the message again and compare it.
    ///   - locks: whether to make the tag read-only afterwards. This can't be undone.
    /// - Returns: the content of the tag, with the airtime of the write alone; and the reason if it failed. After a
    ///   failure the tag is not read again.
    package func write(
        _ message: [UInt8],
        checks: Bool,
        locks: Bool
    ) async -> TagWriteOutcome {
        var findings = TagReadResult(self)
        guard let forumTag else {
            findings.survey.error = missingProcedures
            return TagWriteOutcome(findings, TagWriteFailure(step: .writing, error: missingProcedures))
        }
        var step = TagWriteFailure.Step.writing
        do throws(TagError) {
            var start = try await begin(&findings)
            defer { if findings.cost == nil { findings.cost = cost(since: start) } }
            if locks {
                try await forumTag.checkLocking()
                start = statistics
            }
            try await forumTag.writeNDEF(message)
            findings.cost = cost(since: start)
            step = .checking
            if checks { try await forumTag.checkNDEF(message) }
            // If the tag leaves now, it was still written.
            findings.survey = NDEFSurvey(detection: try? await forumTag.detectNDEF(), message: message)
            findings.noteIdentifier(of: forumTag)
            step = .locking
            if locks {
                try await forumTag.lock()
                findings.survey.detection?.access = .readOnly
            }
            return TagWriteOutcome(findings, nil)
        } catch {
            return TagWriteOutcome(findings, TagWriteFailure(step: step, error: error))
        }
    }

    /// Writes a message, and describes the tag afterwards: its product, and its content if the write failed and the tag
    /// is still near.
    ///
    /// - Parameters:
    ///   - message: the bytes of the message.
    ///   - checks: whether to read the message again and compare it.
    ///   - locks: whether to make the tag read-only afterwards. This can't be undone.
    ///   - asksProduct: whether to ask for the product, which needs further exchanges.
    /// - Returns: the content of the tag, with the airtime of the write alone; and the reason if it failed.
    package func writeAndDescribe(
        _ message: [UInt8],
        checks: Bool,
        locks: Bool,
        asksProduct: Bool = true
    ) async -> TagWriteOutcome {
        var outcome = await write(message, checks: checks, locks: locks)
        if let failure = outcome.failure {
            guard !failure.leavesDoubt else { return outcome }
            if let forumTag, let survey = try? await forumTag.surveyNDEF() { outcome.findings.survey = survey }
        }
        if asksProduct { outcome.findings.product = await productName() }
        return outcome
    }
}
