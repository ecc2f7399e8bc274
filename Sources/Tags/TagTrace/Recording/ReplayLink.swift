// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A link that only accepts the recorded frames.
final class ReplayLink: FrameLink {
    let replay: RecordingReplay
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
