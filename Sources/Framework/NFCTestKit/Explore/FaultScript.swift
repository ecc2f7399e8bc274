// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagTrace
import VirtualTags

/// The faults of one run, written as a short line: `loss@7`, `tear@2:old`, `nak@3+flip@9#42`.
///
/// | word | fault |
/// |---|---|
/// | `loss@N` | the tag leaves before exchange N, and does not come back |
/// | `gone@N` | the tag leaves just before the app's N-th connection to a tag, and does not come back |
/// | `slip@N` | the tag leaves before exchange N, and comes back after a second |
/// | `slip@N:300ms` | the same, but the tag comes back after 300 milliseconds |
/// | `done@N` | exchange N is carried out, its answer is lost, and the tag loses power; it comes back after a second |
/// | `silence@N`, `nak@N`, `flip@N` | exchange N has no answer, a refusal, or an answer with a flipped bit |
/// | `tear@N:old`, `tear@N:new`, `tear@N:mixed` | the tag loses power in write N; its memory holds the old data, the new data, or bits of both |
/// | `cancel@N` | the user presses Cancel before exchange N |
/// | `stop@N` | the task of the flow is cancelled before exchange N |
/// | `second@N` | another tag of the same product enters the field before exchange N, and leaves after a second |
/// | `swap@N` | the tag leaves before exchange N, and after a second such another tag comes in its place |
/// | `background@N` | the app goes to the background before exchange N: its session ends with error 202 |
/// | `busy@N` | the N-th session that begins is refused with error 203 |
///
/// Exchanges, writes, sessions and connections are numbered from 1. `+` joins faults. A comma after a loss makes the
/// tag come back before the next loss: `loss@3,loss@9`. `#` precedes the seed.
public struct FaultScript: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    enum Kind: String, Sendable, CaseIterable {
        case loss, silence, nak, flip, old, new, mixed, slip, done, cancel, stop, busy, second, swap, background, gone

        var isTear: Bool { self == .old || self == .new || self == .mixed }
    }

    struct Step: Sendable, Hashable, CustomStringConvertible {
        var kind: Kind
        /// The number of the exchange, write, session or connection, depending on the kind.
        var position: Int
        /// Whether the tag comes back after this loss, so that it can be lost again.
        var comesBack = false
        /// The milliseconds after which a slipped tag comes back; nil for the default.
        var absence: Int?

        var description: String {
            if kind.isTear { return "tear@\(position):\(kind)" }
            return "\(kind)@\(position)" + (absence.map { ":\($0)ms" } ?? "")
        }
    }

    /// How long a slipped tag may be away, in milliseconds.
    private static let absences = 1...3_600_000

    private(set) var steps: [Step]
    var seed: UInt64
    /// The text that can't be parsed; nil for a valid line.
    private(set) var unreadable: String?

    init(_ steps: [Step], seed: UInt64) {
        self.steps = steps
        self.seed = seed
        // A last loss after which the tag comes back is a slip.
        if let last = steps.indices.last, steps[last].comesBack {
            self.steps[last] = Step(kind: .slip, position: steps[last].position)
        }
    }

    /// Parses a line. The error of an invalid line is reported when the line is used.
    public init(_ line: String) {
        self.init([], seed: 0)
        let parts = line.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count <= 2, let seed = parts.count == 2 ? UInt64(parts[1]) : 0, let first = parts.first else {
            unreadable = line
            return
        }
        var steps: [Step] = []
        for (number, group) in first.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            if number > 0, let last = steps.indices.last, steps[last].kind == .loss { steps[last].comesBack = true }
            for text in group.split(separator: "+", omittingEmptySubsequences: false) {
                guard let step = Self.step(text) else {
                    unreadable = text.isEmpty ? line : String(text)
                    return
                }
                steps.append(step)
            }
        }
        self.init(steps, seed: seed)
    }

    public init(stringLiteral line: String) { self.init(line) }

    private static func step(_ text: Substring) -> Step? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let fields = parts[1].split(separator: ":", omittingEmptySubsequences: false)
        guard let position = fields.first.flatMap({ Int($0) }), position > 0 else { return nil }
        if parts[0] == "tear" {
            guard fields.count == 2, let kind = Kind(rawValue: String(fields[1])), kind.isTear else { return nil }
            return Step(kind: kind, position: position)
        }
        if parts[0] == "slip", fields.count == 2 {
            guard fields[1].hasSuffix("ms"), let absence = Int(fields[1].dropLast(2)), absences.contains(absence) else {
                return nil
            }
            return Step(kind: .slip, position: position, absence: absence)
        }
        guard fields.count == 1, let kind = Kind(rawValue: String(parts[0])), !kind.isTear else { return nil }
        return Step(kind: kind, position: position)
    }

    /// Converts a tag's absence to whole milliseconds, limited to the allowed range.
    static func milliseconds(of absence: Duration) -> Int {
        let (seconds, attoseconds) = absence.components
        let milliseconds = Int(min(max(seconds, 0), 3600)) * 1000 + Int(max(attoseconds, 0) / 1_000_000_000_000_000)
        return min(max(milliseconds, absences.lowerBound), absences.upperBound)
    }

    public var description: String {
        var line = ""
        for (index, step) in steps.enumerated() {
            line += step.description
            if index < steps.count - 1 { line += step.comesBack ? "," : "+" }
        }
        return seed == 0 ? line : "\(line)#\(seed)"
    }

    /// The syntax of a line, for the error about an invalid line.
    static let help = """
        Write loss@N, gone@N, slip@N (or slip@N:300ms), done@N, silence@N, nak@N, flip@N, cancel@N, stop@N, second@N, \
        swap@N, background@N, busy@N or tear@N:old (new, mixed), joined by + (or by a comma after a loss if the tag \
        comes back), and #SEED at the end.
        """
}

