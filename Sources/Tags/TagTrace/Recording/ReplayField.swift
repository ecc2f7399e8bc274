// SPDX-License-Identifier: Apache-2.0
import TagLink

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
