// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace

/// The last rows of the trace, as text. Older rows are dropped in blocks, so that adding a row takes the same time at
/// any length.
struct TraceStore: Sendable {
    private(set) var rows: [TraceRow] = []
    private let limit: Int
    private var writer = TraceLineWriter()
    /// The number of the last row, counted from 1.
    private var number = 0
    /// The number of stored rows.
    var total: Int { rows.count }
    /// How often rows were removed. Each removal changes the indexes of the other rows.
    private(set) var era = 0

    private(set) var exchanges = 0
    private(set) var bytes = 0
    private(set) var airtime = Airtime.zero

    init(limit: Int = Limits.trace) { self.limit = limit }

    mutating func add(_ row: TraceRow) {
        var row = row
        number += 1
        row.number = number
        if rows.count >= limit {
            rows.removeFirst(limit / 8 + 1)
            era += 1
        }
        rows.append(row)
    }

    /// Adds an exchange with its description.
    mutating func add(
        _ exchange: Trace.Exchange,
        timeout: Airtime,
        elapsed: Airtime,
        time: Int,
        source: String,
        tag: String?,
        isWrite: Bool
    ) {
        let lines = writer.lines(of: Trace.Entry(.exchange(exchange)))
        let request = lines.first
        let answer = lines.count > 1 ? lines.last : nil
        let result = exchange.answer ?? .failure(LinkError(.timeout, ""))
        let words = [request?.meaning, answer?.meaning].compactMap { $0 }.joined(separator: " → ")
        let shown = TraceRow.Exchange(
            medium: exchange.medium,
            request: exchange.request,
            result: result,
            timeout: timeout,
            shownRequest: request?.frame?.bytes ?? [],
            shownResponse: answer?.frame?.bytes,
            concealed: request?.concealed ?? []
        )
        exchanges += 1
        bytes += shown.byteCount
        airtime += elapsed
        add(
            TraceRow(
                time: time,
                airtime: Int(elapsed.microseconds),
                kind: .exchange,
                source: source,
                tag: tag,
                words: words,
                exchange: shown,
                isWrite: isWrite
            )
        )
    }

    /// Adds a row for the field being turned on or off. This also makes the writer forget which tag was selected.
    ///
    /// - Parameter isCall: whether a program asked for it.
    mutating func fieldChanged(isOn: Bool, isCall: Bool, time: Int, source: String) {
        _ = writer.lines(of: Trace.Entry(.field(isOn: isOn)))
        var row = TraceRow(time: time, kind: .carrier, source: source, words: isOn ? "field on" : "field off")
        if isCall { row.isFieldOn = isOn }
        add(row)
    }

    /// Replaces all rows by those of a saved file.
    mutating func restore(_ saved: [TraceRow]) {
        clear()
        for row in saved {
            add(row)
            guard let exchange = row.exchange else { continue }
            exchanges += 1
            bytes += exchange.byteCount
            airtime += .microseconds(Int64(row.airtime))
        }
    }

    mutating func clear() {
        rows = []
        number = 0
        era += 1
        exchanges = 0
        bytes = 0
        airtime = .zero
    }

    /// The rows of a range, limited to the stored rows.
    subscript(range: Range<Int>) -> ArraySlice<TraceRow> { rows[range.clamped(to: rows.indices)] }

    /// The indexes of the rows that contain a text.
    func find(_ text: String, limit: Int) -> [Int] {
        let wanted = text.lowercased()
        guard !wanted.isEmpty else { return [] }
        var found: [Int] = []
        for (place, row) in rows.enumerated() where row.contains(wanted) {
            found.append(place)
            if found.count == limit { break }
        }
        return found
    }
}
