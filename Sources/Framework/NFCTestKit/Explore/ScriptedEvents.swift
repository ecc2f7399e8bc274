// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import VirtualTags

/// Carries out the faults of a ``FaultScript`` in a field.
extension TestField {
    /// The default time that a slipped tag is away, and that a second tag stays.
    private static let absence = Duration.seconds(1)

    /// Sets the faults of a run.
    ///
    /// - Parameters:
    ///   - script: the faults.
    ///   - companion: the tag that comes near, if the script has a second tag.
    func arm(_ script: FaultScript, companion: NearbyTag?) {
        guard let virtual else { return }
        let faults = script.steps.compactMap { step -> Fault? in
            let exchange = Fault.Trigger.exchange(step.place - 1)
            switch step.kind {
            case .loss where !step.comesBack: return Fault(.loss, at: exchange)
            case .loss, .slip:
                return Fault(
                    event(step) { $0.slipAway(for: step.absence.map { .milliseconds($0) } ?? Self.absence) },
                    at: exchange
                )
            case .silence: return Fault(.mute, at: exchange)
            case .nak: return Fault(.refusal(0), at: exchange)
            case .flip: return Fault(.bitError, at: exchange)
            case .old: return Fault(.powerCut(.old), at: .write(step.place))
            case .new: return Fault(.powerCut(.new), at: .write(step.place))
            case .mixed: return Fault(.powerCut(.mixed(seed: UInt64(step.place))), at: .write(step.place))
            case .cancel: return Fault(event(step) { $0.pressCancel() }, at: exchange)
            case .second: return Fault(event(step) { field in field.visit(by: companion) }, at: exchange)
            case .gone: return nil
            case .background: return Fault(event(step) { $0.goToBackground() }, at: exchange)
            case .busy:
                environment.arbiter.refuse(request: step.place) { [weak self] in
                    self?.note("the system is busy, and refuses session \(step.place)")
                    self?.happened(step)
                }
                return nil
            }
        }
        state.withLock { $0.departures = script.steps.filter { $0.kind == .gone } }
        virtual.arm(FaultPlan(faults, seed: script.seed))
    }

    /// The steps of the run's script that happened.
    func happened(of script: FaultScript) -> [FaultScript.Step] {
        let events = state.withLock { $0.happened }
        let counts = virtual?.countsSinceArmed ?? (0, 0)
        return script.steps.filter { step in
            switch step.kind {
            case .old, .new, .mixed: step.place <= counts.writes
            case .silence, .nak, .flip: step.place <= counts.exchanges
            case .loss where !step.comesBack: step.place <= counts.exchanges
            case .loss, .slip, .gone, .cancel, .second, .background, .busy: events.contains(step)
            }
        }
    }

    /// Called before the app connects to a tag: removes the tag if the script says so.
    func willConnect() {
        let step = state.withLock { state in
            state.connections += 1
            return state.departures.first { $0.place == state.connections }
        }
        if let step, goAway() { happened(step) }
    }

    /// - Parameter action: carries out the step; false when that is not possible.
    private func event(_ step: FaultScript.Step, _ action: @escaping @Sendable (TestField) -> Bool) -> Fault.Effect {
        .call { [weak self] in
            guard let self, action(self) else { return }
            happened(step)
        }
    }

    private func happened(_ step: FaultScript.Step) { state.withLock { $0.happened.append(step) } }

    private func slipAway(for absence: Duration) -> Bool {
        guard let virtual else { return false }
        let tags = virtual.tags
        guard !tags.isEmpty else { return false }
        note("the tag slips away")
        virtual.removeAll()
        _ = environment.clock.schedule(after: absence) { [weak self] in
            guard let self else { return }
            note("the tag is back")
            for tag in tags where !isGoneCompanion(tag) { virtual.bring(tag) }
        }
        return true
    }

    /// Whether a tag is the second tag, and its visit is over.
    private func isGoneCompanion(_ tag: any VirtualTag) -> Bool {
        state.withLock { state in
            state.companionIsGone && state.tags.contains { $0.isCompanion && $0.virtual === tag }
        }
    }

    private func visit(by companion: NearbyTag?) -> Bool {
        guard let virtual, let companion else { return false }
        note("a second tag comes near: \(companion)")
        virtual.bring(companion.virtual)
        state.withLock { $0.companionIsGone = false }
        _ = environment.clock.schedule(after: Self.absence) { [weak self] in
            self?.note("the second tag is taken away")
            self?.state.withLock { $0.companionIsGone = true }
            virtual.remove(companion.virtual)
        }
        return true
    }

    private func goAway() -> Bool {
        guard let virtual, !virtual.tags.isEmpty else { return false }
        note("the tag leaves before the app connects to it")
        virtual.removeAll()
        return true
    }

    private func pressCancel() -> Bool {
        note("the person presses Cancel")
        return sheet.cancel()
    }

    private func goToBackground() -> Bool {
        note("the app goes to the background")
        return environment.arbiter.endSession(with: .appInBackground)
    }
}
