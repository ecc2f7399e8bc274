// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A virtual field's link in one technology.
final class VirtualLink: FrameLink {
    let technology: Technology
    let maximumFrameLength: Int
    private let core: FieldCore

    init(_ technology: Technology, maximumFrameLength: Int, core: FieldCore) {
        self.technology = technology
        self.maximumFrameLength = maximumFrameLength
        self.core = core
    }

    var statistics: LinkStatistics {
        core.state.withLock { $0.statistics[Int(technology.rawValue)] }
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        if Task.isCancelled {
            throw LinkError(.cancelled, "The task was cancelled.")
        }
        return try core.exchange(frame, technology, timeout: timeout, maximumFrameLength: maximumFrameLength)
    }
}
