// SPDX-License-Identifier: Apache-2.0

/// The faults of one run, as a short line that replays the run: `loss@7`, `tear@2:old`, `nak@3+flip@9#42`.
///
/// | word | fault |
/// |---|---|
/// | `loss@N` | the tag leaves before exchange N, and does not come back |
/// | `gone@N` | the tag leaves before the app connects to a tag for the N-th time, and does not come back |
/// | `slip@N` | the tag leaves before exchange N, and comes back after a second |
/// | `slip@N:300ms` | the same, but the tag comes back after 300 milliseconds |
/// | `silence@N`, `nak@N`, `flip@N` | exchange N has no answer, a refusal, or an answer with a flipped bit |
/// | `tear@N:old`, `tear@N:new`, `tear@N:mixed` | the tag loses power in write N; its memory holds the old data, the new data, or bits of both |
/// | `cancel@N` | the user presses Cancel before exchange N |
/// | `second@N` | another tag of the same product comes near before exchange N, for a second |
/// | `background@N` | the app goes to the background before exchange N: its session ends with error 202 |
/// | `busy@N` | the N-th session that begins is refused with error 203 |
///
/// Exchanges count from 1, as in a trace, and so do writes, sessions and connections. `+` joins faults. A comma after a
/// loss makes the tag come back before the next loss: `loss@3,loss@9`. `#` precedes the seed.
public struct FaultScript: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The kind of a fault.
    enum Kind: String, Sendable, CaseIterable {
        case loss, silence, nak, flip, old, new, mixed, slip, cancel, busy, second, background, gone

        var isTear: Bool { self == .old || self == .new || self == .mixed }
    }

    /// A fault: its kind, and its exchange, write, session or connection.
    struct Step: Sendable, Hashable, CustomStringConvertible {
        var kind: Kind
        var place: Int
        /// Whether the tag comes back after a loss, because another loss follows.
        var comesBack = false
        /// The number of milliseconds after which a slipped tag comes back; nil for the default.
        var absence: Int?

        var description: String {
            if kind.isTear { return "tear@\(place):\(kind)" }
            return "\(kind)@\(place)" + (absence.map { ":\($0)ms" } ?? "")
        }
    }

    /// How long a slipped tag may be away, in milliseconds.
    private static let absences = 1...3_600_000

    private(set) var steps: [Step]
    var seed: UInt64
    /// The text that can't be parsed, if the line is not a replay line.
    private(set) var unreadable: String?

    init(_ steps: [Step], seed: UInt64) {
        self.steps = steps
        self.seed = seed
        // A loss after which the tag comes back is a slip if no other loss follows.
        if let last = steps.indices.last, steps[last].comesBack {
            self.steps[last] = Step(kind: .slip, place: steps[last].place)
        }
    }

    /// Parses a line. If it can't be parsed, the error is reported when the line is used.
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
        let places = parts[1].split(separator: ":", omittingEmptySubsequences: false)
        guard let place = places.first.flatMap({ Int($0) }), place > 0 else { return nil }
        if parts[0] == "tear" {
            guard places.count == 2, let kind = Kind(rawValue: String(places[1])), kind.isTear else { return nil }
            return Step(kind: kind, place: place)
        }
        if parts[0] == "slip", places.count == 2 {
            guard places[1].hasSuffix("ms"), let absence = Int(places[1].dropLast(2)), absences.contains(absence) else {
                return nil
            }
            return Step(kind: .slip, place: place, absence: absence)
        }
        guard places.count == 1, let kind = Kind(rawValue: String(parts[0])), !kind.isTear else { return nil }
        return Step(kind: kind, place: place)
    }

    /// A time in whole milliseconds, limited to the allowed absence of a tag.
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

    /// How to write a line, for the error of a line that can't be parsed.
    static let help = """
        Write loss@N, gone@N, slip@N (or slip@N:300ms), silence@N, nak@N, flip@N, cancel@N, second@N, background@N, busy@N or \
        tear@N:old (new, mixed), joined by + (or by a comma behind a loss whose tag comes back), and #SEED behind them.
        """
}

extension FaultScript {
    /// Lines that are simpler than this one, the simplest first: lines with fewer faults, then lines with a plain loss
    /// in place of another fault of a tag or an answer.
    var simpler: [FaultScript] {
        let fewer =
            steps.count > 1
            ? steps.indices.map { without in
                FaultScript(steps.indices.filter { $0 != without }.map { steps[$0] }, seed: seed)
            } : []
        let plainer = steps.indices.compactMap { index -> FaultScript? in
            guard [.silence, .nak, .flip, .slip].contains(steps[index].kind) || steps[index].comesBack else {
                return nil
            }
            var steps = steps
            steps[index] = Step(kind: .loss, place: steps[index].place)
            return FaultScript(steps, seed: seed)
        }
        return fewer + plainer
    }
}
