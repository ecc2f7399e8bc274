// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime
import Synchronization
import SystemLibrary
import TestThreads
import Testing

/// Checks what a process leaves behind on its terminal when it ends while the sheet is shown, and what an app decides itself.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `A terminal that an app leaves with its sheet` {
    /// What restores a terminal: it clears the card and shows the cursor.
    private static let restored = "\u{1B}[J\u{1B}[?25h"

    /// Runs an app with a sheet on a terminal, and returns what it has drawn.
    private static func screen(_ terminal: PseudoTerminal, after run: (String) async -> Void) async -> String {
        let user = unsafe open(terminal.path, O_RDWR | O_NOCTTY)
        defer { close(user) }
        await run(terminal.path)
        #expect(terminal.isCooked)
        return terminal.screen()
    }

    @Test(.ownThreads) func `is restored at the process's own exit`() async throws {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
                App.present(path)
                exit(7)
            }
        }
        #expect(screen.contains("First.") && screen.hasSuffix(Self.restored))
    }

    @Test(.ownThreads) func `is restored also where it has the lowest number, which is that of standard input`()
        async throws
    {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
                close(STDIN_FILENO)
                App.present(path)
                exit(7)
            }
        }
        #expect(screen.contains("First.") && screen.hasSuffix(Self.restored))
    }

    @Test(.ownThreads) func `is restored at a crash, which still ends the process`() async throws {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .signal(SIGSEGV)) { [path = path as String] in
                signal(SIGSEGV, SIG_DFL)
                App.present(path)
                // The instruction fails again when the terminal is restored.
                unsafe UnsafeMutablePointer<UInt8>(bitPattern: 16)?.pointee = 1
                exit(1)
            }
        }
        #expect(screen.hasSuffix(Self.restored))
    }

    @Test(.ownThreads) func `is not touched any more when the sheet has left before`() async throws {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .signal(SIGTERM)) { [path = path as String] in
                // It is standard input, too.
                let input = unsafe open(path, O_RDWR | O_NOCTTY)
                dup2(input, STDIN_FILENO)
                App.dismiss(App.present(path))
                kill(getpid(), SIGTERM)
                sleep(20)
                exit(1)
            }
        }
        #expect(screen.hasSuffix(Self.restored) && screen.ranges(of: "\u{1B}[?25h").count == 1)
    }

    @Test(.ownThreads) func `is forgotten when the sheet has left, so that what has its number since is not touched`()
        async throws
    {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
                // It comes after what the sheet does at the exit.
                atexit { App.endIfNothingCame() }
                let others = App.descriptors(of: path)
                let sheet = App.present(path)
                guard let pipe = DescriptorPipe(),
                    let terminal = App.descriptors(of: path).first(where: { !others.contains($0) })
                else { exit(1) }
                App.dismiss(sheet)
                // Another thread closes it.
                waitWhile(fcntl(terminal, F_GETFD) >= 0)
                guard fcntl(terminal, F_GETFD) < 0, dup2(pipe.writer, terminal) == terminal else { exit(1) }
                App.successor.withLock { $0 = pipe }
                exit(1)
            }
        }
        #expect(screen.hasSuffix(Self.restored))
    }

    @Test(.ownThreads, arguments: [SIGINT, SIGTERM, SIGHUP, SIGUSR1])
    func `is the sheet's while an app handles a signal itself`(
        number: Int32
    )
        async throws
    {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(3)) { [path = path as String, number] in
                signal(number) { _ in App.signals.add(1, ordering: .relaxed) }
                App.present(path)
                kill(getpid(), number)
                // Another thread gets it.
                waitWhile(App.signals.load(ordering: .relaxed) == 0)
                exit(App.signals.load(ordering: .relaxed) == 1 ? 3 : 1)
            }
        }
        #expect(screen.ranges(of: "\u{1B}[?25h").count == 1)
    }

    @Test(.ownThreads, arguments: [SIGHUP, SIGSEGV]) func `is the sheet's while an app ignores a signal`(number: Int32)
        async throws
    {
        _ = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(3)) { [path = path as String, number] in
                signal(number, SIG_IGN)
                App.present(path)
                kill(getpid(), number)
                exit(3)
            }
        }
    }

    @Test(.ownThreads) func `is restored before an app's own handler of a crash, which is called once`() async throws {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(5)) { [path = path as String] in
                signal(SIGABRT) { _ in _exit(5) }
                App.dismiss(App.present(path))
                App.present(path)
                kill(getpid(), SIGABRT)
                sleep(20)
                exit(1)
            }
        }
        #expect(screen.hasSuffix(Self.restored))
    }

    @Test(.ownThreads) func `is restored before an app's own handler of a crash, which learns why it crashed`()
        async throws
    {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(5)) { [path = path as String] in
                App.handleCrash()
                App.present(path)
                unsafe UnsafeMutablePointer<UInt8>(bitPattern: 16)?.pointee = 1
                exit(1)
            }
        }
        #expect(screen.hasSuffix(Self.restored))
    }

    @Test(.ownThreads) func `is not drawn on any more when it is restored`() async throws {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
                // It comes after what the sheet does at the exit, as another thread's drawing may.
                atexit { App.drawAgain() }
                App.kept.withLock { $0 = App.present(path) }
                exit(7)
            }
        }
        #expect(screen.hasSuffix(Self.restored) && !screen.contains("Again."))
    }

    @Test(.ownThreads) func `can be written to when it is restored, so that its app notices nothing`() async throws {
        let screen = await Self.screen(try #require(PseudoTerminal())) { path in
            await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
                // It comes after what the sheet does at the exit.
                atexit { App.endIfWritable() }
                App.kept.withLock { $0 = App.present(path) }
                let terminals = App.descriptors(of: path)
                App.terminals.withLock { $0 = terminals }
                exit(1)
            }
        }
        #expect(screen.hasSuffix(Self.restored))
    }
}

