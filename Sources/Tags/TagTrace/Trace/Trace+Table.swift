// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Trace: CustomStringConvertible {
    /// The trace as a table; see ``table(showsTimes:)``.
    public var description: String { table() }

    /// Returns the trace as a table with these columns: number, time in milliseconds, medium and direction, bytes,
    /// meaning.
    ///
    /// After 16 bytes a new row starts. Bytes of passwords, PINs and keys are shown as stars (``SecretFinder``). For an
    /// incomplete last byte, the number of its bits follows a slash.
    ///
    /// - Parameter showsTimes: whether times are shown. Without them, traces of two runs on the same reader are equal.
    /// - Returns: the rows, without a line feed at the end.
    public func table(showsTimes: Bool = true) -> String {
        rows(showsTimes: showsTimes).joined(separator: "\n")
    }

    /// Returns the rows of ``table(showsTimes:)``, each created when it is needed.
    ///
    /// - Parameter showsTimes: whether times are shown.
    package func rows(showsTimes: Bool = true) -> some Sequence<String> {
        let lines = lines
        let width = TraceLine.widthOfBytes(lines)
        return lines.lazy.flatMap { $0.rows(showsTime: showsTimes, widthOfBytes: width) }
    }
}

extension TraceLine {
    /// Returns the width of the column of bytes for all lines, without further rows.
    static func widthOfBytes(_ lines: [TraceLine]) -> Int {
        lines.map { $0.firstRowWidth }.max() ?? 0
    }

    /// Returns the line as a row of a table, with further rows for bytes beyond the 16th.
    ///
    /// - Parameters:
    ///   - showsTime: whether the time is shown.
    ///   - widthOfBytes: the width of the column of bytes; 47 is enough for all.
    /// - Returns: the text, without a line feed at the end.
    public func text(showsTime: Bool = true, widthOfBytes: Int = 47) -> String {
        rows(showsTime: showsTime, widthOfBytes: widthOfBytes).joined(separator: "\n")
    }

    /// Returns the line as rows of a table.
    func rows(showsTime: Bool, widthOfBytes: Int) -> [String] {
        var text = Self.right(number.flatMap { direction == .answer ? nil : String($0) } ?? "", 4)
        if showsTime { text += " " + Self.right(time.map(Self.milliseconds) ?? "", 10) }
        text += " " + (medium?.letter ?? " ") + " " + direction.rawValue + " "
        let margin = String(repeating: " ", count: text.utf8.count)
        let bytes = byteRows
        let first = bytes.first ?? ""
        text += first + String(repeating: " ", count: max(0, widthOfBytes - first.utf8.count)) + "  " + meaning
        return [text] + bytes.dropFirst().map { margin + $0 }
    }

    /// The width of the first row of bytes.
    private var firstRowWidth: Int {
        guard let frame else { return 0 }
        let count = frame.bytes.count
        let bits = frame.validBitsInLastByte == 8 || count > 16 ? 0 : 2
        return count == 0 ? 1 : min(count, 16) * 3 - 1 + bits
    }

    /// The bytes, 16 in a row.
    private var byteRows: [String] {
        guard let frame else { return [] }
        guard !frame.bytes.isEmpty else { return ["-"] }
        let bits = frame.validBitsInLastByte == 8 ? "" : "/\(frame.validBitsInLastByte)"
        var rows: [String] = []
        for start in stride(from: 0, to: frame.bytes.count, by: 16) {
            let bytes = (start..<min(start + 16, frame.bytes.count)).map { index in
                concealed.contains { $0.contains(index) } ? "**" : CollectionOfOne(frame.bytes[index]).hexText()
            }
            rows.append(bytes.joined(separator: " "))
        }
        rows[rows.count - 1] += bits
        return rows
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }

    /// Returns a time in milliseconds with three decimal places.
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
    /// The letter of a technology, or C for a card's commands.
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
