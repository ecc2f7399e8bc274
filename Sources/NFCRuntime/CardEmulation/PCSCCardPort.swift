// SPDX-License-Identifier: Apache-2.0
import Glibc
import ReaderEmulation
import TagLink

/// A reader of pcscd on which the app's card lies: PC/SC programs meet the app as they would meet a card.
///
/// pcscd needs the package's driver and the lines that `nfc emulate --pcsc` writes. The socket is made when the first
/// card comes, and stays until the process ends.
final class PCSCCardPort: CardReaderPort {
    private struct State {
        var server: ReaderServer?
        var observers: [UInt64: @Sendable () -> Void] = [:]
        var nextObserver: UInt64 = 0
        var isEmulating = false
    }

    /// Tells the card what the reader does.
    let reader = VirtualCardReader()
    private let path: String
    private let state = Locked(State())

    /// Creates a port.
    ///
    /// - Parameter path: the reader's socket; the user's own when nil.
    init(path: String?) {
        self.path = path ?? PCSCInstallation.defaultFolder + "/reader.sock"
    }

    /// Whether there is a card that answers.
    var hasCard: Bool { state.withLock { $0.isEmulating } }

    /// Calls a handler whenever a card may have come or gone.
    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        let id = state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = handler
            return state.nextObserver
        }
        return PresenceObservation { [weak self] in
            // Released outside of the lock.
            let released = self?.state.withLock { $0.observers.removeValue(forKey: id) }
            _ = released
        }
    }

    // MARK: CardReaderPort

    func attach(_ card: any EmulatedCard) -> Bool {
        guard start() else { return false }
        return reader.attach(card)
    }

    func detach(_ card: any EmulatedCard) {
        reader.detach(card)
        tell(isEmulating: false)
    }

    func setEmulating(_ isEmulating: Bool) {
        reader.setEmulating(isEmulating)
        tell(isEmulating: isEmulating)
    }

    private func tell(isEmulating: Bool) {
        let handlers = state.withLock { state in
            state.isEmulating = isEmulating
            return Array(state.observers.values)
        }
        for handler in handlers { handler() }
    }

    /// Makes the socket, once.
    private func start() -> Bool {
        if state.withLock({ $0.server != nil }) { return true }
        do throws(EmulationError) {
            if let slash = path.lastIndex(of: "/") { _ = unsafe mkdir(String(path[..<slash]), 0o755) }
            let server = try ReaderServer(
                path: path,
                reader: AppCardReader(port: self),
                observePresence: observePresence
            )
            state.withLock { $0.server = server }
            _ = server.start()
            return true
        } catch {
            OutputDescriptor.standardError.write("\(TerminalText.escaped(error.reason))\n")
            return false
        }
    }
}
