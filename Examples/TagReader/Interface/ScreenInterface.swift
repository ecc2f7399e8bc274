// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app in a terminal: a list of messages, the details of one, and alerts.
///
/// It reads no key while a session is up: the scanning sheet owns the terminal then, and Esc cancels it.
@MainActor
final class ScreenInterface {
    private enum Place {
        case list
        case details
    }

    private let reader: MessageReader
    private var place = Place.list
    private var selection = 0
    private var scroll = 0
    private var status = ""
    /// Whether a key is waited for, and nothing else is on the screen.
    private var isIdle = false
    /// A message that came and was not shown yet.
    private var arrived: Int?

    init(reader: MessageReader) {
        self.reader = reader
    }

    /// Runs until the person quits.
    ///
    /// - Returns: the exit status.
    func run() async -> Int32 {
        write("\u{1B}[?1049h")
        defer { write("\u{1B}[?25h\u{1B}[?1049l") }
        if let note = reader.load() { await alert("Saved Messages", note) }
        selection = max(messages.count - 1, 0)
        if !reader.canScan { status = "\(Wording.unavailableTitle). \(Wording.unavailable)" }
        let delegate = AppDelegate(reader: reader) { [self] index in
            arrived = index
            if isIdle { showArrived() }
        }
        _ = delegate.listen()
        defer { withExtendedLifetime(delegate) {} }
        while true {
            showArrived()
            draw()
            isIdle = true
            let key = await Keyboard.nextKey()
            isIdle = false
            if key == .interrupt { return 130 }
            if key == .closed { return 0 }
            if key == .resized { continue }
            status = ""
            switch place {
            case .list: if await !handleInList(key) { return 0 }
            case .details: await handleInDetails(key)
            }
        }
    }

    /// Shows the message that came while something else was shown.
    private func showArrived() {
        guard let index = arrived else { return }
        (arrived, selection, place, scroll, status) = (nil, index, .details, 0, Wording.arrived)
        draw()
    }

    private var messages: [StoredMessage] { reader.store.messages }

    // MARK: Keys

    private func handleInList(_ key: Keyboard.Key) async -> Bool {
        switch key {
        case .up, .character("k"): selection = max(selection - 1, 0)
        case .down, .character("j"): selection = min(selection + 1, max(messages.count - 1, 0))
        case .enter where !messages.isEmpty: (place, scroll) = (.details, 0)
        case .character("s"): await scan(readsMany: false)
        case .character("m"): await scan(readsMany: true)
        case .character("w") where !messages.isEmpty: await writeSelected()
        case .character("d") where !messages.isEmpty: await deleteSelected()
        case .escape, .character("q"): return false
        default: break
        }
        return true
    }

    private func handleInDetails(_ key: Keyboard.Key) async {
        switch key {
        case .up, .character("k"): scroll = max(scroll - 1, 0)
        case .down, .character("j"): scroll += 1
        case .character("w"): await writeSelected()
        case .escape, .enter, .character("q"): place = .list
        default: break
        }
    }

    // MARK: Actions

    private func scan(readsMany: Bool) async {
        draw(keepsRoomForSheet: true)
        let result = await reader.scan(readsMany: readsMany)
        if result.added > 0 {
            selection = messages.count - 1
            status = result.added == 1 ? "1 message was added." : "\(result.added) messages were added."
            if !readsMany { await pause() }
        }
        if let failure = result.failure { await alert("Not Saved", failure) }
        if let text = result.alert { await alert(endTitle, text) }
    }

    private func writeSelected() async {
        draw(keepsRoomForSheet: true)
        let result = await reader.write(selection)
        switch result {
        case .written:
            status = Wording.written
            await pause()
        case .failed(let text):
            status = text
            await pause()
        case .ended(_, let text?): await alert(endTitle, text)
        case .ended(_, nil): break
        }
    }

    private func deleteSelected() async {
        status = "Delete message \(selection + 1)? Press y to delete it."
        draw()
        status = ""
        guard await Keyboard.nextKey() == .character("y") else { return }
        do {
            try reader.remove(selection)
            selection = max(min(selection, messages.count - 1), 0)
        } catch {
            await alert("Not Deleted", error.text)
        }
    }

    private var endTitle: String { reader.canScan ? Wording.endedTitle : Wording.unavailableTitle }

    /// Leaves the sheet's result on the screen for a moment.
    private func pause() async {
        try? await Task.sleep(for: .milliseconds(1500))
    }

    private func alert(_ title: String, _ text: String) async {
        repeat {
            let size = Keyboard.size
            write("\u{1B}[H\u{1B}[J" + ScreenLines.alert(title, text, size: size).joined(separator: "\r\n"))
        } while await Keyboard.nextKey() == .resized
    }

    // MARK: Drawing

    /// Draws the screen, and leaves the cursor where a sheet may be drawn.
    private func draw(keepsRoomForSheet: Bool = false) {
        let size = Keyboard.size
        var lines: [String]
        switch place {
        case .list:
            lines = ScreenLines.list(
                messages.map(\.message),
                selection: selection,
                status: keepsRoomForSheet ? nil : status,
                size: size
            )
        case .details:
            let message = messages[selection].message
            (lines, scroll) = ScreenLines.details(
                MessageLines.details(of: message, number: selection + 1),
                scroll: scroll,
                status: keepsRoomForSheet ? nil : status,
                size: size
            )
        }
        write("\u{1B}[?25l\u{1B}[H\u{1B}[J" + lines.joined(separator: "\r\n") + (keepsRoomForSheet ? "\r\n\r\n" : ""))
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
