// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import Dispatch
import Glibc
import PrivateStorage

/// Keeping what was read on the disk, also when the disk is full for a while or the inbox's folder goes.
extension Service {
    /// How long what the disk did not take waits until it is tried again.
    private static let storingPause = DispatchTimeInterval.seconds(5)
    /// How long a folder that goes may be missing until a new one is made. Who moves it may put another one there.
    private static let movingTime = DispatchTimeInterval.seconds(1)
    /// Of how many damaged files the log has a line each.
    private static let toldDamage = 10

    func tellDamaged(_ names: [String]) {
        let help = "nfc inbox clear --damaged removes"
        for name in names.prefix(Self.toldDamage) {
            log.write(
                "damaged",
                "The file \(FileName.shown(name)) of the inbox is damaged, or none of its own, and is not offered. \(help) it."
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
        // That the folder itself is removed or replaced is seen in the one around it.
        watch.add(String(path.dropLast("/inbox".count)), Int32(going | IN_CREATE | IN_MOVED_TO))
        inboxFiles = watch
    }

    /// Somebody else has removed entries, such as `nfc inbox`, or the folder.
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

    /// Tries again in a while what the disk did not take, until it takes it.
    private func storeLater() {
        guard !isToStoreAgain else { return }
        isToStoreAgain = true
        DispatchQueue.main.asyncAfter(deadline: .now() + Self.storingPause) { [weak self] in
            MainActor.assumeIsolated {
                guard let self else { return }
                self.isToStoreAgain = false
                guard self.checkInbox() else { return }
                self.handle(.storeAgain)
                // What did not fit may have been opened since: then nothing is known of the disk.
                if self.machine.storedEntries == self.machine.keptEntries { self.inboxProblem = nil }
            }
        }
    }

    /// Why nothing can be kept now, as a sentence; nil when it can.
    var keepingProblem: String? {
        guard !inbox.isInPlace else { return inboxProblem }
        checkInboxSoon()
        let path = Inbox<DirectoryStore>.path(of: opener.folders)
        return isInboxLost ? inboxProblem : "The folder \(path) is gone, or another one."
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

    /// Opens the inbox's folder anew where it is gone or another one, and has all that is known written there.
    ///
    /// - Returns: whether the inbox is the one at its path.
    @discardableResult
    func checkInbox() -> Bool {
        guard !inbox.isInPlace else { return true }
        if !isInboxLost {
            isInboxLost = true
            log.fail(
                "inbox",
                "The folder of the inbox is gone, or another one. What is in memory is written to a new one."
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
