// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// An activated tag for one procedure, with the counts that its reader provides. A procedure must not keep it.
package struct TagInHand {
    /// The data that the tag sent when it was activated.
    package let target: TagTarget
    /// The NDEF procedures of its type; nil when there are none for its kind.
    package let tag: (any ForumTag)?
    /// The link for frames; nil if the reader handles the card's transport protocol.
    package let link: (any FrameLink)?
    /// The card's transport protocol.
    package let card: (any APDULink)?
    /// Whether values such as ATQA and SAK come from the tag itself. Otherwise they were derived from the reader's
    /// data.
    package let tellsActivation: Bool
    /// The ATS, if the reader reported it or the card was activated here.
    private let toldAnswerToSelect: AnswerToSelect?
    /// The link's counts before the tag was looked for; nil if the reader activates tags itself.
    private let origin: LinkStatistics?

    /// Creates a tag in a field whose frames are all counted.
    ///
    /// - Parameters:
    ///   - target: the data of its activation.
    ///   - tag: its procedures; nil when there are none.
    ///   - link: the link over which it was activated.
    ///   - origin: the link's counts before.
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

    /// The card's ATS, if known.
    package var answerToSelect: AnswerToSelect? { (card as? ISODEP)?.answerToSelect ?? toldAnswerToSelect }

    /// The current counts; nil if the reader does not report them.
    package var statistics: LinkStatistics? {
        if let link { return link.countsAir ? link.statistics : nil }
        return card.flatMap { $0.countsAir ? $0.statistics : nil }
    }

    /// The counts since the tag was looked for; nil if the reader activates tags itself.
    package var statisticsSinceOrigin: LinkStatistics? {
        guard let origin, let statistics else { return nil }
        return statistics - origin
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
