// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import TagLink
import TestThreads
import Testing

/// The sheet on a terminal, seen from the other side of it.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TerminalSheetTests {
    /// A sheet on a terminal of its own, which lives as long as this.
    private final class Stage {
        let terminal: PseudoTerminal
        let sheet: TerminalSheet
        /// The terminal forgets its settings when its last user closes it.
        let user: Int32

        init(columns: UInt16 = 60, lines: UInt16 = 24, usesColor: Bool = false) throws {
            terminal = try #require(PseudoTerminal(columns: columns, lines: lines))
            user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
            sheet = TerminalSheet(path: terminal.path, usesColor: usesColor)
        }

        deinit { close(user) }

        /// Shows something, and returns what was drawn for it.
        func draw(
            _ state: SheetState,
            _ message: String = "First.",
            cancel: @escaping @Sendable () -> Void = {}
        ) -> String {
            sheet.present(SheetTests.content(state, message), cancel: cancel)
            return terminal.screen()
        }
    }

    /// A card of nine lines, erased, and a visible cursor.
    private static let erased = repeatElement("\u{1B}[K", count: 9).joined(separator: "\n") + "\u{1B}[8A\u{1B}[?25h"

    @Test
    func `terminal sheet: redrawn in place; after a result the card stays, and the terminal settings are restored`()
        throws
    {
        let stage = try Stage()
        let first = stage.draw(.ready)
        #expect(first.contains("Ready to Scan") && first.contains("First.") && first.hasSuffix("╯\u{1B}[8A"))
        #expect(!first.contains("\u{1B}[38;5;") && !stage.terminal.isCooked)
        // The card is centred, and only its own lines are erased: text of the app below it stays.
        #expect(first.hasPrefix("\u{1B}[?25l\u{1B}[K     ╭"))
        #expect(stage.draw(.scanning, "Second.").components(separatedBy: "\u{1B}[K     ").count == 10)
        let last = stage.draw(.success, "Third.")
        #expect(last.contains("✓") && last.contains("Third.") && !(first + last).contains("\u{1B}[J"))
        // Four lines fewer are erased, and the cursor ends below the card.
        #expect(last.hasSuffix("╯" + String(repeating: "\n\u{1B}[K", count: 4) + "\u{1B}[8A\n\n\n\n\n\u{1B}[?25h"))
        #expect(stage.terminal.isCooked)
        for state in [SheetState.failure, .dismissed] { #expect(stage.draw(state, "Late.") == "") }
        let coloured = try Stage(usesColor: true)
        #expect(coloured.draw(.ready).contains("\u{1B}[38;5;63m"))
        #expect(coloured.draw(.dismissed) == Self.erased)
    }

    @Test func `terminal settings: keys are read at once and without echo, also Ctrl-S; restored afterwards`() throws {
        let stage = try Stage()
        let before = stage.terminal.settings
        let echo = tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        #expect(before.c_lflag & echo == echo && before.c_iflag & tcflag_t(IXON) != 0)
        _ = stage.draw(.ready)
        let raw = stage.terminal.settings
        #expect(raw.c_lflag == before.c_lflag & ~echo && raw.c_iflag == before.c_iflag & ~tcflag_t(IXON))
        #expect(raw.c_oflag == before.c_oflag && raw.c_cflag == before.c_cflag)
        // A read returns what is there, without waiting.
        #expect(raw.c_cc.5 == 0 && raw.c_cc.6 == 0)
        _ = stage.draw(.success)
        let after = stage.terminal.settings
        #expect(after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag)
        #expect(after.c_cc.5 == before.c_cc.5 && after.c_cc.6 == before.c_cc.6)
    }

    @Test func `keys on the terminal: Esc, q and Ctrl-C cancel, and a key cut off by the end is forgotten`() throws {
        let stage = try Stage()
        let times = Locked<[ContinuousClock.Instant]>([])
        let rounds = [(["\u{1B}[A", "\u{1B}"]), ["\u{3}"], ["q\u{1B}["], ["q"]]
        for (index, keys) in rounds.enumerated() {
            _ = stage.draw(.ready, cancel: { times.withLock { $0.append(.now) } })
            let start = ContinuousClock.now
            for key in keys { stage.terminal.type(key) }
            waitWhile(times.withLock { $0.count } <= index)
            let end = try #require(times.withLock { $0.count == index + 1 ? $0.last : nil }, "\(keys)")
            // Esc may also be the beginning of another key, so it waits a twentieth of a second for the rest.
            if index == 0 { #expect(start.duration(to: end) > .milliseconds(40)) }
            #expect(stage.draw(.dismissed) == Self.erased)
        }
    }

    @Test func `text printed while the sheet is shown: appears above the card, and the card is drawn again`() throws {
        let stage = try Stage()
        func printed(_ text: String) -> String {
            stage.sheet.interrupted { OutputDescriptor(stage.user).write(text) }
            return stage.terminal.screen()
        }
        #expect(printed("Before.\n") == "Before.\n")
        _ = stage.draw(.ready)
        let drawn = printed("Printed.\n")
        #expect(drawn.hasPrefix("\u{1B}[K\n") && drawn.contains("\u{1B}[8APrinted.\n") && drawn.contains("First."))
        _ = stage.draw(.dismissed)
        #expect(printed("After.\n") == "After.\n")
    }

    @Test func `terminal size: the card fits it, follows its changes, and 80 by 24 where it is unknown`() throws {
        let message = (1...30).map { "Line \($0)." }.joined(separator: "\n")
        for (columns, lines): (UInt16, UInt16) in [(0, 0), (0, 24), (60, 0), (80, 24)] {
            let drawn = try Stage(columns: columns, lines: lines).draw(.ready, message)
            #expect(drawn.contains("╭" + String(repeating: "─", count: 48) + "╮"))
            // The card has 23 lines, and the cursor goes back to the first.
            #expect(drawn.hasSuffix("\u{1B}[22A") && drawn.contains("Line 14.") && !drawn.contains("Line 16."))
        }
        let stage = try Stage()
        _ = stage.draw(.ready)
        var size = winsize(ws_row: 24, ws_col: 30, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(stage.terminal.master, UInt(TIOCSWINSZ), &size)
        let narrow = "╭" + String(repeating: "─", count: 28) + "╮"
        waitWhile(!stage.terminal.screen().contains(narrow))
        _ = stage.draw(.dismissed)
    }

    @Test(.ownThreads, arguments: ["/nonexistent", "/dev/null"])
    func `terminal sheet without a terminal: writes lines on standard error, and leaves no file open`(path: String)
        async
    {
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            let before = openings(of: path)
            let sheet = TerminalSheet(path: path, usesColor: false)
            let states: [(SheetState, String)] = [
                (.ready, "First."), (.scanning, "Second."), (.failure, "Third."), (.dismissed, "Third."),
                (.ready, "Again."), (.dismissed, "Again."),
            ]
            for (state, message) in states { sheet.present(SheetTests.content(state, message)) { exit(1) } }
            if openings(of: path) != before { exit(3) }
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        let lines = "[Ready to Scan] First.\n[Scanning] Second.\n[Failed] Third.\n[Ready to Scan] Again.\n"
        #expect(text.contains(lines) && text.ranges(of: "[").count == 4, "\(text)")
    }

    @Test(.ownThreads)
    func `terminal that hangs up: the terminal is closed, and the sheet writes lines on standard error`() async {
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            var terminal = PseudoTerminal()
            let path = terminal?.path ?? ""
            let sheet = TerminalSheet(path: path, usesColor: false)
            sheet.present(SheetTests.content(.ready, "Drawn.")) { exit(1) }
            guard openings(of: path) > 0 else { exit(2) }
            terminal = nil
            waitWhile(openings(of: path) > 0)
            for (state, message) in [(SheetState.scanning, "Second."), (.failure, "Third."), (.dismissed, "Third.")] {
                sheet.present(SheetTests.content(state, message)) { exit(1) }
            }
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("[Scanning] Second.\n[Failed] Third.\n"), "\(text)")
    }
}

/// How many files of this process are at a path. Its other files come and go.
private func openings(of path: String) -> Int {
    (0..<100).count { number in
        let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
        return file == path || file == path + " (deleted)"
    }
}

/// A terminal that the test sees from the other side.
final class PseudoTerminal {
    let master: Int32
    let path: String

    init?(columns: UInt16 = 60, lines: UInt16 = 24) {
        // Swift's Glibc lacks posix_openpt and related functions. This does the same.
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (CInt(0), CUnsignedInt(0))
        let (unlock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
        guard master >= 0, unsafe ioctl(master, unlock, &locked) == 0, unsafe ioctl(master, getNumber, &number) == 0
        else { return nil }
        path = "/dev/pts/\(number)"
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    deinit { _ = close(master) }

    func type(_ keys: String) { OutputDescriptor(master).write(keys) }

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

    var settings: termios {
        var settings = termios()
        _ = unsafe tcgetattr(master, &settings)
        return settings
    }

    /// Whether the terminal echoes and collects lines, as a shell leaves it.
    var isCooked: Bool { settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON) }
}
