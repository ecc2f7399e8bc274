// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace

/// The trace in a saved file: its last rows, one JSON object a line, and the sessions of apps.
extension SimulatorState {
    var savedTrace: JSON {
        .string(trace[max(0, trace.total - Limits.savedRows)..<trace.total].map { $0.saved.text + "\n" }.joined())
    }

    /// Parses the rows of a saved file. An older file has none.
    static func rows(of file: JSON) throws(SimulatorFailure) -> [TraceRow] {
        guard let text = try file.optional("trace", \.string, "the rows of a trace") else { return [] }
        var rows: [TraceRow] = []
        for line in Array(text.utf8).split(separator: 0x0A).suffix(Limits.savedRows) {
            guard let json = try? JSON(parsing: line), let row = TraceRow(saved: json) else {
                throw SimulatorFailure("bad-file", "Row \(rows.count + 1) of the trace in the file can't be read.")
            }
            rows.append(row)
        }
        return rows
    }

    /// Replaces the trace by that of a file. Its clock continues after the last row.
    ///
    /// - Parameter ids: the tags' ids in the file, with those in the drawer.
    mutating func restoreTrace(_ rows: [TraceRow], sessions saved: JSON?, ids: [String: String]) {
        let end = rows.last?.time ?? 0
        let shift = max(0, end - microseconds)
        traceOffset += shift
        trace.restore(
            rows.map { row in
                var row = row
                row.tag = row.tag.map { ids[$0] ?? $0 }
                return row
            }
        )
        journal.clear()
        sessions.removeAll { $0.ended != nil }
        for index in sessions.indices { sessions[index].started += shift }
        let ended = (saved?.array ?? []).suffix(Limits.sessions).compactMap { session -> Session? in
            guard let app = session["app"]?.string, let kind = session["kind"]?.string,
                let started = session["started_us"]?.int
            else { return nil }
            // The program of a session that had not ended is not connected to this simulator.
            return Session(
                id: nextSession(),
                app: app,
                client: 0,
                number: 0,
                kind: kind,
                started: started,
                ended: session["ended_us"]?.int ?? end,
                end: session["end"]?.string ?? "disconnected"
            )
        }
        sessions.insert(contentsOf: ended, at: 0)
    }
}

extension TraceRow {
    /// The row in a saved file: ``json`` with whole frames. Passwords and keys are concealed.
    fileprivate var saved: JSON {
        var members = (json.object ?? [:]).filter { !$0.value.isNull }
        for key in ["n", "request", "request_bits", "response", "response_bits"] { members[key] = nil }
        if let isFieldOn { members["on"] = .bool(isFieldOn) }
        guard let exchange else { return .object(members) }
        var request = exchange.request
        request.bytes = exchange.shownRequest
        members["request"] = .object(request.json)
        members["timeout_us"] = .int(Int(exchange.timeout.microseconds))
        switch exchange.result {
        case .success(var response):
            response.bytes = exchange.shownResponse ?? []
            members["response"] = .object(response.json)
        case .failure(let error):
            members["reason"] = .string(error.reason)
            members.merge(SimulatorFailure(error).collision ?? [:]) { $1 }
        }
        return .object(members)
    }

    /// Creates a row from ``saved``; nil if it is invalid.
    fileprivate init?(saved: JSON) {
        guard let time = saved["t_us"]?.int, (0...1 << 53).contains(time), let words = saved["words"]?.string,
            let kind = saved["kind"]?.string.flatMap(Kind.init(rawValue:))
        else { return nil }
        self.init(
            time: time,
            airtime: saved["airtime_us"]?.int ?? 0,
            kind: kind,
            source: saved["app"]?.string,
            detail: saved["detail"]?.string,
            isNear: saved["near"]?.bool,
            isFieldOn: saved["on"]?.bool,
            tag: saved["tag"]?.string,
            words: words,
            isWrite: saved["write"]?.bool ?? false
        )
        guard kind == .exchange else { return }
        guard let technology = saved["technology"]?.string.flatMap(Technology.init(name:)),
            let request = saved["request"].flatMap({ try? Frame($0) }), let result = Self.result(saved)
        else { return nil }
        exchange = Exchange(
            medium: .frames(technology),
            request: request,
            result: result,
            timeout: .microseconds(Int64(saved["timeout_us"]?.int ?? 0)),
            shownRequest: request.bytes,
            shownResponse: try? result.get().bytes,
            concealed: (saved["concealed"]?.array ?? []).compactMap { range in
                guard let bounds = range.array?.compactMap(\.int), bounds.count == 2, 0 <= bounds[0],
                    bounds[0] <= bounds[1], bounds[1] <= request.bytes.count
                else { return nil }
                return bounds[0]..<bounds[1]
            }
        )
    }

    private static func result(_ saved: JSON) -> Result<Frame, LinkError>? {
        if let response = saved["response"] { return (try? Frame(response)).map { .success($0) } }
        let codes: [LinkError.Code] = [
            .timeout, .tagRemoved, .transmission, .collision, .frameTooLong, .readerUnavailable, .cancelled,
            .unsupported, .protocolViolation, .inUse,
        ]
        guard let code = codes.first(where: { .string("\($0)".kebab) == saved["error"] }) else { return nil }
        var collision: LinkError.Collision?
        if let bit = saved["collision_bit"]?.int, let bits = [UInt8](hex: saved["collision_bits"]?.string ?? ""),
            bit >= 0, bits.count == (bit + 7) / 8
        {
            collision = LinkError.Collision(bitIndex: bit, bits: bits)
        }
        return .failure(LinkError(code, saved["reason"]?.string ?? "", collision: collision))
    }
}
