// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
public import LinuxSupport
public import SimulatorModel

/// The drawer's folder: a file for each tag, a list of their names, and the phone's settings.
///
/// If a change can't be written, it is retried with the next change and every few seconds.
public final class DrawerFolder: Sendable {
    private static let listName = "drawer.json"
    private static let settingsName = "phone.json"
    private static let maximumList = 1 << 20
    private static let maximumSettings = 16 << 20

    /// The open folder and the changes that are not written yet.
    private struct State {
        var store: PrivateFolder
        /// Keeps other simulators out of the folder.
        var claim: DrawerClaim
        /// The file name extension of each tag's file.
        var extensions: [String: String] = [:]
        /// The pending changes: only the newest change of each file, in the order of the files' first changes.
        var pending: [Changes.FileChange] = []
        /// Why a change could not be written; nil if everything is written.
        var problem: String?
        var isRetrying = false
        /// Returns all files, to fill a folder that was removed and created again.
        var everything: (@Sendable () -> [Changes.FileChange])?
        /// Called with the problem when it changes; nil if it is solved.
        var onChange: (@Sendable (String?) -> Void)?
    }

    /// The seconds between a failure and the next attempt.
    private static let interval = 5

    private let queue = DispatchQueue(label: "org.opencorenfc.simulator.drawer")
    private let state: Locked<State>
    private let onProblem: @Sendable (String) -> Void

    /// The folder's path.
    public let path: String

    /// Opens the folder, and creates it if it is missing.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - onProblem: called with a sentence when a file can't be written.
    public init(_ path: String, onProblem: @escaping @Sendable (String) -> Void) throws(StorageError) {
        self.path = path
        let (store, claim) = try Self.open(path)
        state = Locked(State(store: store, claim: claim))
        self.onProblem = onProblem
    }

    /// Opens the folder for this simulator only. An existing folder keeps its mode; a new folder is private.
    private static func open(_ path: String) throws(StorageError) -> (PrivateFolder, DrawerClaim) {
        var status = stat()
        let isOwn = unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
        if isOwn, status.st_mode & 0o002 != 0 {
            throw StorageError(.unsafe, "Other users can write in the folder \(path). Choose another one with --tags.")
        }
        let store = try PrivateFolder(store: path)
        if isOwn { try store.setMode(status.st_mode & 0o7777) }
        return (store, try DrawerClaim(path))
    }

    /// Loads the folder's tags and settings into a simulator. Without a list and tags, adds the starter set.
    ///
    /// - Returns: sentences about files that were skipped.
    public func load(into simulator: Simulator) -> [String] {
        let store = state.withLock { $0.store }
        try? store.removeUnfinished()
        let names = ((try? store.names()) ?? []).sorted()
        let list = json(Self.listName, store, limit: Self.maximumList)?.array
        var listed: [(id: String, name: String)] = []
        for entry in list ?? [] {
            guard let id = entry["id"]?.string, let name = entry["name"]?.string else { continue }
            listed.append((id, name))
        }
        var tags: [(id: String, name: String, file: [UInt8])] = []
        var problems: [String] = []
        var files: [String: String] = [:]
        for name in names where ![Self.listName, Self.settingsName].contains(name) && !name.hasPrefix(".") {
            guard let (id, ending) = Self.parts(name) else { continue }
            guard let other = files[id].map({ "\(id).\($0)" }) else {
                files[id] = ending
                continue
            }
            // Two files of one tag: someone added a dump, or a simulator was killed before it removed the old file.
            let isNewer = modificationTime(name) > modificationTime(other)
            if isNewer { files[id] = ending }
            let (kept, older) = isNewer ? (name, other) : (other, name)
            problems.append(
                "\(older) was skipped: it has the same name as \(kept), which is newer. Rename it to keep both."
            )
        }
        let ordered =
            listed.map(\.id).filter { files[$0] != nil }
            + files.keys.filter { id in !listed.contains { $0.id == id } }.sorted()
        for id in ordered {
            guard let ending = files[id] else { continue }
            do throws(StorageError) {
                let bytes = try store.read("\(id).\(ending)", limit: 1 << 18)
                // Formats without a header can only be identified by the file name.
                let isMemory = ending == "mfd" || ending == "bin"
                let name = listed.first { $0.id == id }?.name ?? id
                tags.append((id, isMemory ? "\(name).\(ending)" : name, bytes))
            } catch {
                problems.append(error.reason)
            }
        }
        state.withLock { [files] in $0.extensions = files }
        problems += simulator.restore(tags, settings: json(Self.settingsName, store, limit: Self.maximumSettings))
        if list == nil, tags.isEmpty { simulator.addStarterSet() }
        return problems
    }

