// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app as the system starts it for a card that was read: it keeps the messages that it is given and shows them on
/// standard output, and ends when none has come for a minute.
@MainActor
final class BackgroundInterface {
    private let reader: MessageReader
    private var received = 0

    init(reader: MessageReader) { self.reader = reader }

    /// Runs until it is not needed.
    ///
    /// - Returns: the exit status.
    func run() async -> Int32 {
        if let note = reader.load() { complain(note) }
        let delegate = AppDelegate(reader: reader) { [self] index in
            received += 1
            let message = reader.store.messages[index].message
            let lines = MessageLines.details(of: message, number: index + 1)
            FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
        }
        if let problem = delegate.listen(onEnd: { exit(0) }) {
            complain(problem)
            return 1
        }
        var before: Int
        repeat {
            before = received
            try? await Task.sleep(for: .seconds(60))
        } while received != before
        return withExtendedLifetime(delegate) { 0 }
    }

    private func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
