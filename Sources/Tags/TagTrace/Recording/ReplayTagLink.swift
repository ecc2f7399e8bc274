// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The link to a tag that the reader found itself.
final class ReplayTagLink: SelfActivatingLink {
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
