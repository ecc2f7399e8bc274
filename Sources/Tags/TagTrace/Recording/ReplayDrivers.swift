// SPDX-License-Identifier: Apache-2.0
import TagLink

extension ReplayingDriver {
    var name: String { replay.name }
    var technologies: Set<Technology> { replay.technologies }
    var statistics: LinkStatistics { replay.statistics }
    var executor: (any SerialExecutor & TaskExecutor)? { replay.executor }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        replay.observePresence(handler)
    }

    var reportsPresenceInTime: Bool { false }

    func arrival(of identifier: [UInt8]) -> UInt64? { replay.arrival(of: identifier) }

    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool { replay.isStillNear(identifier) }
}

/// Replays a reader whose host sent every frame.
final class ReplayField: FieldDriver, ReplayingDriver {
    let replay: RecordingReplay
    private let links: [Technology: ReplayLink]

    init(_ replay: RecordingReplay) {
        self.replay = replay
        links = Dictionary(
            uniqueKeysWithValues: replay.technologies.map { technology in
                let length = replay.recording.header.maximumFrameLength
                return (technology, ReplayLink(replay, technology, tag: nil, maximumFrameLength: length))
            }
        )
    }

    var statistics: LinkStatistics { replay.statistics }
    func link(for technology: Technology) -> (any FrameLink)? { links[technology] }
    func setCarrier(_ isOn: Bool) async throws(LinkError) { _ = try replay.call(.field(isOn: isOn)) }
}

/// Replays a reader that found tags itself.
final class ReplayReader: DiscoveringDriver, ReplayingDriver {
    let replay: RecordingReplay

    init(_ replay: RecordingReplay) {
        self.replay = replay
    }

    /// False: the recording does not contain the source of ATQA and SAK.
    var tellsActivation: Bool { false }

    func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag] {
        let looked = Technology.allCases.filter(technologies.contains)
        guard case .tags(let tags) = try replay.call(.discover(looked, systemCodes: systemCodes)) else { return [] }
        return tags.map { tag in
            switch tag.port {
            case .frames(let length, let countsAir):
                let link = ReplayTagLink(
                    replay,
                    tag.identity.technology,
                    tag: tag.number,
                    maximumFrameLength: length,
                    countsAir: countsAir
                )
                return DiscoveredTag(identity: tag.identity, port: .frames(link))
            case .commands(let limits, let answerToSelect):
                let card = ReplayCard(replay, tag: tag.number, limits)
                return DiscoveredTag(identity: tag.identity, port: .commands(card, answerToSelect: answerToSelect))
            }
        }
    }

    func select(_ tag: DiscoveredTag) async throws(LinkError) {
        let number =
            switch tag.port {
            case .frames(let link): (link as? ReplayTagLink)?.tag
            case .commands(let card, _): (card as? ReplayCard)?.tag
            }
        guard let number else { throw LinkError(.tagRemoved, "The tag is another reader's.") }
        _ = try replay.call(.select(tag: number))
    }

    func release() async { _ = try? replay.call(.release) }
}

/// A link that only accepts the recorded frames.
private final class ReplayLink: FrameLink {
    fileprivate let replay: RecordingReplay
    let technology: Technology
    /// The tag's number, if the reader found it itself.
    private let tag: Int?
    let maximumFrameLength: Int

    init(_ replay: RecordingReplay, _ technology: Technology, tag: Int?, maximumFrameLength: Int) {
        self.replay = replay
        self.technology = technology
        self.tag = tag
        self.maximumFrameLength = maximumFrameLength
    }

    var statistics: LinkStatistics { replay.statistics(of: technology) }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let call = Recording.Action.exchange(.frames(technology), tag: tag, frame, timeout: timeout)
        guard case .frame(let answer) = try replay.call(call) else { throw LinkError(.timeout, "No answer.") }
        return answer
    }
}

/// The link to a tag that the reader found itself.
private final class ReplayTagLink: SelfActivatingLink {
    private let link: ReplayLink
    let tag: Int
    let countsAir: Bool

    init(
        _ replay: RecordingReplay,
        _ technology: Technology,
        tag: Int,
        maximumFrameLength: Int,
        countsAir: Bool
    ) {
        self.countsAir = countsAir
        link = ReplayLink(replay, technology, tag: tag, maximumFrameLength: maximumFrameLength)
        self.tag = tag
    }

    var technology: Technology { link.technology }
    var maximumFrameLength: Int { link.maximumFrameLength }
    var statistics: LinkStatistics { link.statistics }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        try await link.transceive(frame, timeout: timeout)
    }

    func reactivate() async throws(LinkError) { _ = try link.replay.call(.reactivate(tag: tag)) }
}

/// A card that only accepts the recorded commands.
private final class ReplayCard: APDULink {
    private let replay: RecordingReplay
    let tag: Int
    private let limits: Recording.Tag.Limits

    init(_ replay: RecordingReplay, tag: Int, _ limits: Recording.Tag.Limits) {
        self.replay = replay
        self.tag = tag
        self.limits = limits
    }

    var maximumCommandLength: Int { limits.command }
    var maximumResponseLength: Int { limits.response }
    var singleBlockCommandLength: Int { limits.blockCommand }
    var singleBlockResponseLength: Int { limits.blockResponse }
    var statistics: LinkStatistics { replay.statistics }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        let call = Recording.Action.exchange(.commands, tag: tag, Frame(apdu), timeout: .zero)
        guard case .frame(let answer) = try replay.call(call) else { throw LinkError(.timeout, "No answer.") }
        return answer.bytes
    }

    func isPresent() async -> Bool { (try? replay.call(.isPresent(tag: tag))) == .isPresent(true) }
}
