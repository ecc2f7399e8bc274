// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import SystemLibrary
import TagLink
import TestThreads
import Testing

@Suite(.serialized) struct `The sheet on a terminal` {
    private func content(_ state: SheetState, _ message: String) -> SheetContent {
        let title = state == .ready || state == .scanning ? "Ready to Scan" : ""
        return SheetContent(state: state, title: title, message: message, showsErrorSymbol: false)
    }

    /// Waits for what another thread does.
    private func waits(for condition: () -> Bool) -> Bool {
        for _ in 0..<6000 {
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

    @Test(.ownThreads, arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGSEGV, SIGILL, SIGABRT])
    func `A signal ends the process as it would without the sheet, and the terminal is as it was`(number: Int32)
        async throws
    {
        let terminal = try #require(PseudoTerminal())
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        await #expect(processExitsWith: .signal(number)) { [path = terminal.path as String, number] in
            let content = SheetContent(state: .ready, title: "", message: "First.", showsErrorSymbol: false)
            // A sanitizer would end the process with its own exit status.
            signal(number, SIG_DFL)
            TerminalSheet(path: path, usesColor: false).present(content) {}
            kill(getpid(), number)
            // It has ended long before.
            sleep(20)
            exit(1)
        }
        let screen = terminal.screen()
        #expect(screen.contains("First.") && screen.hasSuffix("\u{1B}[J\u{1B}[?25h"))
        #expect(terminal.isCooked)
    }

    @Test(arguments: ["\u{1B}", "q", "\u{3}"])
    func `Esc, q and Ctrl-C cancel once the sheet is up`(key: String) throws {
        let terminal = try #require(PseudoTerminal())
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        let cancelled = Locked<ContinuousClock.Instant?>(nil)
        sheet.present(content(.ready, "First.")) { cancelled.withLock { $0 = ContinuousClock.now } }
        terminal.type("\u{1B}[A")
        let start = ContinuousClock.now
        terminal.type(key)
        #expect(waits { cancelled.withLock { $0 != nil } })
        // Esc may also be the beginning of another key, so it waits a twentieth of a second for the rest.
        let end = try #require(cancelled.withLock { $0 })
        #expect(key != "\u{1B}" || start.duration(to: end) > .milliseconds(40))
        sheet.present(content(.dismissed, "First.")) {}
        #expect(terminal.screen().hasSuffix("\u{1B}[J\u{1B}[?25h"))
    }

    @Test func `A key that was cut off by the end of the sheet is not the beginning of the next one's keys`() throws {
        let terminal = try #require(PseudoTerminal())
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        let count = Locked(0)
        for (number, keys) in [(1, "q\u{1B}["), (2, "q")] {
            sheet.present(content(.ready, "First.")) { count.withLock { $0 += 1 } }
            terminal.type(keys)
            #expect(waits { count.withLock { $0 } == number })
            sheet.present(content(.dismissed, "First.")) {}
        }
    }

