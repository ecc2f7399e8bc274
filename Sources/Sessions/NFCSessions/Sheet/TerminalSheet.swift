// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import TagLink

/// The scanning sheet on a terminal: a card at the cursor that is redrawn in place.
///
/// While the sheet waits for a tag, or the app works with one, the sheet owns the terminal: it reads the keys, and Esc,
/// q or Ctrl-C cancel. An app that reads keys itself should stop before `begin()`, and continue after the end of the
/// session is reported; then the terminal has its former settings again. A result stays where it was drawn, with the
/// cursor below it. A sheet without a result is erased.
///
/// The terminal is also restored at `exit`, at a signal that ends the process, and at a crash. When the terminal is hung
/// up and the process goes on, the sheet is a ``PlainTextSheet`` from then on.
public final class TerminalSheet: ScanSheet {
    private struct Screen {
        let terminal: Terminal
        let settings: termios
        let keys: any DispatchSourceRead
        let sizeCheck: any DispatchSourceTimer
        var size: Terminal.Size
    }

    private struct State {
        var screen: Screen?
        var content: SheetContent?
        var decoder = SheetKeyDecoder()
        var cancel: (@Sendable () -> Void)?
        /// Its path may be that of another terminal by now.
        var isHungUp = false
    }

    private let path: String
    private let usesColor: Bool
    private let fallback = PlainTextSheet()
    private let queue = DispatchQueue(label: "org.opencorenfc.sheet")
    private let state = Locked(State())

    /// Creates a sheet.
    ///
    /// - Parameters:
    ///   - path: the terminal; by default the controlling one. If it can't be opened, the sheet is a ``PlainTextSheet``
    ///     on standard error.
    ///   - usesColor: whether symbols are coloured.
    public init(path: String = "/dev/tty", usesColor: Bool = true) {
        self.path = path
        self.usesColor = usesColor
    }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            if content.canCancel {
                state.content = content
                state.cancel = cancel
                if state.screen == nil, !takeTerminal(&state) { return fallback.present(content, cancel: cancel) }
                draw(state)
            } else if state.screen == nil, state.content?.canCancel == true, content.state != .dismissed {
                state.content = content
                fallback.present(content, cancel: cancel)
            } else {
                leave(&state, showing: content)
            }
        }
    }

    /// Prints something while the sheet is shown: removes the card, calls the closure, and draws the card again below.
    ///
    /// - Parameter print: writes complete lines.
    public func interrupted(by print: () -> Void) {
        state.withLock { state in
            state.screen?.terminal.write("\r\u{1B}[J")
            print()
            draw(state)
        }
    }

    // MARK: Drawing

    /// Draws the card and moves the cursor back to its first line, so that one sequence erases it.
    private func draw(_ state: borrowing State) {
        guard let screen = state.screen, let content = state.content else { return }
        let lines = render(content, size: screen.size)
        // A card that can be cancelled has several lines.
        let up = "\u{1B}[\(lines.count - 1)A"
        screen.terminal.write("\r\u{1B}[J\u{1B}[?25l" + lines.joined(separator: "\r\n") + "\r" + up)
    }

    private func render(_ content: SheetContent, size: Terminal.Size) -> [String] {
        SheetCard.render(content, width: size.columns, height: size.lines, usesColor: usesColor)
    }

    // MARK: The terminal

    private func takeTerminal(_ state: inout State) -> Bool {
        guard !state.isHungUp, let terminal = Terminal.open(path: path) else { return false }
        guard let settings = terminal.enterRawMode() else {
            terminal.close()
            return false
        }
        TerminalRestorer.arm(descriptor: terminal.fileDescriptor, settings: settings)
        let keys = DispatchSource.makeReadSource(fileDescriptor: terminal.fileDescriptor, queue: queue)
        keys.setEventHandler { [weak self] in self?.keysCame() }
        keys.setCancelHandler { terminal.close() }
        let sizeCheck = DispatchSource.makeTimerSource(queue: queue)
        sizeCheck.schedule(deadline: .now(), repeating: .milliseconds(250))
        sizeCheck.setEventHandler { [weak self] in self?.checkSize() }
        state.decoder = SheetKeyDecoder()
        state.screen = Screen(
            terminal: terminal,
            settings: settings,
            keys: keys,
            sizeCheck: sizeCheck,
            size: terminal.size
        )
        keys.activate()
        sizeCheck.activate()
        return true
    }

    /// Restores the terminal, before the app is informed of the end.
    private func leave(_ state: inout State, showing content: SheetContent) {
        state.content = content
        state.cancel = nil
        guard let screen = state.screen else { return }
        let lines = render(content, size: screen.terminal.size)
        let card = lines.map { $0 + "\r\n" }.joined()
        screen.terminal.write("\r\u{1B}[J" + card + "\u{1B}[?25h")
        release(&state)
    }

    private func release(_ state: inout State) {
        guard let screen = state.screen.take() else { return }
        TerminalRestorer.disarm()
        screen.terminal.leaveRawMode(screen.settings)
        screen.sizeCheck.cancel()
        screen.keys.cancel()
    }

    private func checkSize() {
        state.withLock { state in
            guard let size = state.screen?.terminal.size, size != state.screen?.size else { return }
            state.screen?.size = size
            draw(state)
        }
    }

    // MARK: Keys

    private func keysCame() {
        let (cancel, awaitsMore) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
            guard let terminal = state.screen?.terminal else { return (nil, false) }
            let bytes = terminal.readKeys()
            // A terminal that is hung up can always be read, and has nothing.
            if bytes.isEmpty, terminal.isHungUp {
                release(&state)
                state.isHungUp = true
            }
            var cancels = false
            for byte in bytes where state.decoder.cancels(byte) { cancels = true }
            return (cancels ? state.cancel : nil, state.decoder.awaitsMore)
        }
        if awaitsMore {
            queue.asyncAfter(deadline: .now() + .milliseconds(50)) { [weak self] in self?.nothingFollowed() }
        }
        cancel?()
    }

    private func nothingFollowed() {
        let cancel = state.withLock { state in state.decoder.timeOut() ? state.cancel : nil }
        cancel?()
    }
}

/// Decodes the keys that control the sheet, byte by byte.
///
/// The Escape key sends the same byte that starts the sequence of an arrow key. It is the Escape key if nothing follows
/// soon. So the caller waits a moment while ``awaitsMore`` is true, and then calls ``timeOut()``.
package struct SheetKeyDecoder: Sendable {
    private enum State: Sendable {
        case ground
        case escape
        case sequence
        case singleShift
    }

    private var state = State.ground

    package init() {}

    /// Whether the last byte is the Escape key or the start of another key.
    package var awaitsMore: Bool { state == .escape }

    /// Handles a byte. Returns true when the user wants to cancel: q, Ctrl-C, or Escape twice.
    package mutating func cancels(_ byte: UInt8) -> Bool {
        switch (state, byte) {
        case (_, 0x03), (.escape, 0x1B):
            state = .ground
            return true
        case (.ground, 0x1B):
            state = .escape
        case (.ground, UInt8(ascii: "q")), (.ground, UInt8(ascii: "Q")):
            return true
        case (.escape, UInt8(ascii: "[")):
            state = .sequence
        case (.escape, UInt8(ascii: "O")):
            state = .singleShift
        case (.sequence, 0x20...0x3F):
            break
        default:
            state = .ground
        }
        return false
    }

    /// Reports that no byte followed in time. Returns true when the last byte was the Escape key.
    package mutating func timeOut() -> Bool {
        defer { state = .ground }
        return state == .escape
    }
}
