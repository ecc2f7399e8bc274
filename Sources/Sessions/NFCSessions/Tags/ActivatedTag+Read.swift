// SPDX-License-Identifier: Apache-2.0
import TagLink
package import TagProtocols

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
        findings.survey = try await forumTag.surveyNDEF()
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

    /// Completes the tag's activation.
    ///
    /// - Returns: the counts at that moment.
    func begin(_ findings: inout TagReadResult) async throws(TagError) -> LinkStatistics? {
        try await forumTag?.prepare()
        findings.activation = statisticsSinceOrigin
        return statistics
    }

    func cost(since start: LinkStatistics?) -> LinkStatistics? {
        guard let start, let statistics else { return nil }
        return statistics - start
    }

    /// The error for a tag without procedures.
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
