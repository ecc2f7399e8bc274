// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import TestThreads
import Testing

/// A process that ends in a run: its run is on standard error, and the process ends as it would have.
@Suite(.timeLimit(.minutes(10))) struct CrashTests {
    private static let firstRun = "in this run: no fault, in the first run\n"

    /// Reads in a run of cancels; the first run is done, and the next one fails.
    @Sendable private static func exploreCancels(_ end: @escaping @Sendable () -> Void) async throws {
        try await explore(.cancels, near: linkTag) { field in
            do { _ = try await LinkReader.run(field) } catch { end() }
        }
    }

    @Test(.ownThreads, arguments: [SIGSEGV, SIGBUS, SIGABRT, SIGFPE])
    func `signal in a run: names the run, and the process ends by the signal`(signal: Int32) async throws {
        let said = try said(
            await #expect(
                processExitsWith: isSanitized ? .failure : .signal(signal),
                observing: [\.standardErrorContent]
            ) { [signal = signal as Int32] in
                try await explore(.losses, near: "NTAG215") { field in
                    _ = try? await LinkReader.run(field)
                    if signal == SIGABRT { abort() }
                    raise(signal)
                    // The signal is not handled and forgotten: nothing else happens in the process.
                    exit(1)
                }
            }
        )
        #expect(said.contains(Self.firstRun), "\(said)")
    }

    @Test(.ownThreads, arguments: [(3, 3), (0, 1)] as [(Int32, Int32)])
    func `exit in a run: names the run, and success becomes a failure`(status: Int32, exitCode: Int32) async throws {
        let result = await #expect(
            processExitsWith: .exitCode(exitCode),
            observing: [\.standardErrorContent, \.standardOutputContent]
        ) { [status = status as Int32] in
            try await Self.exploreCancels {
                print("The last words.")
                exit(status)
            }
        }
        #expect(try said(result).contains("NFC_REPLAY=cancel@1\n"))
        let printed = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        #expect(printed.contains("The last words.\n"), "\(printed)")
    }

    @Test(.ownThreads, .enabled(if: !isSanitized, "a sanitizer handles signals itself"))
    func `program's own signal handler: still runs`() async throws {
        let said = try said(
            await #expect(processExitsWith: .exitCode(7), observing: [\.standardErrorContent]) {
                signal(SIGABRT) { _ in _exit(7) }
                try await explore(.losses, near: "NTAG215") { _ in abort() }
            }
        )
        #expect(said.contains(Self.firstRun), "\(said)")
    }

    @Test(
        .ownThreads,
        .enabled(if: !isSanitized, "a sanitizer handles signals itself"),
        .timeLimit(.minutes(2)),
        arguments: ["memory", "task", "delegate", "thread"]
    ) func `invalid memory, or stack overflow in a task, a delegate or a thread: names the run`(place: String)
        async throws
    {
        let said = try said(
            await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
                [place = place as String] in
                try await explore(.cancels, near: linkTag) { field in
                    switch place {
                    case "memory":
                        let noMemory = unsafe UnsafeMutablePointer<Int>(bitPattern: 16)
                        unsafe noMemory?.pointee = 1
                    case "task":
                        _ = try await LinkReader.run(field)
                        overflow(0)
                    case "delegate": _ = try await field.completion { LinkReader { _ in overflow(0) }.begin($0) }.get()
                    default:
                        Thread { overflow(0) }.start()
                        while true { usleep(1000) }
                    }
                }
            }
        )
        #expect(said.contains(Self.firstRun), "\(said)")
    }

    @Test(.ownThreads) func `crash in one of several explorations: only its own run is named`() async throws {
        let said = try said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                let isInRun = Gate()
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try? await explore(.losses, near: "NTAG215", grace: .seconds(60)) { field in
                            isInRun.open()
                            let _: Int = try await field.completion("never") { _ in }
                        }
                    }
                    group.addTask {
                        await isInRun.pass()
                        try? await Self.exploreCancels { abort() }
                    }
                }
            }
        )
        #expect(said.contains("NFC_REPLAY=cancel@1\n") && !said.contains("in the first run"), "\(said)")
    }

    @Test(.ownThreads) func `crash: the last sixty lines of the run are on standard error`() async throws {
        let said = try said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: linkTag) { field in
                    _ = try await LinkReader.run(field)
                    // Until the sheet shows how it ended.
                    await field.settle()
                    for number in 0..<55 { field.note("note \(number)") }
                    abort()
                }
            }
        )
        let lines = said.split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix("NFCTestKit: the process ends while ") })
        let named = lines[(start + 1)...].prefix { $0.hasPrefix(" ") }
        #expect(named.count == 60, "\(said)")
        #expect(named.suffix(55).elementsEqual((0..<55).map { "       note \($0)" }), "\(said)")
    }

    @Test(.ownThreads) func `crash outside of a run: names no run`() async throws {
        let said = try said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: linkTag) { _ = try await LinkReader.run($0) }
                abort()
            }
        )
        #expect(!said.contains("NFCTestKit: the process ends"))
    }
}

/// Calls itself until the stack is used up.
@inline(never) private func overflow(_ depth: Int) {
    var numbers = InlineArray<512, Int>(repeating: depth)
    numbers[depth & 511] += 1
    if numbers[0] >= 0 { overflow(numbers[depth & 511]) }
    withExtendedLifetime(numbers) {}
}