    /// Sets the functions for filling a new folder and for reporting problems.
    ///
    /// - Parameters:
    ///   - everything: returns all files, to fill a folder that was removed and created again.
    ///   - onChange: called with a sentence if the folder can't be written, and with nil once everything is written.
    func follow(
        everything: @escaping @Sendable () -> [Changes.FileChange],
        onChange: @escaping @Sendable (String?) -> Void
    ) {
        state.withLock { state in
            state.everything = everything
            state.onChange = onChange
        }
    }

    /// Writes changes in order, on a private queue.
    public func write(_ changes: [Changes.FileChange]) {
        queue.async { [self] in
            state.withLock { state in
                for change in changes { Self.add(change, to: &state.pending) }
            }
            writePending()
        }
    }

    /// Waits until every change was written or has failed.
    public func finish() { queue.sync {} }

    /// Like ``finish()``, but asynchronous.
    func settle() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    // MARK: On the queue

    private static func add(_ change: Changes.FileChange, to pending: inout [Changes.FileChange]) {
        if let index = pending.firstIndex(where: { $0.file == change.file }) {
            pending[index] = change
        } else {
            pending.append(change)
        }
    }

    private func writePending() {
        guard !state.withLock({ $0.pending.isEmpty }) else { return }
        var problem: String?
        do throws(StorageError) {
            try findFolder()
        } catch {
            problem = error.reason
        }
        if problem == nil {
            var failed: [Changes.FileChange] = []
            for change in state.withLock({ $0.pending }) {
                do throws(StorageError) {
                    try write(change)
                } catch {
                    failed.append(change)
                    problem = problem ?? error.reason
                }
            }
            state.withLock { [failed] in $0.pending = failed }
        }
        report(problem)
        if problem != nil { retryLater() }
    }

    /// If the folder was removed, creates it again and queues all files for writing.
    private func findFolder() throws(StorageError) {
        let (isInPlace, everything) = state.withLock { ($0.store.isInPlace, $0.everything) }
        guard !isInPlace else { return }
        let (store, claim) = try Self.open(path)
        let files = everything?() ?? []
        state.withLock { state in
            state.store = store
            state.claim = claim
            state.extensions = [:]
            for file in files { Self.add(file, to: &state.pending) }
        }
    }

    private func report(_ problem: String?) {
        let (isNew, onChange) = state.withLock { [problem] state in
            defer { state.problem = problem }
            return (state.problem != problem, state.onChange)
        }
        guard isNew else { return }
        if let problem {
            onProblem("\(problem) Changes are not saved. The simulator tries again every \(Self.interval) seconds.")
        } else {
            onProblem("Saving works again. All changes are saved in \(path).")
        }
        onChange?(problem)
    }

    private func retryLater() {
        let isFirst = state.withLock { state in
            defer { state.isRetrying = true }
            return !state.isRetrying
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + .seconds(Self.interval)) { [weak self] in
            self?.state.withLock { $0.isRetrying = false }
            self?.writePending()
        }
    }

    private func write(_ change: Changes.FileChange) throws(StorageError) {
        let store = state.withLock { $0.store }
        switch change {
        case .store(let id, let ending, let bytes):
            try store.replace("\(id).\(ending)", with: bytes)
            let old = state.withLock { $0.extensions.updateValue(ending, forKey: id) }
            if let old, old != ending { try store.remove("\(id).\(old)") }
        case .remove(let id):
            guard let ending = state.withLock({ $0.extensions[id] }) else { return }
            try store.remove("\(id).\(ending)")
            _ = state.withLock { $0.extensions.removeValue(forKey: id) }
        case .list(let entries):
            let list = JSON.array(entries.map { .object($0.mapValues { .string($0) }) })
            try store.replace(Self.listName, with: list.bytes + [0x0A])
        case .settings(let settings): try store.replace(Self.settingsName, with: settings.bytes + [0x0A])
        }
    }

    // MARK: Files

    /// When a file was last modified.
    private func modificationTime(_ name: String) -> (seconds: Int, nanoseconds: Int) {
        var status = stat()
        guard unsafe lstat(path + "/" + name, &status) == 0 else { return (0, 0) }
        return (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    private func json(_ name: String, _ store: PrivateFolder, limit: Int) -> JSON? {
        (try? store.read(name, limit: limit)).flatMap { try? JSON(parsing: $0) }
    }

    /// The id and the extension of a tag's file; nil for any other file.
    private static func parts(_ name: String) -> (id: String, ending: String)? {
        let endings = ["pm3.json", "json", "nfc", "bin", "eml", "mfd", "xml"]
        guard let ending = endings.first(where: { name.hasSuffix("." + $0) }) else { return nil }
        let id = String(name.dropLast(ending.utf8.count + 1))
        let isSafe = !id.isEmpty && !id.hasPrefix(".") && !id.contains("/")
        return isSafe ? (id, ending) : nil
    }
}

extension Changes.FileChange {
    /// Identifies the file that a change is about.
    fileprivate var file: String {
        switch self {
        case .store(let id, _, _), .remove(let id): "tag \(id)"
        case .list: "list"
        case .settings: "settings"
        }
    }
}
