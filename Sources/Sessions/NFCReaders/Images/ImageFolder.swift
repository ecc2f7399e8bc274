// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import TagLink
import VirtualTags

/// A folder whose image files are tags in a virtual field. Adding a file brings its tag near, and deleting it removes
/// the tag.
///
/// Only regular files are used, through a symbolic link only if root or this user owns the link. Opening a file never
/// blocks. When the folder is deleted, its tags are removed. When a folder is created at the same path, its images are
/// used again.
final class ImageFolder: Sendable {
    /// The maximum number of files; further files are ignored.
    private static let maximumCount = 100

    /// A fingerprint of a file's state, which changes whenever the file changes.
    private struct Version: Equatable {
        private var numbers: [Int]

        /// - Returns: nil when the file does not exist.
        init?(_ path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            let (device, inode) = (Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino))
            numbers = [device, inode, Int(status.st_size), status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        }
    }

    /// A tag in the field, and the version of its file when it was read or saved.
    private struct NearTag {
        var file: ImageFiles.Entry
        var version: Version?
    }

    private struct State {
        var tags: [String: NearTag] = [:]
        /// The unusable files that were already reported.
        var refusedNames: Set<String> = []
        /// Whether the folder exists; nil before the first check.
        var exists: Bool?
        var source: (any DispatchSourceRead)?
    }

    private let path: String
    private let field: VirtualField
    private let onNotice: @Sendable (String) -> Void
    private let onPresence: @Sendable (Bool) -> Void
    private let state = Locked(State())

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns whether nothing exists at the path, and a folder may be created there later. A list of paths, or the
    /// name of an image file, does not qualify.
    static func mayBeCreated(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) != 0, errno == ENOENT else { return false }
        return !path.isEmpty && !path.contains(",") && !isImage(path)
    }

    /// Brings the folder's tags into the field, and watches the folder until the process ends.
    ///
    /// - Parameters:
    ///   - onPresence: called at the start, and whenever the folder appears or disappears; on any thread.
    ///   - onNotice: called with a sentence for people when the folder is missing or a file can't be used; on any
    ///     thread.
    init(
        _ path: String,
        field: VirtualField,
        onPresence: @escaping @Sendable (Bool) -> Void = { _ in },
        onNotice: @escaping @Sendable (String) -> Void
    ) throws(TagFileError) {
        guard let watch = FolderWatch(path) else {
            throw TagFileError(.unreadable, "The folder \(path) can't be watched.")
        }
        self.path = watch.path
        self.field = field
        self.onNotice = onNotice
        self.onPresence = onPresence
        let queue = DispatchQueue(label: "org.opencorenfc.images")
        state.withLock { state in
            let source = DispatchSource.makeReadSource(fileDescriptor: watch.descriptor, queue: queue)
            source.setEventHandler { [self] in
                let changes = watch.changes()
                if changes.isAny { apply(changes) }
            }
            source.activate()
            state.source = source
        }
        // Runs on the queue, so that a file that is written meanwhile is not read twice.
        queue.sync { apply(FolderWatch.Changes(written: [], exists: watch.exists)) }
    }

    /// Writes changed tags back to their files.
    var saver: TagFileSaver {
        TagFileSaver { [state] body in
            state.withLock { state in
                for (name, near) in state.tags {
                    var file = near.file
                    body(&file)
                    let isSaved = file.saved != near.file.saved
                    state.tags[name] = NearTag(file: file, version: isSaved ? Version(file.path) : near.version)
                }
            }
        }
    }

    /// Applies changes of the folder to the field.
    func apply(_ changes: FolderWatch.Changes) {
        update(written: changes.written, isAll: changes.isAll)
        let wasAvailable = state.withLock { state in
            defer { state.exists = changes.exists }
            return state.exists
        }
        guard changes.exists != wasAvailable else { return }
        onPresence(changes.exists)
        if !changes.exists { onNotice("The folder \(path) does not exist. Its tags appear when it is created.") }
    }

    /// Brings the tags of new or changed files into the field, and removes the tags of deleted files.
    private func update(written: Set<String>, isAll: Bool) {
        // Only the first names count, so a new file whose name sorts earlier can displace another file.
        let firstNames = Self.names(in: path).sorted().prefix(Self.maximumCount)
        let names = Set(firstNames)
        state.withLock { state in
            state.refusedNames = state.refusedNames.filter { names.contains($0) && !isAll && !written.contains($0) }
        }
        // If events were lost, even of other folders, all files count as written. Unchanged files are skipped, as is one that
        // was saved here.
        func isStale(_ name: String, _ nearTag: NearTag) -> Bool {
            if !names.contains(name) { return true }
            guard isAll || written.contains(name) else { return false }
            return nearTag.version == nil || nearTag.version != Version(path + "/" + name)
        }
        let stale = state.withLock { state in
            let stale = state.tags.filter { isStale($0.key, $0.value) }
            for name in stale.keys { state.tags[name] = nil }
            return stale
        }
        for nearTag in stale.values { field.remove(nearTag.file.tag) }
        for name in firstNames where state.withLock({ $0.tags[name] == nil }) {
            guard !state.withLock({ $0.refusedNames.contains(name) }) else { continue }
            do throws(TagFileError) {
                // The version is determined before the file is read, so that a later write gives another version.
                let version = Version(path + "/" + name)
                let file = try ImageFiles.load(path + "/" + name, takesForeignLinks: false)
                state.withLock { $0.tags[name] = NearTag(file: file, version: version) }
                field.bring(file.tag)
            } catch {
                state.withLock { _ = $0.refusedNames.insert(name) }
                onNotice(error.reason)
            }
        }
    }

    private static func names(in path: String) -> [String] {
        FolderNames.read(path, limit: 10 * maximumCount) { !$0.hasPrefix(".") && isImage($0) } ?? []
    }

    private static func isImage(_ name: String) -> Bool { name.hasSuffix(".json") || name.hasSuffix(".nfc") }
}

/// A virtual reader whose tags are the images of a folder. While the folder is missing, the reader is unavailable.
final class FolderField: FieldDriver {
    /// The field with the folder's tags.
    let field = VirtualField()

    /// Why the folder can't be used; nil while the folder exists.
    private let problem = Locked<String?>(nil)
    private let observers = PresenceObservers()

    var name: String { field.name }
    var technologies: Set<Technology> { field.technologies }

    /// Stores whether the folder exists.
    ///
    /// - Parameter problem: sentences that report the missing folder and its remedy; nil when the folder exists.
    func note(_ problem: String?) {
        let isNewProblem = self.problem.withLock { last in
            defer { last = problem }
            return last != problem
        }
        if isNewProblem { observers.notify() }
    }

    func link(for technology: Technology) -> (any FrameLink)? { field.link(for: technology) }

    func prepare() async throws(LinkError) { try check() }

    /// - Throws: ``LinkError`` with `readerUnavailable` while the folder is missing.
    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        if isOn { try check() }
        try await field.setCarrier(isOn)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let observations = (field.observePresence(handler), observers.add(handler))
        return PresenceObservation { withExtendedLifetime(observations) {} }
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }

    private func check() throws(LinkError) {
        if let problem = problem.withLock({ $0 }) { throw LinkError(.readerUnavailable, problem) }
    }
}
