// SPDX-License-Identifier: Apache-2.0

extension Trace: CustomStringConvertible {
    /// The trace as a table, see ``table(showsTimes:)``.
    public var description: String { table() }

    /// The trace as a table of columns: number, time in milliseconds, medium and direction, octets, meaning.
    ///
    /// Octets go on in the next line after 16. A last octet that was not sent whole has its bits behind a slash.
    ///
    /// - Parameter showsTimes: whether times are shown. Without them, traces of two runs on one reader are alike.
    /// - Returns: the lines, without a line feed at the end.
    public func table(showsTimes: Bool = true) -> String {
        let lines = lines
        let width = TraceLine.widthOfOctets(lines)
        return lines.map { $0.text(showsTime: showsTimes, widthOfOctets: width) }.joined(separator: "\n")
    }
}

extension TraceLine {
    /// The width that the octets of all lines need, without what goes on in the next one.
    static func widthOfOctets(_ lines: [TraceLine]) -> Int {
        lines.map { $0.rows.first?.utf8.count ?? 0 }.max() ?? 0
    }

    /// The line as a row of a table, with further rows for octets beyond the 16th.
    ///
    /// - Parameters:
    ///   - showsTime: whether the time is shown.
    ///   - widthOfOctets: how wide the column of octets is; 47 has room for all.
    /// - Returns: the text, without a line feed at the end.
    public func text(showsTime: Bool = true, widthOfOctets: Int = 47) -> String {
        var text = Self.right(number.flatMap { direction == .answer ? nil : String($0) } ?? "", 4)
        if showsTime { text += " " + Self.right(time.map(Self.milliseconds) ?? "", 10) }
        text += " " + (medium?.letter ?? " ") + " " + direction.rawValue + " "
        let margin = String(repeating: " ", count: text.utf8.count)
        let rows = rows
        let first = rows.first ?? ""
        text += first + String(repeating: " ", count: max(0, widthOfOctets - first.utf8.count)) + "  " + meaning
        for row in rows.dropFirst() { text += "\n" + margin + row }
        return text
    }

    /// The octets, 16 a row.
    private var rows: [String] {
        guard let frame else { return [] }
        guard !frame.bytes.isEmpty else { return ["-"] }
        let bits = frame.validBitsInLastByte == 8 ? "" : "/\(frame.validBitsInLastByte)"
        var rows: [String] = []
        var rest = frame.bytes[...]
        while !rest.isEmpty {
            rows.append(rest.prefix(16).hexText(separator: " "))
            rest = rest.dropFirst(16)
        }
        rows[rows.count - 1] += bits
        return rows
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }

    /// A time in milliseconds with three places.
    private static func milliseconds(_ time: Duration) -> String {
        let microseconds = time.wholeMicroseconds
        let rest = String(microseconds.magnitude % 1000)
        let sign = microseconds < 0 ? "-" : ""
        return "\(sign)\(microseconds.magnitude / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }
}

extension Duration {
    /// The microseconds, rounded to the nearest.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (high, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        return high &+ (attoseconds + (attoseconds < 0 ? -500_000_000_000 : 500_000_000_000)) / 1_000_000_000_000
    }
}

extension Trace.Medium {
    /// The letter of a technology, or C for the commands of a card.
    fileprivate var letter: String {
        switch self {
        case .frames(.nfcA): "A"
        case .frames(.nfcB): "B"
        case .frames(.nfcF): "F"
        case .frames(.nfcV): "V"
        case .commands: "C"
        }
    }
}
