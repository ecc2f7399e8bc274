// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// The content of a tag, after reading or writing it, and the airtime that this took.
package struct TagFindings: Sendable {
    /// The tag's UID, PUPI or IDm.
    package var identifier: [UInt8]
    /// The tag's type; nil when there are no procedures for its kind.
    package var type: ForumTagType?
    /// The product's name, as far as the tag reveals it.
    package var product: String?
    /// The tag's NDEF content.
    package var survey = NDEFSurvey()
    /// The airtime of the work after the activation; nil if the reader does not report it.
    package var cost: LinkStatistics?
    /// The airtime for finding and activating the tag, in its technology; nil if the reader does that itself.
    package var activation: LinkStatistics?

    /// Creates the findings before any work.
    package init(_ hand: TagInHand) {
        identifier = hand.target.identifier
        type = hand.tag?.type
    }

    /// Stores the complete UID of a Type 1 tag. It is in the tag's memory, and known after reading.
    mutating func noteIdentifier(of tag: any ForumTag) {
        if let uid = (tag as? Type1Tag)?.uid { identifier = uid }
    }
}

extension TagInHand {
    /// Reads the tag like a session: its status, then its message.
    ///
    /// - Returns: the findings, also for a tag without NDEF or of a kind that has none.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `refused`, `cancelled`, `readerUnavailable`.
    package func read() async throws(TagError) -> TagFindings {
        var findings = TagFindings(self)
        guard let tag else {
            findings.survey.error = missingProcedures
            return findings
        }
        let start = try await begin(&findings)
        findings.survey = try await tag.surveyNDEF()
        findings.cost = cost(since: start)
        findings.noteIdentifier(of: tag)
        return findings
    }

    /// Asks the tag for its product; nil if it does not say, or has left. This needs further exchanges, so call it
    /// after the work.
    package func productName() async -> String? {
        let name = try? await target.productName(asking: tag, historicalBytes: answerToSelect?.historicalBytes ?? [])
        return name ?? nil
    }

    /// Completes the tag's activation.
    ///
    /// - Returns: the counts at that moment.
    func begin(_ findings: inout TagFindings) async throws(TagError) -> LinkStatistics? {
        try await tag?.prepare()
        findings.activation = statisticsSinceOrigin
        return statistics
    }

    func cost(since start: LinkStatistics?) -> LinkStatistics? {
        guard let start, let statistics else { return nil }
        return statistics - start
    }
}
