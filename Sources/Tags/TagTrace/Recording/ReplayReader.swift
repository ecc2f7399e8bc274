// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Replays a reader that found tags itself.
final class ReplayReader: DiscoveringDriver, ReplayingDriver {
    let replay: RecordingReplay

    init(_ replay: RecordingReplay) {
        self.replay = replay
    }

    /// False: the recording does not contain the source of ATQA and SAK.
    var reportsActivationData: Bool { false }

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
