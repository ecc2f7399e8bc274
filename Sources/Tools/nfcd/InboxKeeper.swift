// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Glibc
import LinkDelivery
import LinuxSupport

/// Stores read tags on disk, even if the disk is temporarily full or the inbox folder disappears.
final class InboxKeeper {
    /// The maximum number of damaged files that are logged individually.
    private static let loggedDamage = 10

    private let folders: UserFolders
    private let log: Log
    private let loop: StateMachineDriver
    private var inbox: Inbox<PrivateFolder>
    private var marks: DeliveryFlags<PrivateFolder>
    private var files: FileWatch?
    /// A sentence that explains why the last entry could not be stored; nil if it was stored.
    private var problem: String?
    /// Whether the inbox folder disappeared or was replaced, and has not been reopened.
    private var isLost = false
    private var isRetryScheduled = false
    private var isCheckScheduled = false
    /// How long to wait before retrying to store entries.
    private let storingPause: Duration
    /// How long a folder may be missing before a new one is created. A program that moves the folder may replace it.
    private let movingTime: Duration

    init(
        _ folders: UserFolders,
        marks: PrivateFolder,
        _ log: Log,
        _ loop: StateMachineDriver,
        storingPause: Duration = .seconds(5),
        movingTime: Duration = .seconds(1)
    ) throws {
        self.storingPause = storingPause
        self.movingTime = movingTime
        self.folders = folders
        self.log = log
        self.loop = loop
        inbox = try Inbox(of: folders)
        self.marks = DeliveryFlags(marks, boot: SystemFiles.boot)
    }

    // MARK: The entries of an earlier run

    /// Reads the entries stored by an earlier run, and starts watching the inbox folder.
    func recover(shown: Set<InboxEntry.ID>, summarized: Set<InboxEntry.ID>) throws -> PreviousRun {
        try inbox.recover()
        watch()
        let content = try inbox.content()
        logDamaged(content.damaged)
        attempt { () throws(StorageError) in try marks.keepOnly(Set(content.entries.map(\.id))) }
        return PreviousRun(entries: content.entries, shown: shown, summarized: summarized, marks: marks.marks)
    }

    /// The IDs of the stored entries; empty if they can't be read.
    var identifiers: Set<InboxEntry.ID> { (try? inbox.identifiers()) ?? [] }

    private func logDamaged(_ names: [String]) {
        let help = "nfc inbox clear --damaged removes"
        for name in names.prefix(Self.loggedDamage) {
            log.write(
                "damaged",
                "The file \(name) of the inbox is damaged or not an entry, and is skipped. \(help) it."
            )
        }
        guard names.count > Self.loggedDamage else { return }
        let more = names.count - Self.loggedDamage
        let text =
            more == 1
            ? "1 more file of the inbox is damaged or not an entry. \(help) it."
            : "\(more) more files of the inbox are damaged or not entries. \(help) them."
        log.write("damaged", text)
    }

    private func watch() {
        let path = Inbox<PrivateFolder>.path(in: folders)
        let going = IN_DELETE | IN_MOVED_FROM | IN_MOVE_SELF
        let watch = FileWatch { [weak self] in self?.filesChanged() }
        watch.add(path, Int32(going))
        // The parent folder reports when the inbox folder is removed or replaced.
        watch.add(String(path.dropLast("/inbox".count)), Int32(going | IN_CREATE | IN_MOVED_TO))
        files = watch
    }

    /// Handles changes by other programs, such as `nfc inbox`, which may have removed entries or the folder.
    private func filesChanged() {
        guard inbox.isInPlace else { return checkSoon() }
        guard let present = try? inbox.identifiers() else { return }
        for id in loop.machine.storedEntries where !present.contains(id) { loop.handle(.cleared(id)) }
    }

