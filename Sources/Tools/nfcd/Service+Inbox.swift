// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Glibc
import LinkDelivery
import PrivateStorage

/// Stores what was read on disk, even if the disk is full for a while or the inbox folder disappears.
extension Service {
    /// How long to wait before storing again what the disk did not accept.
    private static let storingPause = DispatchTimeInterval.seconds(5)
    /// How long a folder may be missing before a new one is created. A program that moves it may put another one in its
    /// place.
    private static let movingTime = DispatchTimeInterval.seconds(1)
    /// The number of damaged files for which the log has a separate line.
    private static let toldDamage = 10

    func tellDamaged(_ names: [String]) {
        let help = "nfc inbox clear --damaged removes"
        for name in names.prefix(Self.toldDamage) {
            log.write(
                "damaged",
                "The file \(FileName.shown(name)) of the inbox is damaged or not an entry, and is not offered. \(help) it."
            )
        }
        guard names.count > Self.toldDamage else { return }
        log.write("damaged", "So are \(names.count - Self.toldDamage) more. \(help) them.")
    }

    func watchInbox() {
        let path = Inbox<DirectoryStore>.path(of: opener.folders)
        let going = IN_DELETE | IN_MOVED_FROM | IN_MOVE_SELF
        let watch = FileWatch { [weak self] in self?.inboxChanged() }
        watch.add(path, Int32(going))
        // The parent folder reports when the folder itself is removed or replaced.
        watch.add(String(path.dropLast("/inbox".count)), Int32(going | IN_CREATE | IN_MOVED_TO))
        inboxFiles = watch
    }

    /// Another program, such as `nfc inbox`, has removed entries or the folder.
    private func inboxChanged() {
        guard inbox.isInPlace else { return checkInboxSoon() }
        guard let there = try? inbox.identifiers() else { return }
        for id in machine.storedEntries where !there.contains(id) { handle(.cleared(id)) }
    }

    func store(_ entry: InboxEntry) {
        Step.reached("before-storing")
        var isKept = false
        if checkInbox() {
            do throws(StorageError) {
                try inbox.add(entry)
                isKept = true
                inboxProblem = nil
            } catch {
                if inboxProblem == nil { log.fail("inbox", "The inbox: \(error.reason)") }
                inboxProblem = error.reason
                storeLater()
            }
        }
        Step.reached("stored")
        handle(.stored(entry.id, isKept: isKept))
    }

    /// Tries again after a while to store what the disk did not accept, until it does.
    private func storeLater() {
        guard !isToStoreAgain else { return }
        isToStoreAgain = true
        DispatchQueue.main.asyncAfter(deadline: .now() + Self.storingPause) { [weak self] in
            MainActor.assumeIsolated {
                guard let self else { return }
                self.isToStoreAgain = false
                guard self.checkInbox() else { return }
                self.handle(.storeAgain)
                // If the rejected entries were opened meanwhile, nothing was written: then the disk's state is not
                // known.
                if self.machine.storedEntries == self.machine.keptEntries { self.inboxProblem = nil }
            }
        }
    }

    /// Why entries can't be stored now, as a sentence; nil when they can.
    var keepingProblem: String? {
        guard !inbox.isInPlace else { return inboxProblem }
        checkInboxSoon()
        let path = Inbox<DirectoryStore>.path(of: opener.folders)
        return isInboxLost ? inboxProblem : "The folder \(path) is gone or was replaced."
    }

    private func checkInboxSoon() {
        guard !isToCheckInbox else { return }
        isToCheckInbox = true
        DispatchQueue.main.asyncAfter(deadline: .now() + Self.movingTime) { [weak self] in
            MainActor.assumeIsolated {
                self?.isToCheckInbox = false
                self?.checkInbox()
            }
        }
    }

    /// If the inbox folder is gone or was replaced, opens it again and writes all known entries there.
    ///
    /// - Returns: whether the open inbox is the one at its path.
    @discardableResult
    func checkInbox() -> Bool {
        guard !inbox.isInPlace else { return true }
        if !isInboxLost {
            isInboxLost = true
            log.fail(
                "inbox",
                "The folder of the inbox is gone or was replaced. The entries in memory are written to a new one."
            )
            handle(.inboxLost)
        }
        do throws(StorageError) {
            inbox = try Inbox(of: opener.folders)
        } catch {
            inboxProblem = error.reason
            storeLater()
            return false
        }
        isInboxLost = false
        inboxProblem = nil
        watchInbox()
        attempt { () throws(StorageError) in
            try marks.move(to: DirectoryStore(opener.folders.state + "/nfc/background"))
        }
        handle(.storeAgain)
        return true
    }
}
