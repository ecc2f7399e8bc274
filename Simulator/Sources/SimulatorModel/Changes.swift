// SPDX-License-Identifier: Apache-2.0

/// The changes since the last call of ``Simulator/takeChanges()``.
public struct Changes: Sendable {
    /// The changed parts of the state, by name, for windows. `tags.ID` is one tag, null if it was deleted.
    public var parts: [String: JSON] = [:]
    /// Files to write to the drawer's folder, or to remove from it.
    public var files: [FileChange] = []

    /// A change of one file in the drawer's folder.
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

    /// Whether there are no changes.
    public var isEmpty: Bool { parts.isEmpty && files.isEmpty }
}

extension SimulatorState {
    /// Whether windows or files need an update.
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
        appendedTag = nil
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

/// A position in the trace. All rows before it were delivered.
public struct TracePosition: Sendable, Hashable {
    /// The index of the next row.
    public var next: Int
    /// How often rows were removed. Indexes of different eras can't be compared.
    public var era: Int

    /// Creates a position.
    public init(next: Int = 0, era: Int = 0) {
        self.next = next
        self.era = era
    }
}

extension Simulator {
    /// Returns the changes since the last call. Call this from one thread only, because each change is returned once.
    public func takeChanges() -> Changes { take { $0.takeChanges() } }

    /// All files of the drawer's folder, to fill an empty folder.
    public var allFiles: [Changes.FileChange] { read { $0.allFiles } }

    /// Why the drawer's folder can't be written; nil if everything is saved.
    public var storageProblem: String? { read { $0.storageProblem } }

    /// Sets whether the drawer's folder can be written. The pages show the problem.
    ///
    /// - Parameter problem: a sentence; nil if everything is saved.
    public func setStorageProblem(_ problem: String?) {
        update { state in
            state.storageProblem = problem
            state.touch(.storage)
        }
    }

    /// The whole state, and the position of the end of its trace.
    public func snapshot() -> (state: JSON, trace: TracePosition) {
        take { state in
            state.drawer.refresh()
            return (state.json, TracePosition(next: state.trace.total, era: state.trace.era))
        }
    }

    /// The position of the end of the trace.
    public func snapshotPosition() -> TracePosition {
        read { TracePosition(next: $0.trace.total, era: $0.trace.era) }
    }

    /// Returns rows of the trace.
    ///
    /// - Parameters:
    ///   - place: the position of the first row. Moves past the returned rows.
    ///   - limit: the maximum number of rows.
    /// - Returns: a message for windows; nil if there are no new rows.
    public func traceMessage(from place: inout TracePosition, limit: Int = Limits.rows) -> JSON? {
        let start = place
        let (message, next) = read { state -> (JSON?, TracePosition) in
            let trace = state.trace
            let isReset = trace.era != start.era
            // After a reset, a page must load all rows again, beginning with the first one.
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
