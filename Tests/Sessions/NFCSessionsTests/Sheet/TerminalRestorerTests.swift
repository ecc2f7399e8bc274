// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import Synchronization
import TestThreads
import Testing

/// The terminal that a process leaves behind when it ends while its sheet is shown, and what an app handles itself.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TerminalRestorerTests {
    /// What an app does with its sheet, and how it ends.
    enum Story: String, Codable, Sendable {
        case exits, closesStandardInput, crashes, getsSignal, dismisses, handlesSignal, ignoresSignal
        case handlesAbort
    }

    private static let stories: [(story: Story, signal: Int32, end: ExitTest.Condition)] =
        [
            (.exits, 0, .exitCode(7)), (.closesStandardInput, 0, .exitCode(7)), (.crashes, 0, .signal(SIGSEGV)),
            (.dismisses, SIGTERM, .signal(SIGTERM)), (.handlesAbort, SIGABRT, .exitCode(5)),
        ]
        + [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGSEGV, SIGILL, SIGABRT].map { (.getsSignal, $0, .signal($0)) }
        + [SIGINT, SIGTERM, SIGHUP, SIGUSR1].map { (.handlesSignal, $0, .exitCode(3)) }
        + [SIGHUP, SIGSEGV].map { (.ignoresSignal, $0, .exitCode(3)) }

    @Test(.ownThreads, arguments: stories.indices)
    func `app that ends with its sheet shown: has its usual exit status, and the terminal is restored`(index: Int)
        async throws
    {
        let (story, signal, end) = Self.stories[index]
        let terminal = try #require(PseudoTerminal())
        // The terminal forgets its settings when its last user closes it.
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        await #expect(processExitsWith: end, "\(story) \(signal)") {
            [path = terminal.path as String, story = story as Story, signal = signal as Int32] in
            App.run(story, signal, path)
        }
        let screen = terminal.screen()
        #expect(terminal.isCooked, "\(story)")
        #expect(screen.contains("First."), "\(story)")
        // The card is cleared and the cursor shown, once. One that was shown twice is restored twice.
        // A sheet that disappears leaves the app's lines below the card.
        let cleared = story == .dismisses ? "\u{1B}[K\u{1B}[6A" : "\u{1B}[J"
        #expect(screen.hasSuffix(cleared + "\u{1B}[?25h"), "\(story)")
        #expect(screen.ranges(of: "\u{1B}[?25h").count == (story == .handlesAbort ? 2 : 1), "\(story)")
    }
}

/// The app of an exit test.
private enum App {
    typealias Story = TerminalRestorerTests.Story

    /// How many signals its own handler got.
    static let signals = Atomic(0)

    static func run(_ story: Story, _ number: Int32, _ path: String) -> Never {
        switch story {
        case .exits: present(path)
        case .closesStandardInput:
            close(STDIN_FILENO)
            present(path)
        case .crashes:
            signal(SIGSEGV, SIG_DFL)
            present(path)
            // The instruction fails again when the terminal is restored.
            crash()
        case .getsSignal:
            // A sanitizer would end the process with its own exit status.
            signal(number, SIG_DFL)
            present(path)
            end(by: number)
        case .dismisses:
            // The terminal is standard input, too.
            dup2(unsafe open(path, O_RDWR | O_NOCTTY), STDIN_FILENO)
            dismiss(present(path))
            end(by: number)
        case .handlesSignal:
            signal(number) { _ in App.signals.add(1, ordering: .relaxed) }
            present(path)
            kill(getpid(), number)
            // Another thread gets it.
            waitWhile(App.signals.load(ordering: .relaxed) == 0)
            exit(App.signals.load(ordering: .relaxed) == 1 ? 3 : 1)
        case .ignoresSignal:
            signal(number, SIG_IGN)
            present(path)
            kill(getpid(), number)
            exit(3)
        case .handlesAbort:
            signal(SIGABRT) { _ in _exit(5) }
            dismiss(present(path))
            present(path)
            end(by: number)
        }
        exit(7)
    }

    /// Shows a sheet.
    @discardableResult
    static func present(_ path: String) -> TerminalSheet {
        let sheet = TerminalSheet(path: path, usesColor: false)
        draw(.ready, "First.", on: sheet)
        return sheet
    }

    static func dismiss(_ sheet: TerminalSheet) { draw(.dismissed, "First.", on: sheet) }

    static func draw(_ state: SheetState, _ message: String, on sheet: TerminalSheet?) {
        sheet?.present(SheetContent(state: state, title: "", message: message, showsErrorSymbol: false)) {}
    }

    static func crash() { unsafe UnsafeMutablePointer<UInt8>(bitPattern: 16)?.pointee = 1 }

    static func end(by number: Int32) {
        kill(getpid(), number)
        // It has ended long before.
        sleep(20)
        exit(1)
    }
}
