// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink
import VirtualTags

/// A virtual field that can be unplugged, and says when that happens. It does not tell arrivals apart.
final class PluggedReader: FieldDriver {
    private struct State {
        var failure: String?
        var handler: (@Sendable () -> Void)?
    }

    let field = VirtualField()
    /// Why it is gone when a tag is read; nil while it stays.
    let pullsOutAtRead = Locked<String?>(nil)
    /// Each switching of the field, and whether that was on.
    let carriers = Locked<[Bool]>([])
    private let state = Locked(State())

    var name: String { field.name }
    var technologies: Set<Technology> { field.technologies }

    func link(for technology: Technology) -> (any FrameLink)? {
        field.link(for: technology).map { PulledLink($0, pullsOutAtRead) }
    }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        if isOn, let failure = state.withLock({ $0.failure }) { throw LinkError(.readerUnavailable, failure) }
        carriers.withLock { $0.append(isOn) }
        field.switchCarrier(isOn)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        state.withLock { $0.handler = handler }
        return PresenceObservation { [self] in state.withLock { $0.handler = nil } }
    }

    /// Unplugs it for a reason, or plugs it in.
    func plug(_ failure: String?) {
        state.withLock { state in
            state.failure = failure
            return state.handler
        }?()
    }
}

/// A link whose reader may be pulled out when a tag is read.
private final class PulledLink: FrameLink {
    private let base: any FrameLink
    private let failure: Locked<String?>
    var technology: Technology { base.technology }
    var maximumFrameLength: Int { base.maximumFrameLength }
    var statistics: LinkStatistics { base.statistics }

    init(_ base: any FrameLink, _ failure: Locked<String?>) {
        self.base = base
        self.failure = failure
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        // READ.
        if frame.bytes.first == 0x30, let failure = failure.withLock({ $0 }) {
            throw LinkError(.readerUnavailable, failure)
        }
        return try await base.transceive(frame, timeout: timeout)
    }
}
