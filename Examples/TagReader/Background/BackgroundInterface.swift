// SPDX-License-Identifier: Apache-2.0
import Foundation
import UserActivityReceiving

/// The app as the system starts it for a card. It opens a window, which then receives the message. Without a desktop it
/// saves the messages itself and writes them to standard output. It ends when no message has come for a minute, or when a
/// window takes over.
@MainActor
final class BackgroundInterface {
    private let reader: MessageReader
    private var received = 0

    init(reader: MessageReader) { self.reader = reader }

    /// Runs until it is not needed any more.
    ///
    /// - Returns: the exit status.
    func run() async -> Int32 {
        if await TerminalWindow().open(isThere: { Application.isRunning(as: AppDelegate.desktopID) }) { return 0 }
        if let note = reader.load() { complain(note) }
        let delegate = AppDelegate(reader: reader, isVisible: false) { [self] receipt in
            received += 1
            if let failure = receipt.failure { complain(failure) }
            guard let message = reader.store.message(receipt.number)?.message else { return }
            let lines = MessageLines.details(of: message, number: receipt.number).map(\.text)
            StandardOutput.writeLines(lines.joined(separator: "\n"))
        }
        let links = LinkReceiver(delegate, isVisible: false)
        links.begin(onEnd: { Task { @MainActor in StandardOutput.end(0) } })
        switch links.state {
        case .here: break
        // A window that opened late receives the links.
        case .elsewhere: return 0
        case .nobody(let reason):
            complain(reason)
            return 1
        }
        var before: Int
        repeat {
            before = received
            try? await Task.sleep(for: .seconds(60))
        } while received != before
        return withExtendedLifetime(links) { 0 }
    }

    private func complain(_ text: String) { StandardError.writeLine(text) }
}
