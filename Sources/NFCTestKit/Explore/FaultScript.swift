// SPDX-License-Identifier: Apache-2.0
import TagLink
public import VirtualTags

/// The faults of one run as a short line that replays it: `loss@7`, `tear@2:old`, `nak@3+flip@9#42`.
///
/// Exchanges count from 1, as in a trace, and writes too. Behind `#` is the seed.
public struct FaultScript: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// What goes wrong.
    enum Kind: String, Sendable, CaseIterable {
        case loss, silence, nak, flip, old, new, mixed
    }

    /// What goes wrong, and at which exchange or write.
    struct Step: Sendable, Hashable {
        var kind: Kind
        var place: Int
    }

    var steps: [Step]
    var seed: UInt64
    /// What could not be read, where the line is none of ours.
    private(set) var unreadable: String?

    init(_ steps: [Step], seed: UInt64) {
        self.steps = steps
        self.seed = seed
    }

    /// Reads a line. One that can't be read is told when it is used.
    public init(_ line: String) {
        let parts = line.split(separator: "#", omittingEmptySubsequences: false)
        seed = parts.count == 2 ? UInt64(parts[1]) ?? 0 : 0
        steps = []
        guard parts.count <= 2, parts.count == 1 || UInt64(parts[1]) != nil, let first = parts.first else {
            unreadable = line
            return
        }
        for text in first.split(separator: "+") {
            guard let step = Self.step(text) else {
                unreadable = String(text)
                return
            }
            steps.append(step)
        }
        if steps.isEmpty { unreadable = line }
    }

    public init(stringLiteral line: String) { self.init(line) }

    private static func step(_ text: Substring) -> Step? {
        let parts = text.split(separator: "@")
        guard parts.count == 2 else { return nil }
        let places = parts[1].split(separator: ":")
        guard let place = places.first.flatMap({ Int($0) }), place > 0 else { return nil }
        if parts[0] == "tear" {
            guard places.count == 2, let kind = Kind(rawValue: String(places[1])), kind.isTear else { return nil }
            return Step(kind: kind, place: place)
        }
        guard places.count == 1, let kind = Kind(rawValue: String(parts[0])), !kind.isTear else { return nil }
        return Step(kind: kind, place: place)
    }

    public var description: String {
        steps.map { $0.kind.isTear ? "tear@\($0.place):\($0.kind)" : "\($0.kind)@\($0.place)" }.joined(separator: "+")
            + (seed == 0 ? "" : "#\(seed)")
    }

    /// The plan for a field.
    public var faults: FaultPlan {
        FaultPlan(steps.map(\.fault), seed: seed)
    }
}

extension FaultScript.Kind {
    var isTear: Bool { self == .old || self == .new || self == .mixed }
}

extension FaultScript.Step {
    fileprivate var fault: Fault {
        switch kind {
        case .loss: Fault(.loss, at: .exchange(place - 1))
        case .silence: Fault(.mute, at: .exchange(place - 1))
        case .nak: Fault(.refusal(0), at: .exchange(place - 1))
        case .flip: Fault(.bitError, at: .exchange(place - 1))
        case .old: Fault(.powerCut(.old), at: .write(place))
        case .new: Fault(.powerCut(.new), at: .write(place))
        case .mixed: Fault(.powerCut(.mixed(seed: UInt64(place))), at: .write(place))
        }
    }

    /// How bad it is to look at: a run with a simpler fault is the better example.
    fileprivate var simplicity: Int { FaultScript.Kind.allCases.firstIndex(of: kind) ?? 0 }
}

extension FaultScript {
    /// Lines that are simpler than this one, the simplest first: fewer faults, then a plain loss in place of another
    /// fault.
    var simpler: [FaultScript] {
        let fewer =
            steps.count > 1
            ? steps.indices.map { without in
                FaultScript(steps.indices.filter { $0 != without }.map { steps[$0] }, seed: seed)
            } : []
        let plainer = steps.indices.compactMap { index -> FaultScript? in
            guard steps[index].simplicity > 0, !steps[index].kind.isTear else { return nil }
            var replay = self
            replay.steps[index].kind = .loss
            return replay
        }
        return fewer + plainer
    }
}
