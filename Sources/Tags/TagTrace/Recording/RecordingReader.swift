// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Records a reader that finds tags itself.
final class RecordingReader: ForwardingDriver, DiscoveringDriver {
    private let base: any DiscoveringDriver
    private let recorder: Recorder
    private let clock: @Sendable () -> Duration
    /// Whether the header was written. It is written at the first call, because a reader may have no name before it is
    /// open.
    private let hasBegun = Locked(false)
    private let tellsPresence = Locked(false)

    init(_ base: any DiscoveringDriver, recorder: Recorder) {
        self.base = base
        self.recorder = recorder
        clock = { [recorder] in recorder.time }
    }

    var target: any ReaderDriver { base }
    var unrecorded: any ReaderDriver { base }
    var reportsActivationData: Bool { base.reportsActivationData }
    func interrupt() { base.interrupt() }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let observation = base.observePresence { [weak self] in
            guard let self else { return }
            // The first report may come before the observation is returned.
            tellsPresence.withLock { $0 = true }
            begin()
            recorder.presenceChanged(at: clock())
            handler()
        }
        if observation != nil { tellsPresence.withLock { $0 = true } }
        return observation
    }

    func arrival(of identifier: [UInt8]) -> UInt64? {
        let number = base.arrival(of: identifier)
        recorder.arrived(identifier, number: number, at: clock())
        return number
    }

    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        await recorder.recordStay(of: identifier, clock) { await base.isStillNear(identifier, since: arrival) }
    }

    func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        begin()
        let action = Recording.Action.discover(
            Technology.allCases.filter(technologies.contains),
            systemCodes: systemCodes
        )
        let step = recorder.start(action, at: clock())
        do throws(LinkError) {
            let tags = try await base.discover(technologies, systemCodes: systemCodes)
            let wrapped = tags.map { RecordedTag($0, number: recorder.nextTag(), recorder: recorder, clock: clock) }
            recorder.finish(step, .tags(wrapped.map(\.entry)), at: clock())
            return wrapped.map(\.tag)
        } catch {
            recorder.finish(step, .failed(error), at: clock())
            throw error
        }
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        guard let recorded = tag.recorded else { throw LinkError(.tagRemoved, "The tag is another reader's.") }
        try await recorder.record(.select(tag: recorded.number), clock) { () throws(LinkError) in
            try await base.select(recorded.base)
        }
    }

    func release() async {
        begin()
        let step = recorder.start(.release, at: clock())
        await base.release()
        recorder.finish(step, .done, at: clock())
    }

    private func begin() {
        // The header is written while the lock is held, so that no other thread writes anything before it.
        hasBegun.withLock { [base, recorder, tellsPresence] hasBegun in
            guard !hasBegun else { return }
            hasBegun = true
            recorder.begin(
                Recording.Header(
                    reader: base.name,
                    isField: false,
                    technologies: Technology.allCases.filter(base.technologies.contains),
                    maximumFrameLength: 256,
                    tellsPresence: tellsPresence.withLock { $0 }
                )
            )
        }
    }
}

/// A tag that was found, with links that record their exchanges.
private struct RecordedTag {
    let tag: DiscoveredTag
    let entry: Recording.Tag

    init(_ base: DiscoveredTag, number: Int, recorder: Recorder, clock: @escaping @Sendable () -> Duration) {
        let record = TagRecord(base: base, number: number, recorder: recorder, clock: clock)
        switch base.port {
        case .frames(let link):
            tag = DiscoveredTag(identity: base.identity, port: .frames(RecordingTagLink(link, record)))
            entry = Recording.Tag(
                number: number,
                identity: base.identity,
                port: .frames(maximumLength: link.maximumFrameLength, countsAir: link.countsAir)
            )
        case .commands(let card, let answerToSelect):
            let port = DiscoveredTag.Port.commands(RecordingCard(card, record), answerToSelect: answerToSelect)
            tag = DiscoveredTag(identity: base.identity, port: port)
            let limits = Recording.Tag.Limits(
                command: card.maximumCommandLength,
                response: card.maximumResponseLength,
                blockCommand: card.singleBlockCommandLength,
                blockResponse: card.singleBlockResponseLength
            )
            entry = Recording.Tag(
                number: number,
                identity: base.identity,
                port: .commands(limits: limits, answerToSelect: answerToSelect)
            )
        }
    }
}

/// The data of a recorded tag for its links.
private struct TagRecord: Sendable {
    var base: DiscoveredTag
    var number: Int
    var recorder: Recorder
    var clock: @Sendable () -> Duration
}

extension DiscoveredTag {
    fileprivate var recorded: TagRecord? {
        switch port {
        case .frames(let link): (link as? RecordingTagLink)?.record
        case .commands(let card, _): (card as? RecordingCard)?.record
        }
    }
}

private final class RecordingTagLink: ForwardingLink, SelfActivatingLink {
    private let link: any SelfActivatingLink
    let record: TagRecord

    init(_ link: any SelfActivatingLink, _ record: TagRecord) {
        self.link = link
        self.record = record
    }

    var target: any FrameLink { link }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let medium = Trace.Medium.frames(link.technology)
        return try await record.recorder.record(
            .exchange(medium, tag: record.number, frame, timeout: timeout),
            record.clock
        ) { () throws(LinkError) in
            try await link.transceive(frame, timeout: timeout)
        } outcome: {
            .frame($0)
        }
    }

    func reactivate() async throws(LinkError) {
        try await record.recorder.record(.reactivate(tag: record.number), record.clock) { () throws(LinkError) in
            try await link.reactivate()
        }
    }
}

private final class RecordingCard: APDULink {
    private let card: any APDULink
    let record: TagRecord

    init(_ card: any APDULink, _ record: TagRecord) {
        self.card = card
        self.record = record
    }

    var maximumCommandLength: Int { card.maximumCommandLength }
    var maximumResponseLength: Int { card.maximumResponseLength }
    var singleBlockCommandLength: Int { card.singleBlockCommandLength }
    var singleBlockResponseLength: Int { card.singleBlockResponseLength }
    var statistics: LinkStatistics { card.statistics }
    var countsAir: Bool { card.countsAir }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        try await record.recorder.record(
            .exchange(.commands, tag: record.number, Frame(apdu), timeout: .zero),
            record.clock
        ) { () throws(LinkError) in
            try await card.transmit(apdu)
        } outcome: {
            .frame(Frame($0))
        }
    }

    func isPresent() async -> Bool {
        let step = record.recorder.start(.isPresent(tag: record.number), at: record.clock())
        let isPresent = await card.isPresent()
        record.recorder.finish(step, .isPresent(isPresent), at: record.clock())
        return isPresent
    }

    func wasActivated() { card.wasActivated() }
}
