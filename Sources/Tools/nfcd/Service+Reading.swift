// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import NFCReaders
import NFCRuntime

/// Whether tags are read: the conditions, the reader, and the apps that use it.
extension Service {
    /// The last state that the log reported about reading tags.
    struct ToldState {
        /// Nil before the first report.
        var isReading: Bool?
        /// Why tags are not read, if the reader is the reason.
        var reason: String?
    }

    func surroundingsChanged() {
        // The state is not known before all of them exist.
        guard let session, let devices, let desktop else { return }
        surroundings.session = session.session
        surroundings.isLoginSilent = session.isSilent
        surroundings.isGoingToSleep = session.isGoingToSleep
        surroundings.isCameraOpen = devices.isCameraOpen
        surroundings.radios = devices.radios
        surroundings.powerSaveMode = desktop.powerSaveMode
        surroundings.isScreenSaverOn = desktop.isScreenSaverOn
        surroundings.silentSavers = desktop.silentSavers
        surroundings.isDisplayLit = surroundings.powerSaveMode == nil ? SystemFiles.isDisplayLit : nil
        if surroundings.isUnlocked { unlocks.remember() }
        surroundings.wasUnlocked = unlocks.isRemembered
        if machine.isLocked != surroundings.isLocked {
            log.write("lock", lockText)
            handle(.lock(isLocked: surroundings.isLocked))
        } else if !isBegun {
            // Opens now what an earlier run was asked to open, unless the screen is locked.
            handle(.lock(isLocked: surroundings.isLocked))
        }
        conditionsChanged()
    }

    /// The log's text about the lock.
    private var lockText: String {
        let silent = (surroundings.isLoginSilent ? ["logind"] : []) + surroundings.silentSavers
        guard silent.isEmpty else {
            let names = silent.joined(separator: ", ")
            return "The screen counts as locked: \(names) does not answer."
        }
        return surroundings.isLocked ? "The screen is locked." : "The screen is unlocked."
    }

    private func conditionsChanged() {
        let conditions = surroundings.conditions
        if machine.conditions != conditions || !isBegun { handle(.conditions(conditions)) }
        isBegun = true
        tellState()
    }

    /// Logs whether tags are read, if that has changed.
    private func tellState() {
        let conditions = surroundings.conditions
        if conditions.allowReading {
            guard told.isReading != true else { return }
            told = ToldState(isReading: true)
            return log.write("reading", "Tags are read.")
        }
        let isForReader = conditions.obstacles == [.unsupported]
        // The reader's answer is still pending.
        if isForReader, case .unasked = surroundings.reader { return }
        let reason = isForReader ? surroundings.findings.first?.source : nil
        // A change of reasons while others still prevent reading is not logged; another reason of the reader is.
        guard told.isReading != false || reason != nil && reason != told.reason else { return }
        told = ToldState(isReading: false, reason: reason)
        let reasons = conditions.obstacles.map { obstacle in
            obstacle == .unsupported ? surroundings.findings.first?.source ?? obstacle.reason : obstacle.reason
        }
        log.write(
            "not-reading",
            "Tags are not read. \(reasons.joined(separator: " "))",
            ["obstacles": conditions.obstacles.map(\.rawValue).joined(separator: " ")]
        )
    }

    func stopLooking() {
        if case .ready(let name) = surroundings.reader { surroundings.reader = .unasked(name: name) }
        Task { await watcher?.stop() }
    }

    func readerIsWanted(for purposes: Set<ReaderGate.Purpose>) {
        surroundings.isReaderSessionActive = purposes.contains(.session)
        surroundings.isCardActive = purposes.contains(.card)
        surroundingsChanged()
        guard !purposes.isEmpty else { return }
        Task {
            await watcher?.stop()
            gate?.grant()
        }
    }

    func take(_ event: TagWatcher.Event) {
        switch event {
        case .available:
            // Ignores events that were pending when the reader was released.
            guard machine.isLooking else { return }
            surroundings.reader = .ready(name: watcher?.readerName ?? "")
            surroundingsChanged()
        case .unavailable(let reason):
            guard machine.isLooking else { return }
            surroundings.reader = .missing(reason: reason)
            surroundingsChanged()
        case .near(let identifiers):
            if machine.conditions.allowReading { handle(.near(identifiers)) }
        case .read(let reading):
            // Sources that can't report a change are checked now.
            if surroundings.isDisplayLit != nil { surroundingsChanged() }
            reloadRouter()
            self.reading = reading
            let id = InboxEntry.ID(
                received: UInt64(max(Date().timeIntervalSince1970 * 1000, 0)),
                number: .random(in: 0...UInt32.max)
            ).following((try? inbox.identifiers()) ?? [])
            handle(.read(TagReading(identifier: reading.identifier, message: reading.message), id))
            self.reading = nil
        }
    }
}
