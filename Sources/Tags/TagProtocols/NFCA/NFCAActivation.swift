// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Finds and selects NFC-A tags with raw frames: REQA or WUPA, anticollision and SELECT (ISO/IEC 14443-3, 6.4).
public struct NFCAActivation: Sendable {
    /// The link to the field.
    public let link: any FrameLink

    /// How long to wait for an answer after the frame delay. Answers during activation are synchronous, so this allows
    /// for delays of the reader, not of the tag.
    static let answerTimeout = Airtime.milliseconds(1)

    /// How often an interrupted activation is tried.
    static let attempts = 3

    /// Creates the procedure for a field.
    ///
    /// - Parameter link: an NFC-A link.
    public init(link: any FrameLink) {
        self.link = link
    }

    /// Activates every tag in the field, one after the other. The last one stays ACTIVE; the others are halted.
    ///
    /// A single tag takes the minimum: REQA, then anticollision and SELECT for each cascade level of its UID. Only when
    /// tags collide, one of them is selected and halted, and the search starts again. Use ``reactivate(_:)`` to return
    /// to a halted tag. A Type 1 tag has no anticollision, so the search ends with it.
    ///
    /// - Parameters:
    ///   - waking: whether halted tags are woken too (the first request is WUPA instead of REQA). Of several halted
    ///     tags only one is found, because the others go back to HALT when it is selected. To find them all, turn the
    ///     carrier off and on; a known one is found by its UID. An ACTIVE tag treats the request as an error, and is missed when others answer.
    ///   - limit: the number of tags after which the search ends.
    /// - Returns: the tags in the order in which they were found, the last one ACTIVE; empty when no tag answers.
    /// - Throws: ``TagError`` with `badAnswer` when a tag breaks the rules of anticollision, `readerUnavailable`,
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
                // The tag stopped answering or its answers are damaged: start again, a few times.
                failures += 1
                guard failures < Self.attempts else { break }
                continue
            }
            // A tag that ignores HLTA would be found endlessly.
            guard !found.contains(where: { $0.uid == target.uid }) else {
                lastIsHalted = found.last?.uid != target.uid
                break
            }
            found.append(target)
            lastIsHalted = false
            guard isCrowded || sense.isCrowded, found.count < limit else { return found }
            try await halt()
            lastIsHalted = true
            command = .request
        }
        // The tag that was halted to find the next one was the last.
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

    /// Wakes the tag with a UID, in the IDLE, ACTIVE or HALT state, and selects it through its cascade levels.
    ///
    /// It finds any of several halted tags, unlike ``activateAll(waking:limit:)``: the others don't answer to a UID that
    /// isn't theirs (ISO/IEC 14443-3, 6.5.3).
    ///
    /// - Parameter uid: the whole UID.
    /// - Returns: the tag; nil when no tag with this UID answers.
    /// - Throws: ``TagError`` with `readerUnavailable`, `unsupported`, `cancelled`.
    package func activate(uid: [UInt8]) async throws(TagError) -> NFCATarget? {
        guard let levels = Self.cascadeLevels(of: uid) else { return nil }
        for _ in 0..<Self.attempts {
            // An ACTIVE tag treats WUPA as an error and goes to IDLE without an answer. The next WUPA wakes it.
            guard let sense = try await sense(.wakeUp) else { continue }
            do throws(LinkError) {
                let sak = try await select(levels)
                // Otherwise these bytes are only the start of a longer UID.
                guard sak & 0x04 == 0 else { return nil }
                return NFCATarget(atqa: sense.atqaOfTag(levels: levels.count), sak: sak, uid: uid)
            } catch {
                if let failure = TagError(fatal: error) { throw failure }
            }
        }
        return nil
    }

    /// Wakes a known tag in the IDLE, ACTIVE or HALT state, and selects it by its complete UID.
    ///
    /// Other tags in the field stay unselected, because they don't answer to a UID that isn't theirs (ISO/IEC 14443-3,
    /// 6.5.3).
    ///
    /// - Parameter target: the tag as ``activateAll(waking:limit:)`` found it.
    /// - Throws: ``TagError`` with `tagLost` when the tag does not answer, or a tag with another SAK does;
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
                // An ACTIVE tag treats WUPA as an error and goes to IDLE without an answer. The next WUPA wakes it.
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

    /// Lets the reader wake its tag.
    private func reactivate(by link: any SelfActivatingLink) async throws(TagError) {
        do throws(LinkError) {
            try await link.reactivate()
        } catch {
            throw TagError(fatal: error) ?? TagError(.tagLost, error.reason, link: error)
        }
    }

    /// Halts the ACTIVE tag. Afterwards it answers only WUPA (ISO/IEC 14443-3, 6.4.3).
    ///
    /// - Throws: ``TagError`` with `readerUnavailable` or `cancelled`. No answer is the expected result.
    public func halt() async throws(TagError) {
        do throws(LinkError) {
            _ = try await link.transceive(Frame([0x50, 0x00]), timeout: Self.answerTimeout)
        } catch {
            if let failure = TagError(fatal: error) { throw failure }
        }
    }
}