extension FaultScript {
    /// Simpler versions of this line, the simplest first: lines with one fault less, then lines in which a plain loss
    /// replaces another fault.
    var simpler: [FaultScript] {
        let fewerFaults =
            steps.count > 1
            ? steps.indices.map { without in
                FaultScript(steps.indices.filter { $0 != without }.map { steps[$0] }, seed: seed)
            } : []
        let plainerFaults = steps.indices.compactMap { index -> FaultScript? in
            let kindsWithSimplerFault: Set<Kind> = [.silence, .nak, .flip, .slip, .done, .swap]
            guard kindsWithSimplerFault.contains(steps[index].kind) || steps[index].comesBack else { return nil }
            var steps = steps
            steps[index] = Step(kind: .loss, position: steps[index].position)
            return FaultScript(steps, seed: seed)
        }
        return fewerFaults + plainerFaults
    }
}

extension TestField {
    /// The default absence of a slipped tag, and the length of a second tag's visit.
    private static let absence = Duration.seconds(1)

    func arm(_ script: FaultScript, companion: NearbyTag?) {
        guard let virtual else { return }
        var faults: [Fault] = []
        for step in script.steps {
            let number = step.position
            func add(_ effects: Fault.Effect...) {
                faults += effects.map { Fault($0, at: .exchange(number - 1)) }
            }
            func tear(_ rest: TornWrite) { faults.append(Fault(.powerCut(rest), at: .write(number))) }
            func note(_ text: String) -> Fault.Effect { .call { [weak self] in self?.noteFault(text) } }
            switch step.kind {
            case .loss where !step.comesBack:
                add(note("the tag leaves before exchange \(number), and does not come back"), .loss)
            case .loss, .slip:
                add(event(step) { $0.slipAway(for: step.absence.map { .milliseconds($0) } ?? Self.absence) })
            case .done: add(note("the tag carries out exchange \(number), and its answer is lost"), .mute)
            case .silence: add(note("the answer of exchange \(number) is lost"), .mute)
            case .nak: add(note("the tag refuses exchange \(number)"), .refusal(0))
            case .flip: add(note("a bit is wrong in the answer of exchange \(number)"), .bitError)
            case .old: tear(.old)
            case .new: tear(.new)
            case .mixed: tear(.mixed(seed: UInt64(number)))
            case .cancel: add(event(step) { $0.pressCancel() })
            case .stop: add(event(step) { $0.cancelTask() })
            case .second: add(event(step) { $0.visit(by: companion) })
            case .swap: add(event(step) { $0.swap(for: companion) })
            case .background: add(event(step) { $0.goToBackground() })
            case .gone: break
            case .busy:
                environment.arbiter.refuse(request: number) { [weak self] in
                    self?.noteFault("the system is busy, and refuses session \(number)")
                    self?.happened(step)
                }
            }
        }
        state.withLock { $0.steps = script.steps }
        virtual.arm(FaultPlan(faults, seed: script.seed))
    }