    @Test func `Its symbols are coloured, unless that is not wanted`() throws {
        let terminal = try #require(PseudoTerminal())
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        for (sheet, isColoured) in [
            (TerminalSheet(path: terminal.path), true), (TerminalSheet(path: terminal.path, usesColor: false), false),
        ] {
            sheet.present(content(.ready, "First.")) {}
            #expect(terminal.screen().contains("\u{1B}[34m") == isColoured)
            sheet.present(content(.dismissed, "First.")) {}
            _ = terminal.screen()
        }
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

    @Test func `Each key comes at once and unseen, Ctrl-S too, and all settings are as they were after it`() throws {
        let terminal = try #require(PseudoTerminal())
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        let before = terminal.settings
        let echo = tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        #expect(before.c_lflag & echo == echo && before.c_iflag & tcflag_t(IXON) != 0)
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        sheet.present(content(.ready, "First.")) {}
        let raw = terminal.settings
        #expect(raw.c_lflag == before.c_lflag & ~echo && raw.c_iflag == before.c_iflag & ~tcflag_t(IXON))
        #expect(raw.c_oflag == before.c_oflag && raw.c_cflag == before.c_cflag)
        // A read returns what is there, without waiting.
        #expect(raw.c_cc.5 == 0 && raw.c_cc.6 == 0)
        sheet.present(content(.success, "Second.")) {}
        let after = terminal.settings
        #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag)
        #expect(after.c_cc.5 == before.c_cc.5 && after.c_cc.6 == before.c_cc.6)
    }

    @Test(arguments: [(0, 0), (0, 24), (60, 0), (80, 24)] as [(UInt16, UInt16)])
    func `A terminal that does not know its size has 80 columns and 24 lines`(columns: UInt16, lines: UInt16) throws {
        let terminal = try #require(PseudoTerminal(columns: columns, lines: lines))
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        let message = (1...30).map { "Line \($0)." }.joined(separator: "\n")
        sheet.present(content(.ready, message)) {}
        let drawn = terminal.screen()
        #expect(drawn.contains("╭" + String(repeating: "─", count: 48) + "╮"))
        // The card has 23 lines, and the cursor goes back to the first.
        #expect(drawn.hasSuffix("\u{1B}[22A") && drawn.contains("Line 14.") && !drawn.contains("Line 16."))
        sheet.present(content(.dismissed, message)) {}
    }

    @Test func `What is printed meanwhile is printed where the card was`() throws {
        let terminal = try #require(PseudoTerminal())
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        let sheet = TerminalSheet(path: terminal.path, usesColor: false)
        sheet.interrupted { OutputDescriptor(user).write("Before.\n") }
        #expect(terminal.screen() == "Before.\n")
        sheet.present(content(.ready, "First.")) {}
        _ = terminal.screen()
        sheet.interrupted { OutputDescriptor(user).write("Printed.\n") }
        let drawn = terminal.screen()
        #expect(drawn.hasPrefix("\u{1B}[JPrinted.\n\u{1B}[J") && drawn.contains("First."))
        sheet.present(content(.dismissed, "First.")) {}
        _ = terminal.screen()
        sheet.interrupted { OutputDescriptor(user).write("After.\n") }
        #expect(terminal.screen() == "After.\n")
    }

    @Test(.ownThreads, arguments: ["/nonexistent", "/dev/null"])
    func `Without a terminal it is lines on standard error`(path: String) async {
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            let sheet = TerminalSheet(path: path, usesColor: false)
            let openFiles = (Int32(0)..<100).filter { fcntl($0, F_GETFD) >= 0 }
            for (state, message) in [
                (SheetState.ready, "First."), (.scanning, "Second."), (.failure, "Third."), (.dismissed, "Third."),
                (.ready, "Again."), (.dismissed, "Again."),
            ] {
                let title = state == .ready || state == .scanning ? "Ready to Scan" : ""
                let content = SheetContent(state: state, title: title, message: message, showsErrorSymbol: false)
                sheet.present(content) { exit(1) }
            }
            // What is no terminal is closed again.
            if (Int32(0)..<100).filter({ fcntl($0, F_GETFD) >= 0 }) != openFiles { exit(2) }
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("[Ready to Scan] First.\n[Scanning] Second.\n[Failed] Third.\n[Ready to Scan] Again.\n"))
        #expect(text.ranges(of: "[").count == 4, "\(text)")
    }

    @Test(.ownThreads) func `A terminal that is hung up is closed, and the rest is lines on standard error`() async {
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            var terminal = PseudoTerminal()
            guard let path = terminal?.path else { exit(1) }
            // The sheet gets the same number.
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            close(descriptor)
            let sheet = TerminalSheet(path: path, usesColor: false)
            sheet.present(SheetContent(state: .ready, title: "", message: "First.", showsErrorSymbol: false)) {
                exit(2)
            }
            guard isatty(descriptor) == 1 else { exit(3) }
            withExtendedLifetime(terminal) {}
            terminal = nil
            for _ in 0..<6000 {
                if fcntl(descriptor, F_GETFD) < 0 { break }
                usleep(10_000)
            }
            guard fcntl(descriptor, F_GETFD) < 0 else { exit(4) }
            // The next terminal gets the same path, and is nothing of the sheet's.
            let next = PseudoTerminal()
            defer { withExtendedLifetime(next) {} }
            for (state, message) in [(SheetState.scanning, "Second."), (.success, "Third.")] {
                sheet.present(SheetContent(state: state, title: "", message: message, showsErrorSymbol: false)) {
                    exit(5)
                }
            }
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("[Scanning] Second.\n[Done] Third.\n") && !text.contains("First."), "\(text)")
    }

    @Test(.ownThreads) func `What comes after the result is neither drawn nor written`() async throws {
        let terminal = try #require(PseudoTerminal())
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = terminal.path as String] in
            let sheet = TerminalSheet(path: path, usesColor: false)
            for (state, message) in [(SheetState.ready, "First."), (.success, "Second."), (.failure, "Third.")] {
                sheet.present(SheetContent(state: state, title: "", message: message, showsErrorSymbol: false)) {}
            }
        }
        let screen = terminal.screen()
        #expect(screen.contains("Second.") && !screen.contains("Third."))
        let errors = end.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(!errors.contains("Third."))
    }

    @Test func `The smallest terminals have their own size`() throws {
        let message = "One.\nTwo.\nThree."
        for (columns, lines): (UInt16, UInt16) in [(60, 1), (1, 24)] {
            let terminal = try #require(PseudoTerminal(columns: columns, lines: lines))
            let sheet = TerminalSheet(path: terminal.path, usesColor: false)
            sheet.present(content(.ready, message)) {}
            let drawn = terminal.screen()
            #expect(drawn.contains("╭") == (columns > 1) && !drawn.contains("Two."))
            sheet.present(content(.dismissed, message)) {}
        }
    }
}
