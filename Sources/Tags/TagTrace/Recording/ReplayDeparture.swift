// SPDX-License-Identifier: Apache-2.0

/// The place where the code under test departed from its recording.
public struct ReplayDeparture: Sendable, Hashable, CustomStringConvertible {
    /// The number of the expected exchange, or of the last one if another call was expected.
    public var exchange: Int
    /// The time in the recording; nil at its end.
    public var time: Duration?
    /// The expected call, in words; nil at the end of the recording.
    public var expected: String?
    /// The actual call, in words.
    public var actual: String
    /// Whether the recording was cut off at its end.
    public var isCutOff = false

    /// Sentences that explain what happened and what to do.
    public var reason: String {
        let place = exchange == 0 ? "before its first exchange" : "at exchange \(exchange)"
        guard let expected else {
            let verb = isCutOff ? "breaks off" : "ends"
            let end = exchange == 0 ? "\(verb) before its first exchange" : "\(verb) after exchange \(exchange)"
            return "The recording \(end), and what came then was: \(actual). Record the flow again."
        }
        let moment = time.map { " (\($0.wholeMicroseconds / 1000) ms)" } ?? ""
        return """
            The recording was left \(place)\(moment). Expected: \(expected). Came: \(actual). Find out what has changed, or \
            record the flow again.
            """
    }

    public var description: String { reason }
}
