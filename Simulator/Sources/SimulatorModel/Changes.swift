// SPDX-License-Identifier: Apache-2.0

/// What has changed since the last time.
public struct Changes: Sendable {
    /// The parts of the state for windows, by name; `tags.ID` for one tag, null for one that is gone.
    public var parts: [String: JSON] = [:]
    /// Files of the drawer's folder to write or remove.
    public var files: [FileChange] = []

    /// A file of the drawer's folder.
    public enum FileChange: Sendable, Hashable {
        /// Write a tag's file.
        case store(id: String, fileExtension: String, [UInt8])
        /// Remove a tag's file.
        case remove(id: String)
        /// Write the list of ids and names.
        case list([[String: String]])
        /// Write phone, switches and notifications.
        case settings(JSON)
    }

    /// Whether nothing has changed.
    public var isEmpty: Bool { parts.isEmpty && files.isEmpty }
}

extension SimulatorState {
    /// Whether there is something for windows or files.
    var hasNews: Bool { !dirty.isEmpty || isUnsaved || drawer.hasNews || traceMark != trace.total }

    mutating func takeChanges() -> Changes {
        drawer.refresh()
        var changes = Changes()
        let touched = drawer.takeTouched()
        if dirty.contains(.tags) {
            changes.parts["tags"] = tagList
        } else {
            for id in touched { changes.parts["tags.\(id)"] = drawer[id].map { tagJSON($0) } ?? .null }
        }
        for part in dirty where part != .tags { changes.parts[part.rawValue] = json(of: part) }
        dirty = []
        traceMark = trace.total
        for change in drawer.takeChanges() {
            switch change {
            case .store(let id): if let file = storedFile(id) { changes.files.append(file) }
            case .remove(let id): changes.files.append(.remove(id: id))
            case .list: changes.files.append(storedList)
            }
        }
        if isUnsaved {
            isUnsaved = false
            changes.files.append(.settings(settings))
        }
        return changes
    }

    /// All files of the drawer's folder.
    var allFiles: [Changes.FileChange] {
        drawer.cards.compactMap { storedFile($0.id) } + [storedList, .settings(settings)]
    }

    private func storedFile(_ id: String) -> Changes.FileChange? {
        drawer[id]?.file.map { .store(id: id, fileExtension: $0.format.fileExtension, $0.bytes) }
    }

    private var storedList: Changes.FileChange {
        .list(drawer.cards.map { ["id": $0.id, "name": $0.name] })
    }
}

/// The place in the trace up to which someone has its rows.
public struct TracePosition: Sendable, Hashable {
    /// The place of the next row.
    public var next: Int
    /// Counts how often rows were removed.
    public var era: Int

    /// Creates a place.
    public init(next: Int = 0, era: Int = 0) {
        self.next = next
        self.era = era
    }
}

extension Simulator {
    /// What has changed since the last call. Call it from one place alone.
    public func takeChanges() -> Changes { take { $0.takeChanges() } }

    /// All files of the drawer's folder, for one that is empty.
    public var allFiles: [Changes.FileChange] { read { $0.allFiles } }

    /// Why the drawer's folder can't be written; nil when everything is saved.
    public var storageProblem: String? { read { $0.storageProblem } }

    /// The drawer's folder can't be written, or can be written again. The pages show it.
    ///
    /// - Parameter problem: a sentence; nil when everything is saved.
    public func setStorageProblem(_ problem: String?) {
        update { state in
            state.storageProblem = problem
            state.touch(.storage)
        }
    }

    /// The whole state, and where its trace ends.
    public func snapshot() -> (state: JSON, trace: TracePosition) {
        take { state in
            state.drawer.refresh()
            return (state.json, TracePosition(next: state.trace.total, era: state.trace.era))
        }
    }

    /// Where the trace ends now.
    public func snapshotPosition() -> TracePosition {
        read { TracePosition(next: $0.trace.total, era: $0.trace.era) }
    }

    /// Rows of the trace from a place on.
    ///
    /// - Parameters:
    ///   - place: where to begin. It moves on.
    ///   - limit: the most rows.
    /// - Returns: a message for windows; nil when there is nothing new.
    public func traceMessage(from place: inout TracePosition, limit: Int = Limits.rows) -> JSON? {
        let start = place
        let (message, next) = read { state -> (JSON?, TracePosition) in
            let trace = state.trace
            let isReset = trace.era != start.era
            // After a reset a page loads the rows itself, from the first one.
            let from = isReset ? 0 : start.next
            guard isReset || from < trace.total else { return (nil, start) }
            let rows = trace[from..<min(trace.total, from + limit)]
            var message: [String: JSON] = [
                "type": "trace", "from": .int(from), "rows": .array(rows.map(\.json)), "total": .int(trace.total),
            ]
            if isReset { message["reset"] = true }
            return (.object(message), TracePosition(next: from + rows.count, era: trace.era))
        }
        place = next
        return message
    }
}
