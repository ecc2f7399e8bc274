// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Finds and selects NFC-A tags with raw frames: REQA or WUPA, anticollision and SELECT (ISO/IEC 14443-3, 6.4).
public struct NFCAActivation: Sendable {
    /// The link to the field.
    public let link: any FrameLink

    /// How long a tag may take beyond the frame delay. Answers in activation are synchronous, so this is tolerance of
    /// the reader, not of the tag.
    static let answerTimeout = Airtime.milliseconds(1)

    /// How often an activation that broke off is begun anew.
    static let attempts = 3

    /// Creates the procedure for a field.
    ///
    /// - Parameter link: an NFC-A link.
    public init(link: any FrameLink) {
        self.link = link
    }

    /// Activates every tag in the field, one after the other; the last one stays ACTIVE, the others are halted.
    ///
    /// A tag that is alone costs the minimum: REQA, and anticollision and SELECT for each cascade level of its UID. Only
    /// where tags collide is one of them selected, halted, and the search begun again. Use ``reactivate(_:)`` to get
    /// back to a halted one. A Type 1 tag has no anticollision and is reported alone.
    ///
    /// - Parameters:
    ///   - waking: whether a halted tag is woken too (WUPA in place of the first REQA). Of several halted ones only one
    ///     is found, since the others go back to HALT when it is selected; to find them all, turn the carrier off and
    ///     on. A tag that is ACTIVE takes the request for an error, and is missed where others answer.
    ///   - limit: the number of tags after which the search ends.
    /// - Returns: the tags in the order in which they were found, the last one ACTIVE; none when nothing answers.
    /// - Throws: ``TagError`` with `badAnswer` when a tag breaks the anticollision's rules, `readerUnavailable`,
    ///   `unsupported`, `cancelled`.
    public func activateAll(waking: Bool = false, limit: Int = 16) async throws(TagError) -> [NFCATarget] {
        var found: [NFCATarget] = []
        var lastIsHalted = false
        var failures = 0
        var command = waking ? Request.wakeUp : .request
        while found.count < limit {
            guard let sense = try await sense(command) else { break }
            if !sense.isCrowded, NFCATarget.isType1(atqa: sense.atqa) {
                found.append(NFCATarget(atqa: sense.atqa, sak: nil, uid: []))
                return found
            }
            guard let (target, isCrowded) = try await selectOne(sense) else {
                // The tag fell silent or its answers are damaged: begin anew, a few times.
                failures += 1
                guard failures < Self.attempts else { break }
                continue
            }
            // A tag that does not keep to HLTA would be found for ever.
            guard !found.contains(where: { $0.uid == target.uid }) else { return found }
            found.append(target)
            lastIsHalted = false
            guard isCrowded || sense.isCrowded, found.count < limit else { return found }
            try await halt()
            lastIsHalted = true
            command = .request
        }
        // The one that was halted to make room for the next turned out to be the last.
        while lastIsHalted, let last = found.last {
            do throws(TagError) {
                try await reactivate(last)
                return found
            } catch {
                guard error.code == .tagLost else { throw error }
                found.removeLast()
            }
        }
        return found
    }

    /// Wakes a tag that is known, wherever it is between IDLE, ACTIVE and HALT, and selects it by its whole UID.
    ///
    /// Other tags in the field stay unselected: they don't answer to a UID that is not theirs (ISO/IEC 14443-3, 6.5.3).
    ///
    /// - Parameter target: the tag as ``activateAll(waking:limit:)`` found it.
    /// - Throws: ``TagError`` with `tagLost` when it does not answer, or something with another SAK does;
    ///   `unsupported` for a Type 1 tag; `readerUnavailable`, `cancelled`.
    public func reactivate(_ target: NFCATarget) async throws(TagError) {
        if let link = link as? any SelfActivatingLink { return try await reactivate(by: link) }
        guard let sak = target.sak, let levels = Self.cascadeLevels(of: target.uid) else {
            throw TagError(.unsupported, "A tag without anticollision can't be selected by its UID.")
        }
        var silence: LinkError?
        for _ in 0..<Self.attempts {
            let answered: UInt8
            do throws(LinkError) {
                // An ACTIVE tag takes WUPA for an error and goes to IDLE without an answer; the next one wakes it.
                try await wakeUp()
                answered = try await select(levels)
            } catch {
                if let failure = TagError(fatal: error) { throw failure }
                silence = error
                continue
            }
            guard answered == sak else {
                throw TagError(.tagLost, "A tag with the same UID and another SAK is in the tag's place.")
            }
            return
        }
        throw TagError(.tagLost, "The tag does not answer any more.", link: silence)
    }

    /// Leaves it to the reader to wake its tag.
    private func reactivate(by link: any SelfActivatingLink) async throws(TagError) {
        do throws(LinkError) {
            try await link.reactivate()
        } catch {
            throw TagError(fatal: error) ?? TagError(.tagLost, error.reason, link: error)
        }
    }

    /// Halts the tag that is ACTIVE. It answers to nothing but WUPA from then on (ISO/IEC 14443-3, 6.4.3).
    ///
    /// - Throws: ``TagError`` with `readerUnavailable` or `cancelled`. Silence is the expected answer.
    public func halt() async throws(TagError) {
        do throws(LinkError) {
            _ = try await link.transceive(Frame([0x50, 0x00]), timeout: Self.answerTimeout)
        } catch {
            if let failure = TagError(fatal: error) { throw failure }
        }
    }
}
