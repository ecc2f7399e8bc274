// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The app in a terminal: a list of messages, the details of one, and alerts.
///
/// It reads no keys during a session: the scanning sheet then owns the terminal, and Esc cancels it.
@MainActor
final class ScreenInterface {
    private let reader: MessageReader
    private let keyboard = Keyboard()
    private var state = ScreenState()
    private var links: LinkReceiver?
    private var size = ScreenInterface.currentSize
    /// Whether a session runs, so that the lower part of the terminal belongs to the sheet.
    private var isSheetUp = false
    /// The message that came while a sheet was visible.
    private var arrived: MessageReader.Receipt?
    private var notes: StandardErrorNotes?
    /// The next note, shown after the person has seen the present one.
    private var nextNote = ""

    init(reader: MessageReader) {
        self.reader = reader
    }

    /// Runs until the person quits.
    ///
    /// - Returns: the exit status; nil when there is no terminal.
    func run() async -> Int32? {
        guard let source = FullScreen.enter() else { return nil }
        defer { FullScreen.leave() }
        notes = StandardErrorNotes(source) { [self] line in take(note: line) }
        defer { notes?.end() }
        begin()
        var ticks = 0
        while !StandardOutput.isBroken {
            guard let key = await keyboard.next(within: 250) else {
                ticks += 1
                await look(asksForLinks: ticks % 8 == 0)
                continue
            }
            switch state.handle(key, room: layout().room) {
            case .none: break
            case .scan(let readsMany): await scan(readsMany: readsMany)
            case .write(let number): await write(number)
            case .delete(let number): delete(number)
            case .suspend: FullScreen.suspend()
            case .quit(let status): return withExtendedLifetime(links) { status }
            }
            if state.note.isEmpty { (state.note, nextNote) = (nextNote, "") }
            draw()
        }
        return withExtendedLifetime(links) { 1 }
    }

    private func begin() {
        let problem = reader.load()
        state.update(reader.store.messages)
        state.select(nil)
        let new = reader.store.messages.last { $0.isNew }
        if let new {
            state.select(new.number)
            state.note = Wording.arrivedBefore
        }
        // Without a reader, the framework prints the reason.
        _ = reader.canScan
        if let problem { state.alert("Saved Messages", problem) }
        let links = LinkReceiver(AppDelegate(reader: reader) { [self] in show($0) })
        links.begin()
        self.links = links
        if links.state == .elsewhere {
            if state.note.isEmpty { state.note = Wording.linksElsewhere } else { nextNote = Wording.linksElsewhere }
        }
        draw()
    }

    // MARK: Events other than keys

    /// Checks for changes while no key came.
    private func look(asksForLinks: Bool) async {
        var isChanged = FullScreen.wasInterrupted || size != Self.currentSize
        if let added = reader.reload() {
            state.update(reader.store.messages)
            if let last = added.last, state.place == .list {
                state.select(last)
                state.note =
                    added.count == 1 ? "Another window added message \(last)." : "Another window added messages."
            }
            isChanged = true
        }
        if asksForLinks, await links?.takeOver() == true {
            (state.note, nextNote) = (Wording.linksHere, "")
            isChanged = true
        }
        if isChanged { draw() }
    }

    /// Shows a message that came from a card: at once, or when the sheet has closed.
    private func show(_ receipt: MessageReader.Receipt) {
        state.update(reader.store.messages)
        if isSheetUp {
            arrived = receipt
            return
        }
        state.show(receipt.number, note: Wording.arrived)
        if let failure = receipt.failure { state.alert(Wording.notSavedTitle, failure) }
        // The person looks at the notification. Raise the window, and ring the bell in case that is not possible.
        put("\u{1B}[1t\u{1B}[5t\u{07}")
        draw()
    }

    private func take(note: String) {
        state.note = note
        if !isSheetUp { draw() }
    }

    // MARK: Actions

    private func scan(readsMany: Bool) async {
        draw(keepsRoomForSheet: true)
        isSheetUp = true
        let result = await reader.scan(readsMany: readsMany)
        isSheetUp = false
        state.update(reader.store.messages)
        if let last = result.added.last {
            state.select(last)
            let saved = result.added.count { reader.store.message($0)?.isSaved == true }
            state.note = saved == 1 ? "1 message was added." : "\(saved) messages were added."
            if result.failure != nil { state.note = Wording.staysUnsaved }
        }
        await finish(pauses: !result.added.isEmpty && !readsMany)
        if let failure = result.failure { state.alert(Wording.notSavedTitle, failure) }
        if let text = result.alert { state.alert(endTitle, text) }
    }

    private func write(_ number: Int) async {
        guard let message = reader.store.message(number) else { return }
        draw(keepsRoomForSheet: true)
        isSheetUp = true
        let result = await reader.write(message)
        isSheetUp = false
        state.update(reader.store.messages)
        switch result {
        case .written:
            state.note = Wording.written
            await finish(pauses: true)
        case .failed(let text):
            state.note = text
            await finish(pauses: true)
        case .ended(_, let text):
            await finish(pauses: false)
            if let text { state.alert(endTitle, text) }
        }
    }

    /// Leaves the sheet's result on the screen for a moment or until a key is typed, then shows the message that came meanwhile.
    private func finish(pauses: Bool) async {
        if pauses { await keyboard.wait(1500) }
        if let receipt = arrived { show(receipt) }
        arrived = nil
    }

    private func delete(_ number: Int) {
        do {
            try reader.remove(number)
            state.update(reader.store.messages)
            state.note = "Message \(number) is deleted."
        } catch {
            state.alert("Not Deleted", error.text)
        }
    }

    private var endTitle: String { reader.canScan ? Wording.endedTitle : Wording.unavailableTitle }

    /// The lines of the help below the keys.
    private var facts: [String] {
        let taken =
            switch links?.state {
            case .here: "This window takes the links of cards that are read in the background."
            case .elsewhere: Wording.linksElsewhere
            case .nobody(let reason): "Nobody gives this app the links of cards: \(reason)"
            case nil: ""
            }
        let noted = (notes?.lines ?? []).map { "Noted: \($0)" }
        return ["", "The messages are in \(reader.store.path)", taken] + noted
    }

    // MARK: Drawing

    private func layout(keepsRoomForSheet: Bool = false) -> ScreenLines {
        ScreenLines(state.shown, size: size, keepsRoomForSheet: keepsRoomForSheet)
    }

    /// Draws the screen, and leaves the cursor where a sheet can be drawn.
    private func draw(keepsRoomForSheet: Bool = false) {
        size = Self.currentSize
        if state.place == .details, let number = state.selection { reader.markSeen(number) }
        let layout = layout(keepsRoomForSheet: keepsRoomForSheet)
        let lines =
            switch state.shown {
            case .list, .question: layout.list(state)
            case .details: layout.details(&state)
            case .help: layout.help(&state, facts)
            case .alert(let title, let text): layout.alert(title, text)
            }
        let end = keepsRoomForSheet ? "\r\n\r\n" : ""
        put("\u{1B}[?25l\u{1B}[H\u{1B}[J" + lines.joined(separator: "\r\n") + end)
    }

    private func put(_ text: String) {
        StandardOutput.write(text)
    }

    private static var currentSize: TerminalSize {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, lines: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }
}
