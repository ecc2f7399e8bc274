// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink

/// Polls the simulator's field for tags, like the background service.
final class BackgroundWatcher: Sendable {
    private let watcher: TagWatcher?

    init(simulator: Simulator) {
        let driver = PhoneReader(simulator: simulator, source: "background")
        let environment = NFCEnvironment(reader: .field(driver), clock: simulator.clock)
        watcher = TagWatcher(environment) { [weak simulator] event in
            _ = simulator?.update { $0.watched(event) }
        }
    }

    func start() { watcher?.start() }

    /// Stops polling, and waits until the reader is free.
    func stopLooking() async { await watcher?.stop() }

    func stop() async { await watcher?.stop() }
}

/// The phone's reader, for code in this process.
final class PhoneReader: FieldDriver {
    let name = "simulator"
    let technologies = Set(Technology.allCases)
    private let simulator: WeakSimulator
    private let field: any FieldDriver
    private let links: [PhoneLink]
    private let source: String

    init(simulator: Simulator, source: String) {
        self.simulator = WeakSimulator(simulator)
        self.source = source
        field = simulator.read { $0.field.virtual }
        links = Technology.allCases.map { PhoneLink($0, WeakSimulator(simulator), source) }
    }

    func link(for technology: Technology) -> (any FrameLink)? { links[Int(technology.rawValue)] }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        guard let simulator = simulator.value else { throw LinkError(.readerUnavailable, "The simulator has ended.") }
        simulator.update { $0.setCarrier(isOn, source: source) }
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        field.observePresence(handler)
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }
}

/// A weak reference to the simulator.
final class WeakSimulator: @unchecked Sendable {
    // Safe: the reference is set once, and the Swift runtime synchronizes weak references.
    private(set) weak var value: Simulator?

    init(_ value: Simulator) { self.value = value }
}

/// The frame link of the phone's reader, for one technology. An exchange takes as long as it would on the air.
final class PhoneLink: FrameLink {
    let technology: Technology
    let maximumFrameLength = 256
    private let simulator: WeakSimulator
    private let source: String
    private let counts = Locked(LinkStatistics.zero)

    init(_ technology: Technology, _ simulator: WeakSimulator, _ source: String) {
        self.technology = technology
        self.simulator = simulator
        self.source = source
    }

    var statistics: LinkStatistics { counts.withLock { $0 } }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        guard !Task.isCancelled else { throw LinkError(.cancelled, "The task was cancelled.") }
        guard let simulator = simulator.value else { throw LinkError(.readerUnavailable, "The simulator has ended.") }
        let (result, elapsed, due) = simulator.exchange(frame, technology, timeout: timeout, source: source)
        counts.withLock { counts in
            counts.exchanges += 1
            counts.airtime += elapsed
            counts.bytesOnAir += frame.byteCountOnAir + ((try? result.get())?.byteCountOnAir ?? 0)
        }
        AirtimeWait.until(due, simulator.clock)
        return try result.get()
    }
}
