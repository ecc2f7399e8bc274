// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// The content of a tag after a read or write, and the airtime used.
package struct TagReadResult: Sendable {
    /// The tag's UID, PUPI or IDm.
    package var identifier: [UInt8]
    /// The tag's type; nil when this kind of tag is not supported.
    package var type: ForumTagType?
    /// The product's name; nil if the tag does not reveal it, or was not asked.
    package var product: String?
    package var ndefStatus = NDEFStatusReport()
    /// The airtime of the work after the activation; nil if the reader does not report airtime.
    package var cost: LinkStatistics?
    /// The airtime in the tag's technology for finding and activating the tag; nil if the reader does that itself.
    package var activation: LinkStatistics?

    /// Creates the result for a tag that was neither read nor written yet.
    package init(_ tag: ActivatedTag) {
        identifier = tag.target.identifier
        type = tag.forumTag?.type
    }

    /// Stores the complete UID of a Type 1 tag, which is in the tag's memory and known after a read.
    mutating func noteIdentifier(of tag: any ForumTag) {
        if let uid = (tag as? Type1Tag)?.uid { identifier = uid }
    }
}

extension ActivatedTag {
    /// Reads the tag's NDEF status and then its message, as a session does.
    ///
    /// - Returns: the result, even for a tag without NDEF or of an unsupported kind.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `refused`, `cancelled`, `readerUnavailable`.
    package func read() async throws(TagError) -> TagReadResult {
        var findings = TagReadResult(self)
        let forumTag: any ForumTag
        do throws(TagError) {
            forumTag = try ndef
        } catch {
            findings.ndefStatus.error = error
            return findings
        }
        let start = try await begin(&findings)
        findings.ndefStatus = try await forumTag.queryNDEFStatus()
        findings.cost = cost(since: start)
        findings.noteIdentifier(of: forumTag)
        return findings
    }

    /// Asks the tag for its product name; nil if the tag does not reveal it, or has left. This needs further exchanges,
    /// so call it after the other work.
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
}

package struct TagWriteOutcome: Sendable {
    /// The content of the tag, as far as it is known, and the airtime of the write alone.
    package var findings: TagReadResult
    package var failure: TagWriteFailure?
}

extension ActivatedTag {
    /// The data to collect about a tag after a write.
    package enum Description: Sendable {
        /// The content, but only if the write succeeded.
        case none
        /// The content, even if the write failed and the tag is still present.
        case content
        /// The content, and the product name, which needs further exchanges.
        case product
    }

    /// Writes a message as a session does, and describes the tag afterwards. If the tag should be locked but locking
    /// would need a key, nothing is written.
    ///
    /// - Parameters:
    ///   - checks: whether to read the message back and compare it.
    ///   - locks: whether to make the tag read-only afterwards. This can't be undone.
    ///   - description: the data to collect afterwards. A tag that has stopped answering is not asked.
    /// - Returns: the content of the tag, the airtime of the write alone, and the reason if the write failed.
    package func write(
        _ message: [UInt8],
        checks: Bool,
        locks: Bool,
        describing description: Description = .none
    ) async -> TagWriteOutcome {
        var outcome = TagWriteOutcome(findings: TagReadResult(self))
        var step = TagWriteFailure.Step.writing
        do throws(TagError) {
            try await write(message, with: try ndef, checks: checks, locks: locks, &outcome.findings, &step)
        } catch {
            if forumTag == nil { outcome.findings.ndefStatus.error = error }
            let failure = TagWriteFailure(step: step, error: error)
            outcome.failure = failure
            guard description != .none, !failure.isContentUnknown else { return outcome }
            if let ndefStatus = try? await forumTag?.queryNDEFStatus() { outcome.findings.ndefStatus = ndefStatus }
        }
        if description == .product { outcome.findings.product = await productName() }
        return outcome
    }

    /// Makes the tag read-only without writing its message. This can't be undone. If it would need a key, nothing is
    /// changed. A tag that an earlier call has lost is completed.
    ///
    /// - Parameter performs: whether to lock the tag, or only to check that nothing prevents it.
    /// - Returns: whether the areas and the configuration of an ST25DV are locked besides the message.
    /// - Throws: the errors of ``ForumTag/checkLocking()`` and ``ForumTag/lock()``.
    package func lock(performs: Bool) async throws(TagError) -> Bool {
        let tag = try ndef
        try await tag.prepare()
        let areas = try await openAreas(of: tag)
        var locksMemory = true
        do throws(TagError) {
            try await tag.checkLocking()
        } catch {
            // An earlier command lost the tag before it locked the areas.
            guard error.code == .readOnly, areas != nil else { throw error }
            locksMemory = false
        }
        // A message that can't be read is not locked in.
        _ = try await tag.readNDEF()
        if tag is Type4Tag, try await tag.detectNDEF().access == .readOnly {
            throw TagError(.readOnly, "The tag is already read-only.")
        }
        guard performs else { return areas != nil }
        if locksMemory { try await tag.lock() }
        try await areas?.lockAreas()
        return areas != nil
    }

    /// Returns an ST25DV with areas that have to be locked besides its first blocks; nil for any other tag.
    private func openAreas(of tag: any ForumTag) async throws(TagError) -> Type5Tag? {
        guard let tag = tag as? Type5Tag, try await tag.hasOpenAreas() else { return nil }
        return tag
    }

    private func write(
        _ message: [UInt8],
        with forumTag: any ForumTag,
        checks: Bool,
        locks: Bool,
        _ findings: inout TagReadResult,
        _ step: inout TagWriteFailure.Step
    ) async throws(TagError) {
        var start = try await begin(&findings)
        var areas: Type5Tag?
        defer { if findings.cost == nil { findings.cost = cost(since: start) } }
        if locks {
            try await forumTag.checkLocking()
            areas = try await openAreas(of: forumTag)
            start = statistics
        }
        try await forumTag.writeNDEF(message)
        findings.cost = cost(since: start)
        step = .checking
        if checks { try await forumTag.checkNDEF(message) }
        // The write has succeeded, even if the tag leaves now.
        findings.ndefStatus = NDEFStatusReport(detection: try? await forumTag.detectNDEF(), message: message)
        findings.noteIdentifier(of: forumTag)
        step = .locking
        if locks {
            try await forumTag.lock()
            try await areas?.lockAreas()
            findings.ndefStatus.detection?.access = .readOnly
        }
    }
}

package struct TagWriteFailure: Error, Sendable {
    package enum Step: Sendable {
        case writing
        case checking
        /// Making the tag read-only, after the message was written.
        case locking
    }

    package var step: Step
    package var error: TagError

    /// Whether the content of the tag is unknown, because the last command was not answered.
    package var isContentUnknown: Bool { [.tagLost, .readerUnavailable, .cancelled].contains(error.code) }
}
