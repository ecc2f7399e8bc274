// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Records a reader whose host sends every frame.
///
/// For a reader with simulated time the recording has the simulated times, so a flow gives the same file in every run.
final class RecordingField: ForwardingField {
    let field: any FieldDriver
    private let recorder: Recorder
    private let links: [Technology: RecordingLink]

    init(_ base: any FieldDriver, recorder: Recorder) {
        field = base
        self.recorder = recorder
        var links: [Technology: RecordingLink] = [:]
        let origin = base.statistics
        let clock = { @Sendable [weak base] in base.map { ($0.statistics - origin).duration } ?? .zero }
        for technology in Technology.allCases {
            links[technology] = base.link(for: technology).map { RecordingLink($0, recorder, clock) }
        }
        self.links = links
        recorder.begin(
            Recording.Header(
                reader: base.name,
                isField: true,
                technologies: Technology.allCases.filter(base.technologies.contains),
                maximumFrameLength: links.values.map(\.maximumFrameLength).max() ?? 256,
                tellsPresence: true
            )
        )
        self.clock = clock
    }

    private let clock: @Sendable () -> Duration

    var unrecorded: any ReaderDriver { field }

    func link(for technology: Technology) -> (any FrameLink)? { links[technology] }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        try await recorder.record(.field(isOn: isOn), clock) { () throws(LinkError) in try await field.setCarrier(isOn)
        }
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        field.observePresence { [recorder, clock] in
            recorder.presenceChanged(at: clock())
            handler()
        }
    }

    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool {
        await recorder.recordStay(of: identifier, clock) { await field.isStillNear(identifier, since: arrival) }
    }

    func arrival(of identifier: [UInt8]) -> UInt64? {
        let number = field.arrival(of: identifier)
        recorder.arrived(identifier, number: number, at: clock())
        return number
    }
}

private final class RecordingLink: ForwardingLink {
    let target: any FrameLink
    private let recorder: Recorder
    private let clock: @Sendable () -> Duration

    init(_ base: any FrameLink, _ recorder: Recorder, _ clock: @escaping @Sendable () -> Duration) {
        target = base
        self.recorder = recorder
        self.clock = clock
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        try await recorder.record(.exchange(.frames(technology), tag: nil, frame, timeout: timeout), clock) {
            () throws(LinkError) in
            try await target.transceive(frame, timeout: timeout)
        } outcome: {
            .frame($0)
        }
    }
}

extension LinkStatistics {
    /// The time that the exchanges took.
    fileprivate var duration: Duration { (airtime + tagWorkTime).duration }
}

extension Recorder {
    /// Makes a call, and writes the call and its outcome.
    func record<Value>(
        _ action: Recording.Action,
        _ clock: @Sendable () -> Duration,
        _ call: () async throws(LinkError) -> Value,
        outcome: (Value) -> Recording.Outcome
    ) async throws(LinkError) -> Value {
        let step = start(action, at: clock())
        do throws(LinkError) {
            let value = try await call()
            finish(step, outcome(value), at: clock())
            return value
        } catch {
            finish(step, .failed(error), at: clock())
            throw error
        }
    }

    /// Makes a call without a result, and writes it.
    func record(
        _ action: Recording.Action,
        _ clock: @Sendable () -> Duration,
        _ call: () async throws(LinkError) -> Void
    ) async throws(LinkError) {
        try await record(action, clock, call) { .done }
    }
}
