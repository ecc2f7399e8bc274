// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// An activated tag in the hands of one procedure, with what its reader lets be counted. A procedure may not keep it.
package struct TagInHand {
    /// What the tag said of itself when it was activated.
    package let target: TagTarget
    /// The NDEF procedures of its type; nil where there are none for its kind.
    package let tag: (any ForumTag)?
    /// The way for frames; nil where the reader speaks the card's transport protocol.
    package let link: (any FrameLink)?
    /// The card's transport protocol.
    package let card: (any APDULink)?
    /// Whether ATQA, SAK and the like are the tag's own words, rather than what follows from what its reader tells.
    package let tellsActivation: Bool
    /// The ATS, where the reader told it or the card was activated here.
    private let toldAnswerToSelect: AnswerToSelect?
    /// What the link had counted before the tag was looked for; nil where the reader activates tags by itself.
    private let origin: LinkStatistics?

    /// A tag in a field whose frames are all counted.
    ///
    /// - Parameters:
    ///   - target: what it said of itself.
    ///   - tag: its procedures; nil where there are none.
    ///   - link: the link over which it was activated.
    ///   - origin: what the link had counted before.
    package init(target: TagTarget, tag: (any ForumTag)?, link: any FrameLink, origin: LinkStatistics) {
        self.target = target
        self.tag = tag
        self.link = link
        card = (tag as? Type4Tag)?.link
        tellsActivation = true
        toldAnswerToSelect = nil
        self.origin = origin
    }

    init(_ found: FoundTag) {
        target = found.target
        tag = found.tag
        link = found.link
        card = found.card
        tellsActivation = found.tellsActivation
        toldAnswerToSelect = found.answerToSelect
        origin = found.origin
    }

    /// The card's ATS, where it is known.
    package var answerToSelect: AnswerToSelect? { (card as? ISODEP)?.answerToSelect ?? toldAnswerToSelect }

    /// What has been counted on the air so far; nil where the reader keeps that to itself.
    package var statistics: LinkStatistics? {
        if let link { return link.countsAir ? link.statistics : nil }
        return card.flatMap { $0.countsAir ? $0.statistics : nil }
    }

    /// The counts since the tag was looked for; nil where the reader activates tags by itself.
    package var statisticsSinceOrigin: LinkStatistics? {
        guard let origin, let statistics else { return nil }
        return statistics - origin
    }

    /// Why there are no procedures for the tag.
    var missingProcedures: TagError {
        if case .nfcA(let target) = target { return TagError(.unsupported, target.reasonWithoutNDEF) }
        return target.holdsNoNDEF
    }
}

extension TagTarget {
    /// Why there is no NDEF on a tag of a kind that has no procedures for it.
    var holdsNoNDEF: TagError {
        TagError(.unsupported, "A \(kindName) does not hold NDEF that can be read here.")
    }
}

extension ReaderSession {
    /// Runs a procedure on a tag of any kind, after the commands that were given before it. The tag is connected first.
    ///
    /// - Parameters:
    ///   - tag: one of the tags found last.
    ///   - procedure: works with the tag; it may not keep it.
    /// - Returns: the procedure's value.
    /// - Throws: ``CommandError``.
    package func work<Value: Sendable>(
        with tag: DetectedTag,
        _ procedure: @escaping @Sendable (TagInHand) async throws(TagError) -> Value
    ) async throws(CommandError) -> Value {
        try await handedOver { connect(to: tag, completion: $0) }.get()
        let result: Result<Value, CommandError> = await handedOver { done in
            run(
                on: tag,
                { channel throws(CommandError) in try await channel.work(with: tag, procedure) },
                completion: done
            )
        }
        return try result.get()
    }
}
