// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A card that only accepts the recorded commands.
final class ReplayCard: APDULink {
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
