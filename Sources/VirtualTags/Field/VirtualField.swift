// SPDX-License-Identifier: Apache-2.0
import Synchronization
public import TagLink

/// A reader that exists in memory alone, with tags that can be brought near and taken away at any time.
public final class VirtualField: FieldDriver {
    struct State {
        var tags: [any VirtualTag] = []
        var carrierIsOn = true
        var observers: [UInt64: @Sendable () -> Void] = [:]
        var lastObserverID: UInt64 = 0
        var faults = FaultPlan()
        /// Exchanges and programmed writes since the plan was set.
        var exchangeCount = 0
        var writeCount = 0
        var statistics = LinkStatistics()
    }

    let state = Mutex(State())
    let onElapsed: (@Sendable (Airtime) -> Void)?
    private let nfcA: FieldLink

    /// Creates an empty field.
    ///
    /// - Parameter onElapsed: told of the time that each exchange takes, to drive a clock; called under no lock.
    public init(onElapsed: (@Sendable (Airtime) -> Void)? = nil) {
        self.onElapsed = onElapsed
        nfcA = FieldLink(technology: .nfcA)
        nfcA.attach(to: self)
    }

    public var name: String { "virtual" }

    public var technologies: Set<Technology> { [.nfcA] }

    // MARK: Tags

    /// Brings a tag near.
    public func bring(_ tag: any VirtualTag) {
        change { $0.tags.append(tag) }
    }

    /// Takes a tag away; it loses its power.
    public func remove(_ tag: any VirtualTag) {
        change { state in
            state.tags.removeAll { $0 === tag }
            tag.losePower()
        }
    }

    /// Takes every tag away.
    public func removeAll() {
        change { state in
            for tag in state.tags { tag.losePower() }
            state.tags = []
        }
    }

    private func change(_ body: (inout sending State) -> Void) {
        let observers = state.withLock { state in
            body(&state)
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// Sets what goes wrong from now on.
    public func setFaults(_ plan: FaultPlan) {
        state.withLock { state in
            state.faults = plan
            state.exchangeCount = 0
            state.writeCount = 0
        }
    }

    // MARK: FieldDriver

    public func link(for technology: Technology) -> (any FrameLink)? {
        technology == .nfcA ? nfcA : nil
    }

    public func setCarrier(_ isOn: Bool) async throws(LinkError) {
        state.withLock { state in
            state.carrierIsOn = isOn
            if !isOn { for tag in state.tags { tag.losePower() } }
        }
    }

    public func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let id = state.withLock { state in
            state.lastObserverID += 1
            state.observers[state.lastObserverID] = handler
            return state.lastObserverID
        }
        return PresenceObservation { [weak self] in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: id) }
        }
    }
}
