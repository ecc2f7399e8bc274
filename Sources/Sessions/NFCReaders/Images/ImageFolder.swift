// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import TagLink
import VirtualTags

/// A folder whose image files are tags in a virtual field. Adding a file brings its tag near, and deleting it removes
/// the tag.
///
/// Only regular files count, and opening one never blocks. When the folder is deleted, its tags leave. When a folder
/// with the same name is created, it is used again.
final class ImageFolder: Sendable {
    /// The maximum number of files; further files are ignored.
    private static let maximumCount = 100

    /// What a file is like; it changes whenever the file does.
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

    /// A tag that is near, and its file when it was read.
    private struct Near {
        var tag: any VirtualTag
        var version: Version?
    }

    private struct State {
        var tags: [String: Near] = [:]
        /// The unusable files that were already reported.
        var refused: Set<String> = []
        /// nil before the first check.
        var isThere: Bool?
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

    /// Returns whether nothing exists at the path, and a folder may be created there later: it is a single path, and
    /// not that of an image.
    static func mayBeCreated(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) != 0, errno == ENOENT else { return false }
        return !path.isEmpty && !path.contains(",") && !isImage(path)
    }

    /// Brings the folder's tags near now, and watches the folder until the process ends.
    ///
    /// - Parameters:
    ///   - field: the field for its tags.
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
                if changes.isAny { take(changes) }
            }
            source.activate()
            state.source = source
        }
        // On the queue, so that a file that is written meanwhile is not read twice.
        queue.sync { take(FolderWatch.Changes(written: [], exists: watch.exists)) }
    }

    /// Takes over what has happened.
    func take(_ changes: FolderWatch.Changes) {
        update(again: changes.written, isAll: changes.isAll)
        let wasAvailable = state.withLock { state in
            defer { state.isThere = changes.exists }
            return state.isThere
        }
        guard changes.exists != wasAvailable else { return }
        onPresence(changes.exists)
        if !changes.exists { onNotice("The folder \(path) does not exist. Its tags appear when it is created.") }
    }

    /// Brings the tags of new or changed files near, and removes the tags of deleted ones.
    private func update(again written: Set<String>, isAll: Bool) {
        // A file may also leave these when another one comes whose name is before its own.
        let firstNames = Self.names(in: path).sorted().prefix(Self.maximumCount)
        let names = Set(firstNames)
        let known = state.withLock { state in
            state.refused = state.refused.filter { names.contains($0) && !isAll && !written.contains($0) }
            return state.tags
        }
        // Events may be lost that came from other folders. Then the tags stay whose files are as they were.
        func isWritten(_ name: String) -> Bool {
            if written.contains(name) { return true }
            guard isAll, let near = known[name] else { return false }
            return near.version == nil || near.version != Version(path + "/" + name)
        }
        for (name, near) in known where !names.contains(name) || isWritten(name) {
            state.withLock { $0.tags[name] = nil }
            field.remove(near.tag)
        }
        for name in firstNames where state.withLock({ $0.tags[name] == nil }) {
            guard !state.withLock({ $0.refused.contains(name) }) else { continue }
            do throws(TagFileError) {
                // Before it is read: what is written meanwhile is another version.
                let version = Version(path + "/" + name)
                let tag = try ImageFiles.load(path + "/" + name).tag
                state.withLock { $0.tags[name] = Near(tag: tag, version: version) }
                field.bring(tag)
            } catch {
                state.withLock { _ = $0.refused.insert(name) }
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

    /// Why the folder can't be used; nil while it exists.
    private let problem = Locked<String?>(nil)
    private let observers = PresenceObservers()

    var name: String { field.name }
    var technologies: Set<Technology> { field.technologies }

    /// Stores whether the folder exists.
    ///
    /// - Parameter problem: what is missing and what to do, as a sentence; nil when the folder exists.
    func note(_ problem: String?) {
        let isNews = self.problem.withLock { last in
            defer { last = problem }
            return last != problem
        }
        if isNews { observers.notify() }
    }

    func link(for technology: Technology) -> (any FrameLink)? { field.link(for: technology) }

    func prepare() async throws(LinkError) { try check() }

    /// - Throws: ``LinkError`` with `readerUnavailable` while the folder is missing.
    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        if isOn { try check() }
        try await field.setCarrier(isOn)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let both = (field.observePresence(handler), observers.add(handler))
        return PresenceObservation { withExtendedLifetime(both) {} }
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }

    private func check() throws(LinkError) {
        if let problem = problem.withLock({ $0 }) { throw LinkError(.readerUnavailable, problem) }
    }
}
