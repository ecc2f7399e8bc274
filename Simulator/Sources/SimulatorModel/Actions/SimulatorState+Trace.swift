// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import TagLink

/// The actions on the trace.
extension SimulatorState {
    mutating func performOnTrace(_ name: String, _ action: JSON) throws(SimulatorFailure) -> JSON? {
        switch name {
        case "trace_rows":
            let (from, count) = (action["from"]?.int ?? 0, action["count"]?.int ?? 200)
            guard from >= 0, count >= 0 else { throw .invalid("\"from\" and \"count\" must be numbers, 0 or more.") }
            let start = min(from, trace.total)
            let rows = trace[start..<start + min(count, Limits.rows)]
            return [
                "from": .int(start), "total": .int(trace.total),
                "rows": .array(rows.map(\.json)),
            ]
        case "clear_trace":
            trace.clear()
            journal.clear()
            sessions.removeAll { $0.ended != nil }
            touch(.sessions)
            touch(.summary)
            return [:]
        case "trace_find":
            guard let text = action["text"]?.string, text.utf8.count <= 200 else {
                throw .invalid("\"text\" must be the text to find, at most 200 bytes.")
            }
            let found = trace.find(text, limit: 10_000)
            return ["rows": .array(found.map { JSON.int($0) })]
        case "export_trace": return try export(action["format"]?.string ?? "pcapng")
        case "copy_as_test": return TestSource(self, session: action["session"]?.int).json
        case "why":
            if let id = action["notification"]?.string, id != "last" {
                guard let found = background.notification(id) else {
                    throw SimulatorFailure("no-such-notification", "No notification has this id.")
                }
                return explained(found.why)
            }
            guard let why = background.lastWhy else {
                throw SimulatorFailure("no-decision", "No tag has been read in the background yet.")
            }
            return explained(why)
        default: return nil
        }
    }

    /// The explanation with the app's id on the phone, which may differ from the id in the app's description.
    private func explained(_ why: JSON) -> JSON {
        guard var members = why.object, let id = why["app"]?.string else { return why }
        let app = apps.apps.first { $0.description?.id == id || $0.id == id }
        members["app"] = JSON(app?.id ?? id)
        return .object(members)
    }

    /// The totals of all exchanges.
    var summary: JSON {
        [
            "exchanges": .int(trace.exchanges), "bytes": .int(trace.bytes),
            "airtime_us": .int(Int(trace.airtime.microseconds)), "clock_us": .int(microseconds),
            "rows": .int(trace.total), "can_undo": .bool(drawer.canUndo), "used": .bool(wasUsed),
        ]
    }
}