    func store(_ entry: InboxEntry) {
        Step.reached("before-storing")
        var isKept = false
        if check() {
            do throws(StorageError) {
                try inbox.add(entry)
                isKept = true
                problem = nil
            } catch {
                if problem == nil { log.fail("inbox", "The inbox: \(error.reason)") }
                problem = error.reason
                storeLater()
            }
        }
        Step.reached("stored")
        loop.handle(.stored(entry.id, isKept: isKept))
    }

    /// Schedules another attempt to store entries, and repeats it until it succeeds.
    private func storeLater() {
        guard !isRetryScheduled else { return }
        isRetryScheduled = true
        runOnMain(after: storingPause) { [weak self] in
            guard let self else { return }
            self.isRetryScheduled = false
            guard self.check() else { return }
            self.loop.handle(.storeAgain)
            // If the failed entries were opened meanwhile, nothing was written, so the disk may still be full.
            if self.loop.machine.storedEntries == self.loop.machine.keptEntries { self.problem = nil }
        }
    }

    /// A sentence that explains why entries can't be stored now; nil if they can.
    var keepingProblem: String? {
        guard !inbox.isInPlace else { return problem }
        checkSoon()
        let path = Inbox<PrivateFolder>.path(in: folders)
        return isLost ? problem : "The folder \(path) is gone or was replaced."
    }

    private func checkSoon() {
        guard !isCheckScheduled else { return }
        isCheckScheduled = true
        runOnMain(after: movingTime) { [weak self] in
            self?.isCheckScheduled = false
            self?.check()
        }
    }

    /// Reopens the inbox folder if it is gone or was replaced, and writes all known entries to it. Returns whether the
    /// open inbox is the one at its path.
    @discardableResult
    private func check() -> Bool {
        guard !inbox.isInPlace else { return true }
        if !isLost {
            isLost = true
            log.fail(
                "inbox",
                "The folder of the inbox is gone or was replaced. The entries in memory are saved to a new folder."
            )
            loop.handle(.inboxLost)
        }
        do throws(StorageError) {
            inbox = try Inbox(of: folders)
        } catch {
            problem = error.reason
            storeLater()
            return false
        }
        isLost = false
        problem = nil
        watch()
        attempt { () throws(StorageError) in
            try marks.move(to: PrivateFolder(store: folders.state + "/nfc/background"))
        }
        loop.handle(.storeAgain)
        return true
    }

    // MARK: Entries

    func markAnnounced(_ id: InboxEntry.ID) {
        attempt { () throws(StorageError) in try inbox.markAnnounced(id) }
        Step.reached("announced")
    }

    /// Stores the delivery flag of an entry; nil removes it.
    func keep(_ mark: DeliveryFlag?, of id: InboxEntry.ID) {
        attempt { () throws(StorageError) in try marks.keep(mark, of: id) }
        Step.reached(mark.map { "marked-\($0)" } ?? "unmarked")
    }

    func remove(_ id: InboxEntry.ID) {
        attempt { () throws(StorageError) in try inbox.remove(id) }
        Step.reached("removed")
        keep(nil, of: id)
    }

    /// Claims an entry, so that no other program opens it. Returns nil if the entry is not on disk, where other
    /// programs could find it.
    func claim(_ id: InboxEntry.ID) throws(StorageError) -> FileClaim? {
        guard inbox.isInPlace, loop.machine.storedEntries.contains(id) else { return nil }
        return try inbox.claim(id)
    }

    private func attempt(_ body: () throws(StorageError) -> Void) {
        do throws(StorageError) {
            try body()
        } catch {
            log.fail("inbox", "The inbox: \(error.reason)")
        }
    }
}

/// A processing step at which tests can kill the service. `NFC_DIE_AT` selects the step.
enum Step {
    #if DEBUG
        private static let fatal = EnvironmentVariable.value("NFC_DIE_AT")

        static func reached(_ step: String) {
            if step == fatal { kill(getpid(), SIGKILL) }
        }
    #else
        static func reached(_: String) {}
    #endif
}