/// What the exit tests share.
private enum App {
    /// How many signals an app's own handler got.
    static let signals = Atomic(0)

    /// Shows a sheet.
    @discardableResult
    static func present(_ path: String) -> TerminalSheet {
        let sheet = TerminalSheet(path: path, usesColor: false)
        sheet.present(SheetContent(state: .ready, title: "", message: "First.", showsErrorSymbol: false)) {}
        return sheet
    }

    static let kept = Mutex<TerminalSheet?>(nil)
    static let terminals = Mutex<[Int32]>([])

    /// The open descriptors of a terminal.
    static func descriptors(of path: String) -> [Int32] {
        (0..<100).filter { unsafe ttyname($0).map { unsafe String(cString: $0) } == path }
    }

    /// Ends the process with 7 if every terminal takes a text, which is empty.
    static func endIfWritable() {
        let terminals = terminals.withLock { $0 }
        if !terminals.isEmpty, terminals.allSatisfy({ unsafe write($0, "", 0) == 0 }) { _exit(7) }
    }

    /// The pipe that has the number of a terminal when the sheet has left.
    static let successor = Mutex<DescriptorPipe?>(nil)

    /// Ends the process with 7 if nothing was written to the pipe.
    static func endIfNothingCame() {
        guard let pipe = successor.withLock({ $0 }) else { return }
        var poller = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&poller, 1, 0) == 0 { _exit(7) }
    }

    /// Ends the process at a crash: with 5 if the crash comes from the instruction, and not from a call of `raise`.
    static func handleCrash() {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_sigaction = { _, information, _ in
            let code = unsafe information?.pointee.si_code ?? 0
            _exit(code > 0 ? 5 : 1)
        }
        action.sa_flags = SA_SIGINFO
        _ = unsafe sigaction(SIGSEGV, &action, nil)
    }

    static func drawAgain() {
        let content = SheetContent(state: .scanning, title: "", message: "Again.", showsErrorSymbol: false)
        kept.withLock { $0 }?.present(content) {}
    }

    static func dismiss(_ sheet: TerminalSheet) {
        sheet.present(SheetContent(state: .dismissed, title: "", message: "First.", showsErrorSymbol: false)) {}
    }
}