    private func noteFault(_ text: String) { note(Trace.faultMark + text) }

    /// Called after each exchange. Notes its tears, and removes a tag whose answer was lost.
    func endFaults() {
        guard let counts = virtual?.countsSinceArmed else { return }
        let ended = state.withLock { state in
            let ended = state.steps.filter { step in
                step.kind.isTear && step.position <= counts.writes
                    || step.kind == .done && step.position <= counts.exchanges
            }
            state.steps.removeAll { ended.contains($0) }
            return ended
        }
        for step in ended {
            if step.kind == .done {
                _ = slipAway(for: Self.absence)
            } else {
                let rest = step.kind == .mixed ? "bits of the old and the new data" : "the \(step.kind) data"
                noteFault("the tag loses power in write \(step.position), which leaves \(rest)")
            }
        }
    }

    func happened(of script: FaultScript) -> [FaultScript.Step] {
        let events = state.withLock { $0.happened }
        let counts = virtual?.countsSinceArmed ?? (0, 0)
        return script.steps.filter { step in
            switch step.kind {
            case .old, .new, .mixed: step.position <= counts.writes
            case .silence, .nak, .flip, .done: step.position <= counts.exchanges
            case .loss where !step.comesBack: step.position <= counts.exchanges
            case .loss, .slip, .gone, .cancel, .stop, .second, .swap, .background, .busy: events.contains(step)
            }
        }
    }

    /// Called before the app connects to a tag. Removes the tag if the script contains this fault.
    func willConnect() {
        let step = state.withLock { state in
            state.connections += 1
            return state.steps.first { $0.kind == .gone && $0.position == state.connections }
        }
        if let step, goAway() { happened(step) }
    }

    /// - Parameter action: performs the step, and returns whether it succeeded.
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
        noteFault("the tag slips away, and is back after \(absence)")
        virtual.removeAll()
        _ = environment.clock.schedule(after: absence) { [weak self] in
            guard let self else { return }
            noteFault("the tag is back")
            state.withLock { state in
                let isUnchanged = state.tags.allSatisfy { $0.before != nil && TagContents(of: $0.virtual) == $0.before }
                state.connectionsAtReturn = isUnchanged ? state.connections : nil
            }
            for tag in tags where !isGoneCompanion(tag) { virtual.bring(tag) }
        }
        return true
    }

    private func isGoneCompanion(_ tag: any VirtualTag) -> Bool {
        state.withLock { state in
            state.companionIsGone && state.tags.contains { $0.isCompanion && $0.virtual === tag }
        }
    }

    private func visit(by companion: NearbyTag?) -> Bool {
        guard let virtual, let companion else { return false }
        noteFault("a second tag enters the field: \(companion)")
        virtual.bring(companion.virtual)
        state.withLock { $0.companionIsGone = false }
        _ = environment.clock.schedule(after: Self.absence) { [weak self] in
            self?.noteFault("the second tag is taken away")
            self?.state.withLock { $0.companionIsGone = true }
            virtual.remove(companion.virtual)
        }
        return true
    }

    private func swap(for companion: NearbyTag?) -> Bool {
        guard let virtual, let companion, let first = state.withLock({ $0.tags.first }) else { return false }
        let others = virtual.tags.filter { $0 !== first.virtual }
        guard others.count < virtual.tags.count else { return false }
        noteFault("the tag leaves")
        virtual.removeAll()
        _ = environment.clock.schedule(after: Self.absence) { [weak self] in
            guard let self else { return }
            noteFault("another tag comes in its place: \(companion)")
            for tag in others + [companion.virtual] { virtual.bring(tag) }
        }
        return true
    }

    private func goAway() -> Bool {
        guard let virtual, !virtual.tags.isEmpty else { return false }
        noteFault("the tag leaves before the app connects to it")
        virtual.removeAll()
        return true
    }

    private func pressCancel() -> Bool {
        noteFault("the user presses Cancel")
        return sheet.cancel()
    }

    private func cancelTask() -> Bool {
        guard let task = state.withLock({ $0.task }) else { return false }
        noteFault("the task of the flow is cancelled")
        task.cancel()
        return true
    }

    private func goToBackground() -> Bool {
        noteFault("the app goes to the background")
        return environment.arbiter.endSession(with: .appInBackground)
    }
}
