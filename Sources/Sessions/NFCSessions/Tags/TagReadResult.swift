// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// The content of a tag, after reading or writing it, and the airtime that this took.
package struct TagReadResult: Sendable {
    /// The tag's UID, PUPI or IDm.
    package var identifier: [UInt8]
    /// The tag's type; nil when there are no procedures for its kind.
    package var type: ForumTagType?
    /// The product's name, as far as the tag reveals it.
    package var product: String?
    /// The tag's NDEF content.
    package var survey = NDEFStatusReport()
    /// The airtime of the work after the activation; nil if the reader does not report it.
    package var cost: LinkStatistics?
    /// The airtime for finding and activating the tag, in its technology; nil if the reader does that itself.
    package var activation: LinkStatistics?

    /// Creates the findings before any work.
    package init(_ tag: ActivatedTag) {
        identifier = tag.target.identifier
        type = tag.forumTag?.type
    }

    /// Stores the complete UID of a Type 1 tag. It is in the tag's memory, and known after reading.
    mutating func noteIdentifier(of tag: any ForumTag) {
        if let uid = (tag as? Type1Tag)?.uid { identifier = uid }
    }
}

extension ActivatedTag {
    /// Reads the tag like a session: its status, then its message.
    ///
    /// - Returns: the findings, also for a tag without NDEF or of a kind that has none.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `refused`, `cancelled`, `readerUnavailable`.
    package func read() async throws(TagError) -> TagReadResult {
        var findings = TagReadResult(self)
        guard let forumTag else {
            findings.survey.error = missingProcedures
            return findings
        }
        let start = try await begin(&findings)
        findings.survey = try await forumTag.queryNDEFStatus()
        findings.cost = cost(since: start)
        findings.noteIdentifier(of: forumTag)
        return findings
    }

    /// Asks the tag for its product; nil if it does not say, or has left. This needs further exchanges, so call it
    /// after the work.
    package func productName() async -> String? {
        let name = try? await target.productName(
            asking: forumTag,
            historicalBytes: answerToSelect?.historicalBytes ?? []
        )
        return name ?? nil
    }

    /// Completes the tag's activation. Returns the counts at that moment.
    func begin(_ findings: inout TagReadResult) async throws(TagError) -> LinkStatistics? {
        try await forumTag?.prepare()
        findings.activation = statisticsSinceOrigin
        return statistics
    }

    func cost(since start: LinkStatistics?) -> LinkStatistics? {
        guard let start, let statistics else { return nil }
        return statistics - start
    }

    var missingProcedures: TagError {
        if case .nfcA(let target) = target { return TagError(.unsupported, target.reasonWithoutNDEF) }
        return target.holdsNoNDEF
    }
}

extension TagTarget {
    /// The error for a tag of a kind without NDEF procedures.
    var holdsNoNDEF: TagError {
        TagError(.unsupported, "A \(kindName) does not hold NDEF that can be read here.")
    }
}

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
    ///   - checks: whether to read the message again and compare it.
    ///   - locks: whether to make the tag read-only afterwards. This can't be undone.
    /// - Returns: the content of the tag, with the airtime of the write alone; and the reason if it failed. After a
    ///   failure the tag is not read again.
    package func write(_ message: [UInt8], checks: Bool, locks: Bool) async -> TagWriteOutcome {
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
            findings.survey = NDEFStatusReport(detection: try? await forumTag.detectNDEF(), message: message)
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
            if let forumTag, let survey = try? await forumTag.queryNDEFStatus() { outcome.findings.survey = survey }
        }
        if asksProduct { outcome.findings.product = await productName() }
        return outcome
    }
}

/// Why a tag was not written, and at which step.
package struct TagWriteFailure: Error, Sendable {
    /// A step of the write.
    package enum Step: Sendable {
        /// Writing the message, or reading the data that is needed for it.
        case writing
        /// Reading the written message again.
        case checking
        /// Making the tag read-only, after the message was written.
        case locking
    }

    /// The step that failed.
    package var step: Step
    package var error: TagError

    /// Whether the content of the tag is unknown, because it did not answer the last command.
    package var leavesDoubt: Bool { [.tagLost, .readerUnavailable, .cancelled].contains(error.code) }
}
