// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
public import LinuxSupport
public import SimulatorModel

/// The folder of the drawer: a file for each tag, a list of their names, and what is kept of the phone.
///
/// What can't be written is kept, and tried again with the next change and every few seconds.
public final class DrawerFolder: Sendable {
    private static let listName = "drawer.json"
    private static let settingsName = "phone.json"
    private static let maximumList = 1 << 20
    private static let maximumSettings = 16 << 20

    /// What is still to be written, and where.
    private struct State {
        var store: PrivateFolder
        /// Keeps other simulators out of the folder.
        var claim: DrawerClaim
        /// How the names of the tags' files end now.
        var extensions: [String: String] = [:]
        /// What is not written yet: the newest change of each file, in the order of the first ones.
        var pending: [Changes.FileChange] = []
        /// Why something is not written; nil when everything is.
        var problem: String?
        var isRetrying = false
        /// Returns all files, for a folder that was made again.
        var everything: (@Sendable () -> [Changes.FileChange])?
        /// Gets the problem when it has changed.
        var onChange: (@Sendable (String?) -> Void)?
    }

    /// How long after a failure everything is tried again.
    private static let interval = 5

    private let queue = DispatchQueue(label: "org.opencorenfc.simulator.drawer")
    private let state: Locked<State>
    private let onProblem: @Sendable (String) -> Void

    /// The folder's path.
    public let path: String

    /// Opens the folder, and makes it where it is missing.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - onProblem: gets a sentence when a file can't be written.
    public init(_ path: String, onProblem: @escaping @Sendable (String) -> Void) throws(StorageError) {
        self.path = path
        let (store, claim) = try Self.open(path)
        state = Locked(State(store: store, claim: claim))
        self.onProblem = onProblem
    }

    /// Opens the folder, for this simulator alone. A folder that was there keeps its mode, and one that is made is the user's.
    private static func open(_ path: String) throws(StorageError) -> (PrivateFolder, DrawerClaim) {
        var status = stat()
        let isThere = unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        if isThere, status.st_uid == geteuid(), status.st_mode & 0o002 != 0 {
            throw StorageError(.unsafe, "Other users can write in the folder \(path). Choose another one with --tags.")
        }
        let store = try PrivateFolder(store: path)
        if isThere { _ = unsafe chmod(path, status.st_mode & 0o7777) }
        return (store, try DrawerClaim(path))
    }

    /// Fills a simulator with what the folder has. A folder without a list gets the starter set, unless it has files of tags.
    ///
    /// - Returns: sentences about files that are left out.
    public func load(into simulator: Simulator) -> [String] {
        let store = state.withLock { $0.store }
        try? store.removeUnfinished()
        let names = ((try? store.names()) ?? []).sorted()
        let list = json(Self.listName, store, limit: Self.maximumList)?.array
        var known: [(id: String, name: String)] = []
        for entry in list ?? [] {
            guard let id = entry["id"]?.string, let name = entry["name"]?.string else { continue }
            known.append((id, name))
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
            // Somebody has put a dump there, or a simulator was killed between a new file and the removal of the old one.
            let isNewer = changed(name) > changed(other)
            if isNewer { files[id] = ending }
            let (kept, left) = isNewer ? (name, other) : (other, name)
            problems.append("\(left) is left out: it has the name of \(kept), which is newer. Rename it to have both.")
        }
        let ordered =
            known.map(\.id).filter { files[$0] != nil }
            + files.keys.filter { id in !known.contains { $0.id == id } }.sorted()
        for id in ordered {
            guard let ending = files[id] else { continue }
            do throws(StorageError) {
                let bytes = try store.read("\(id).\(ending)", limit: 1 << 18)
                // The ending tells formats apart that have no header.
                let isMemory = ending == "mfd" || ending == "bin"
                let name = known.first { $0.id == id }?.name ?? id
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

    /// Sets what is called when the folder can't be written, and when it can be written again.
    ///
    /// - Parameters:
    ///   - everything: returns all files, for a folder that was removed and is made again.
    ///   - onChange: gets a sentence, or nil when everything is written.
    func follow(
        everything: @escaping @Sendable () -> [Changes.FileChange],
        onChange: @escaping @Sendable (String?) -> Void
    ) {
        state.withLock { state in
            state.everything = everything
            state.onChange = onChange
        }
    }

    /// Writes changes, one after the other, on a queue of its own.
    public func write(_ changes: [Changes.FileChange]) {
        queue.async { [self] in
            state.withLock { state in
                for change in changes { Self.add(change, to: &state.pending) }
            }
            writePending()
        }
    }

    /// Waits until everything is written, or was tried.
    public func finish() { queue.sync {} }

    /// Waits as ``finish()`` does.
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
            var left: [Changes.FileChange] = []
            for change in state.withLock({ $0.pending }) {
                do throws(StorageError) {
                    try write(change)
                } catch {
                    left.append(change)
                    problem = problem ?? error.reason
                }
            }
            state.withLock { [left] in $0.pending = left }
        }
        report(problem)
        if problem != nil { retryLater() }
    }

    /// Makes a folder again that was removed, and has everything written there.
    private func findFolder() throws(StorageError) {
        let (isThere, everything) = state.withLock { ($0.store.isInPlace, $0.everything) }
        guard !isThere else { return }
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
            onProblem("\(problem) The changes are not saved. They are tried again every \(Self.interval) seconds.")
        } else {
            onProblem("Everything is saved again in \(path).")
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

    /// When a file was changed last.
    private func changed(_ name: String) -> (seconds: Int, nanoseconds: Int) {
        var status = stat()
        guard unsafe lstat(path + "/" + name, &status) == 0 else { return (0, 0) }
        return (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    private func json(_ name: String, _ store: PrivateFolder, limit: Int) -> JSON? {
        (try? store.read(name, limit: limit)).flatMap { try? JSON(parsing: $0) }
    }

    /// The id and the ending of a tag's file; nil for any other file.
    private static func parts(_ name: String) -> (id: String, ending: String)? {
        let endings = ["pm3.json", "json", "nfc", "bin", "eml", "mfd", "xml"]
        guard let ending = endings.first(where: { name.hasSuffix("." + $0) }) else { return nil }
        let id = String(name.dropLast(ending.utf8.count + 1))
        let isSafe = !id.isEmpty && !id.hasPrefix(".") && !id.contains("/")
        return isSafe ? (id, ending) : nil
    }
}

extension Changes.FileChange {
    /// What two changes of the same file have in common.
    fileprivate var file: String {
        switch self {
        case .store(let id, _, _), .remove(let id): "tag \(id)"
        case .list: "list"
        case .settings: "settings"
        }
    }
}
