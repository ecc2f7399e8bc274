// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

@Suite("A process that ends in a run", .timeLimit(.minutes(10))) struct CrashTests {
    /// A sanitizer handles signals itself, reports them, and ends the process with its own exit status.
    static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

    /// What a process said on standard error.
    static func said(_ result: ExitTest.Result?) throws -> String {
        String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    }

    @Test(.ownThreads) func `Each way to end is seen, and the process ends as it would have`() async throws {
        for signal in [SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
            let said = try Self.said(
                await #expect(
                    processExitsWith: Self.isSanitized ? .failure : .signal(signal),
                    observing: [\.standardErrorContent]
                ) {
                    [signal = signal as Int32] in
                    try await explore(.losses, near: "NTAG215") { field in
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }
                        if signal == SIGABRT { abort() }
                        raise(signal)
                        // The signal is not handled and forgotten: nothing else happens in the process.
                        exit(1)
                    }
                }
            )
            #expect(said.contains("in this run: no fault, in the first run\n"), "\(said)")
        }
        let said = try Self.said(
            await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
                try await explore([.cancels], near: PlantedBug.link) { field in
                    do {
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    } catch {
                        exit(3)
                    }
                }
            }
        )
        #expect(said.contains("NFC_REPLAY=cancel@1\n"), "\(said)")
    }

    @Test(.ownThreads, .enabled(if: !isSanitized, "a sanitizer handles signals itself"))
    func `What the program does about a signal is done when the run is named`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .exitCode(7), observing: [\.standardErrorContent]) {
                signal(SIGABRT) { _ in _exit(7) }
                try await explore(.losses, near: "NTAG215") { field in
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }
                    abort()
                }
            }
        )
        #expect(said.contains("in this run: no fault, in the first run\n"), "\(said)")
    }

    @Test(.ownThreads) func `A process that a run ends with the status of success does not pass`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
                try await explore([.cancels], near: PlantedBug.link) { field in
                    do {
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    } catch {
                        exit(0)
                    }
                }
            }
        )
        #expect(said.contains("NFC_REPLAY=cancel@1\n"), "\(said)")
    }

    @Test(.ownThreads, .enabled(if: !isSanitized, "a sanitizer handles signals itself"), .timeLimit(.minutes(2)))
    func `A read of invalid memory is seen, and the process ends at once, with Swift's report`() async throws {
        let start = ContinuousClock.now
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
                try await explore(.losses, near: "NTAG215") { field in
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }
                    let noMemory = unsafe UnsafeMutablePointer<Int>(bitPattern: 16)
                    unsafe noMemory?.pointee = 1
                }
            }
        )
        #expect(said.contains("in this run: no fault, in the first run\n"), "\(said)")
        #expect(start.duration(to: .now) < .seconds(60))
    }

    @Test(.ownThreads, .enabled(if: !isSanitized, "a sanitizer handles signals itself"), .timeLimit(.minutes(2)))
    func `A stack that overflows is seen, in a task, in a delegate's method and in a thread of the app`() async throws {
        let inTask = try Self.said(
            await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: PlantedBug.link) { field in
                    do {
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    } catch {
                        overflow(0)
                    }
                }
            }
        )
        #expect(inTask.contains("NFC_REPLAY=cancel@1\n"), "\(inTask)")
        let inDelegate = try Self.said(
            await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: PlantedBug.link) { field in
                    _ = try await field.completion { LinkReader { _ in overflow(0) }.begin($0) }.get()
                }
            }
        )
        #expect(inDelegate.contains("no fault, in the first run\n"), "\(inDelegate)")
        let inThread = try Self.said(
            await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: PlantedBug.link) { field in
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    Thread { overflow(0) }.start()
                    while true { usleep(1000) }
                }
            }
        )
        #expect(inThread.contains("no fault, in the first run\n"), "\(inThread)")
    }

    @Test(.ownThreads) func `Of several explorations the one is named in whose run it ends`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                typealias Gate = `A session whose test nobody knows`.Gate
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
                        _ = try? await explore(.cancels, near: PlantedBug.link) { field in
                            do {
                                _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                            } catch {
                                abort()
                            }
                        }
                    }
                }
            }
        )
        #expect(said.contains("NFC_REPLAY=cancel@1\n"), "\(said)")
        #expect(!said.contains("in the first run"), "\(said)")
    }

    @Test(.ownThreads) func `The last sixty lines of the run are named, with all bytes that were sent and heard`()
        async throws
    {
        for extra in [0, 58, 70] {
            let said = try Self.said(
                await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                    [extra = extra as Int] in
                    try await explore(.cancels, near: PlantedBug.link) { field in
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                        // Until the sheet shows how it ended.
                        await field.settle()
                        for number in 0..<extra { field.note("extra \(number)") }
                        // What was sent and heard, for the test to compare with.
                        for (number, exchange) in field.exchanges.enumerated() {
                            func hex(_ bytes: [UInt8]) -> String {
                                bytes.map { String(format: " %02x", $0) }.joined()
                            }
                            let place = String(format: "%4d", number + 1)
                            OutputLine.write("expected:\(place) >\(hex(exchange.request.bytes))")
                            let answer = (try? exchange.answer?.get()).map { "     <\(hex($0.bytes))" }
                            OutputLine.write("expected:\(answer ?? "     < no answer")")
                        }
                        abort()
                    }
                }
            )
            let lines = said.split(separator: "\n").map(String.init)
            let start = try #require(lines.firstIndex { $0.hasPrefix("NFCTestKit: the process ends while ") })
            let named = lines[(start + 1)...].prefix { $0.hasPrefix(" ") }
            #expect(lines[start].hasSuffix("an exploration was in this run: no fault, in the first run"))
            let air = named.filter { $0.contains(" >") || $0.hasPrefix("     <") }
            let expected = lines.filter { $0.hasPrefix("expected:") }.map { String($0.dropFirst(9)) }
            #expect(expected.count > 10 && air.count == (extra == 70 ? 0 : air.count))
            #expect(air.elementsEqual(expected.suffix(air.count)), "\(air)\n\(expected.suffix(air.count))")
            #expect(named.count == 60 || extra == 0 && air.count == expected.count, "\(named.count)")
            let notes = named.filter { $0.hasPrefix("       extra ") }
            #expect(notes.elementsEqual((0..<extra).suffix(60).map { "       extra \($0)" }))
        }
    }

    @Test(.ownThreads) func `Of very long lines the last ones are named, each up to a kibibyte`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: PlantedBug.link) { field in
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    await field.settle()
                    let rest = String(repeating: "x", count: 2000)
                    for number in 0..<150 { field.note("extra \(number) \(rest)") }
                    abort()
                }
            }
        )
        let extras = said.split(separator: "\n").filter { $0.hasPrefix("       extra ") }
        let numbers = extras.compactMap { Int($0.dropFirst(13).prefix { $0 != " " }) }
        #expect((31...60).contains(numbers.count) && numbers.elementsEqual((0..<150).suffix(numbers.count)))
        #expect(extras.allSatisfy { $0.utf8.count == 7 + 1024 })
    }

    @Test(.ownThreads) func `Of a very long run the last exchanges are named with their numbers`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                let runs = Locked(0)
                try await explore(.replay("silence@1"), near: "NTAG213", invariants: []) { field in
                    try await field.virtual?.setCarrier(true)
                    guard let link = field.virtual?.link(for: .nfcA) else { return }
                    // REQA, more often than the process keeps in mind.
                    let request = Frame(bits: [0x26], validBitsInLastByte: 7)
                    for _ in 0..<9500 { _ = try? await link.transceive(request, timeout: .milliseconds(1)) }
                    let isFirst = runs.withLock { count in
                        count += 1
                        return count == 1
                    }
                    if !isFirst { abort() }
                }
            }
        )
        let requests = said.split(separator: "\n").filter { $0.hasSuffix(" > 26") }
        #expect(requests.map(String.init) == (9471...9500).map { "\($0) > 26" }, "\(said)")
    }

    @Test(.ownThreads) func `Of a very long line of faults the beginning is named`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                // The run has fewer exchanges than that.
                let line = (1000...1100).map { "nak@\($0)" }.joined(separator: "+")
                let runs = Locked(0)
                try await explore(.replay(FaultScript(line)), near: PlantedBug.link) { field in
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }
                    let isFirst = runs.withLock { count in
                        count += 1
                        return count == 1
                    }
                    if !isFirst { abort() }
                }
            }
        )
        let start = "NFCTestKit: the process ends while "
        let line = try #require(said.split(separator: "\n").first { $0.hasPrefix(start) })
        #expect(line.hasPrefix("\(start)an exploration was in this run: NFC_REPLAY=nak@1000+nak@1001+"), "\(said)")
        // What follows has a line of its own.
        #expect(line.utf8.count == start.utf8.count + 511)
    }

    @Test(.ownThreads) func `What fits in 64 KiB is kept, also when nothing is left of them`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                try await explore(.losses, near: "NTAG215") { field in
                    // With three bytes each beside the text.
                    for number in 0..<64 {
                        field.note("note \(number) ".padding(toLength: 1021, withPad: "x", startingAt: 0))
                    }
                    abort()
                }
            }
        )
        let notes = said.split(separator: "\n").filter { $0.hasPrefix("       note ") }
        #expect(notes.count == 60 && notes.first?.hasPrefix("       note 4 ") == true, "\(notes.count)")
    }

    @Test(.ownThreads) func `What is left of an earlier run adds nothing to what is said of this one`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                let earlier = Locked<TestField?>(nil)
                try await explore(.cancels, near: PlantedBug.link) { field in
                    _ = try? await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    let last = earlier.withLock { earlier in
                        defer { earlier = field }
                        return earlier
                    }
                    guard let last else { return }
                    last.note("of the earlier run")
                    field.note("of this run")
                    abort()
                }
            }
        )
        #expect(said.contains("NFC_REPLAY=cancel@1\n") && said.contains("       of this run\n"), "\(said)")
        #expect(!said.contains("of the earlier run"), "\(said)")
    }

    @Test(.ownThreads) func `Of a hundred explorations that ended before nothing is left`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                // Each makes one run, in which nothing can be tried.
                for _ in 0..<100 { _ = try? await explore(.losses, near: "NTAG215", invariants: []) { _ in } }
                try await explore(.cancels, near: PlantedBug.link) { field in
                    do {
                        _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                    } catch {
                        abort()
                    }
                }
            }
        )
        #expect(said.contains("NFC_REPLAY=cancel@1\n"), "\(said)")
    }

    @Test(.ownThreads) func `A process without standard error ends all the same`() async {
        await #expect(processExitsWith: Self.isSanitized ? .failure : .signal(SIGABRT)) {
            // One that goes on and on would be ended by another signal.
            alarm(300)
            try await explore(.losses, near: "NTAG215") { field in
                _ = try await field.completion { LinkReader(queue: .main).begin($0) }
                close(STDERR_FILENO)
                abort()
            }
        }
    }

    @Test(.ownThreads) func `What the process has printed before is written when its status is changed`() async throws {
        let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardOutputContent]) {
            try await explore([.cancels], near: PlantedBug.link) { field in
                do {
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                } catch {
                    print("The last words.")
                    exit(0)
                }
            }
        }
        let printed = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        #expect(printed.contains("The last words.\n"), "\(printed)")
    }

    @Test(.ownThreads) func `Outside of a run nothing is said`() async throws {
        let said = try Self.said(
            await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                try await explore(.cancels, near: PlantedBug.link) { field in
                    _ = try await field.completion { LinkReader(queue: .main).begin($0) }.get()
                }
                abort()
            }
        )
        #expect(!said.contains("NFCTestKit: the process ends"))
    }
}

/// Writes lines to standard error.
private enum OutputLine {
    static func write(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
}

/// Calls itself until the stack is used up.
@inline(never) private func overflow(_ depth: Int) {
    var numbers = InlineArray<512, Int>(repeating: depth)
    numbers[depth & 511] += 1
    if numbers[0] >= 0 { overflow(numbers[depth & 511]) }
    withExtendedLifetime(numbers) {}
}

@Suite(.timeLimit(.minutes(10))) struct `The line in NFC_REPLAY` {
    @Test(.ownThreads) func `Is the only run with faults; empty, it is as unset; and a stale one is refused`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            for (line, runs) in [("", 9), ("cancel@2", 2), ("loss@9999", nil)] as [(String, Int?)] {
                unsafe setenv("NFC_REPLAY", line, 1)
                do {
                    let report = try await explore(.noise(runs: 8), near: "ICODE SLIX2", seed: 1) { field in
                        try await SensorReader().scan(field)
                    }
                    guard report.runs == runs else { exit(1) }
                } catch let error as FieldError {
                    guard error.code == .badReplay, runs == nil else { exit(2) }
                }
            }
        }
    }
}
