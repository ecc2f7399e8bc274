// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import Synchronization
import SystemLibrary
import Testing

/// A terminal that the test looks at from the other side.
private final class PseudoTerminal {
    let master: Int32
    let path: String

    init?() {
        // Swift's Glibc lacks posix_openpt and related functions. This does the same.
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (CInt(0), CUnsignedInt(0))
        let (unlock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
        guard master >= 0, unsafe ioctl(master, unlock, &locked) == 0, unsafe ioctl(master, getNumber, &number) == 0
        else { return nil }
        path = "/dev/pts/\(number)"
        var size = winsize(ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    deinit { _ = close(master) }

    func type(_ keys: String) {
        OutputDescriptor(master).write(keys)
    }

    /// What has been drawn since the last call.
    func screen() -> String {
        var bytes: [UInt8] = []
        var poller = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while unsafe poll(&poller, 1, 100) > 0, poller.revents & Int16(POLLIN) != 0 {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(master, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        // The terminal itself adds a carriage return before each line feed, so they are all left out.
        return String(decoding: bytes.filter { $0 != 0x0D }, as: UTF8.self)
    }

    /// Whether the terminal echoes and collects lines, as a shell leaves it.
    var isCooked: Bool {
        var settings = termios()
        _ = unsafe tcgetattr(master, &settings)
        return settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }
}

@Suite(.serialized) struct `The sheet on a terminal` {
    private func content(_ state: SheetState, _ message: String) -> SheetContent {
        let title = state == .ready || state == .scanning ? "Ready to Scan" : ""
        return SheetContent(state: state, title: title, message: message, showsErrorSymbol: false)
    }

    /// Waits for what another thread does.
    private func waits(for condition: () -> Bool) -> Bool {
        for _ in 0..<200 {
            if condition() { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func `It draws, redraws in place, and leaves the result and the settings behind`() throws {
        let terminal = try #require(PseudoTerminal())
        // The terminal forgets its settings when its last user closes it.
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        sheet.present(content(.ready, "First.")) {}
        let first = terminal.screen()
        #expect(first.contains("Ready to Scan") && first.contains("First."))
        #expect(first.hasSuffix("╯\u{1B}[8A"))
        #expect(!terminal.isCooked)

        sheet.present(content(.scanning, "Second.")) {}
        #expect(terminal.screen().hasPrefix("\u{1B}[J"))

        sheet.present(content(.success, "Third.")) {}
        let last = terminal.screen()
        #expect(last.contains("✓") && last.contains("Third.") && last.hasSuffix("╯\n\u{1B}[?25h"))
        #expect(terminal.isCooked)

        sheet.present(content(.dismissed, "Third.")) {}
        #expect(terminal.screen() == "")
    }

    @Test(arguments: ["\u{1B}", "q", "\u{3}"])
    func `Esc, q and Ctrl-C cancel once the sheet is up`(key: String) throws {
        let terminal = try #require(PseudoTerminal())
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        let cancelled = Mutex(false)
        sheet.present(content(.ready, "First.")) { cancelled.withLock { $0 = true } }
        terminal.type("\u{1B}[A")
        terminal.type(key)
        #expect(waits { cancelled.withLock { $0 } })
        sheet.present(content(.dismissed, "First.")) {}
        #expect(terminal.screen().hasSuffix("\u{1B}[J\u{1B}[?25h"))
    }

    @Test func `What is printed meanwhile comes above the card`() throws {
        let terminal = try #require(PseudoTerminal())
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        sheet.present(content(.ready, "First.")) {}
        _ = terminal.screen()
        sheet.interrupted(by: {})
        let drawn = terminal.screen()
        #expect(drawn.hasPrefix("\u{1B}[J\u{1B}[J") && drawn.contains("First."))
        sheet.present(content(.dismissed, "First.")) {}
    }

    @Test func `A terminal that changes its size gets a card that fits`() throws {
        let terminal = try #require(PseudoTerminal())
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        sheet.present(content(.ready, "First.")) {}
        _ = terminal.screen()
        var size = winsize(ws_row: 24, ws_col: 30, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(terminal.master, UInt(TIOCSWINSZ), &size)
        let narrow = "╭" + String(repeating: "─", count: 28) + "╮"
        #expect(waits { terminal.screen().contains(narrow) })
        sheet.present(content(.dismissed, "First.")) {}
    }
}
