// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// What was found on a tag, or left on it, and what that cost on the air.
package struct TagFindings: Sendable {
    /// The tag's UID, PUPI or IDm.
    package var identifier: [UInt8]
    /// The tag's platform; nil where there are no procedures for its kind.
    package var type: ForumTagType?
    /// The product's name as far as the tag's own answers tell it.
    package var product: String?
    /// What the tag holds.
    package var survey = NDEFSurvey()
    /// What the work cost from the end of activation on; nil where the reader does not show what goes on the air.
    package var cost: LinkStatistics?
    /// What looking for the tag and activating it cost, in its technology; nil where the reader does that by itself.
    package var activation: LinkStatistics?

    /// What is known before any work.
    package init(_ hand: TagInHand) {
        identifier = hand.target.identifier
        type = hand.tag?.type
    }

    /// Takes the whole UID of a Type 1 tag, which is in its memory, once that has been read.
    mutating func noteIdentifier(of tag: any ForumTag) {
        if let uid = (tag as? Type1Tag)?.uid { identifier = uid }
    }
}

extension TagInHand {
    /// Reads the tag as a session would: its status, then its message.
    ///
    /// - Returns: what was found; a tag that holds no NDEF, or is of a kind that holds none, is a finding as well.
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

    /// What the tag says that it is; nil where it does not say, or left. Costs exchanges that no work has to pay for, so
    /// that it comes after the work.
    package func productName() async -> String? {
        let name = try? await target.productName(asking: tag, historicalBytes: answerToSelect?.historicalBytes ?? [])
        return name ?? nil
    }

    /// Ends the tag's activation.
    ///
    /// - Returns: what had been counted then.
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
