// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TagLink
import TagTrace

/// Writes the replay notes of the active runs when the process crashes or exits.
@safe enum CrashWatch {
    private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE]
    /// How many explorations may run at the same time.
    private static let limit = 64

    /// The data that a signal handler reads. The memory is allocated once and never freed.
    ///
    /// Sendable because each value is set once, or under a lock, and the handler only reads the values.
    @safe private final class Table: @unchecked Sendable {
        let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 64)
        let notes = UnsafeMutablePointer<Unmanaged<RunNote>?>.allocate(capacity: limit)
        let count = Atomic(0)
        let hasWritten = Atomic(false)

        init() {
            unsafe previous.initialize(repeating: sigaction(), count: 64)
            unsafe notes.initialize(repeating: nil, count: limit)
        }
    }

    private static let table = Table()
    private static let lock = Locked()

    /// Installs the handlers, once for each process.
    static func begin() { _ = isSet }

    private static let isSet: Bool = {
        // The handler's data must exist before the handler can be called.
        _ = table
        _ = CurrentTest.scope
        for signal in signals {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_sigaction = { signal, info, context in
                unsafe CrashWatch.handle(signal, info, context)
            }
            // Uses the thread's alternate stack, if available, because the normal stack may have overflowed.
            action.sa_flags = SA_SIGINFO | SA_ONSTACK
            unsafe sigaction(signal, &action, table.previous + Int(signal))
        }
        let atExit: @convention(c) (Int32, UnsafeMutableRawPointer?) -> Void = { status, _ in
            // A process that exits during a run must not pass, even if the code under test exits with status 0.
            guard CrashWatch.writeNotes(), status == 0 else { return }
            fflush(nil)
            _exit(1)
        }
        unsafe on_exit(atExit, nil)
        return true
    }()

    /// Adds a note, which is never freed.
    static func add(_ note: RunNote) {
        lock.withLock { _ in
            let count = table.count.load(ordering: .relaxed)
            guard count < limit else { return }
            unsafe table.notes[count] = Unmanaged.passRetained(note)
            table.count.store(count + 1, ordering: .releasing)
        }
    }

    /// Writes the notes. Then the previous handler receives the signal.
    ///
    /// The previous handler is not called directly, because it relies on the stack and the blocked signals as the
    /// kernel sets them.
    private static func handle(
        _ signal: Int32,
        _ info: UnsafeMutablePointer<siginfo_t>?,
        _ context: UnsafeMutableRawPointer?
    ) {
        writeNotes()
        var previous = unsafe table.previous[Int(signal)]
        unsafe sigaction(signal, &previous, nil)
        // After this function returns, a faulty instruction runs again and fails again. Any other signal is raised
        // again here; it stays blocked until this function returns.
        let code = unsafe info?.pointee.si_code ?? 0
        let isRepeated = code > 0 && signal != SIGTRAP
        if !isRepeated { raise(signal) }
    }

    /// Writes the note of the calling thread's run; if that run is not known, the notes of all active runs.
    ///
    /// - Returns: false when no run is active, or the notes were already written.
    @discardableResult
    private static func writeNotes() -> Bool {
        let own = CurrentTest.scope?.environment.testContext.map { RunNote.number(of: $0) } ?? 0
        let count = table.count.load(ordering: .acquiring)
        var hasOwnNote = false
        var isActive = false
        for index in 0..<count {
            guard let note = unsafe table.notes[index]?.takeUnretainedValue(), note.tracker != 0 else { continue }
            isActive = true
            if note.tracker == own { hasOwnNote = true }
        }
        guard isActive, !table.hasWritten.exchange(true, ordering: .relaxed) else { return false }
        for index in 0..<count {
            guard let note = unsafe table.notes[index]?.takeUnretainedValue(), note.tracker != 0 else { continue }
            if !hasOwnNote || note.tracker == own { note.write() }
        }
        return true
    }
}

/// The text that the process writes if it ends during a run: the line that replays the run, and the run's last events.
///
/// The text is kept in memory that is never freed, so that a signal handler only has to write it.
///
/// Sendable because the field's lock guards all changes. A signal handler reads the text after the test has stopped.
@safe final class RunNote: @unchecked Sendable {
    private static let capacity = 1 << 16
    /// The number of lines to write, counted from the end.
    private static let shownCount = 60
    private static let unused = Locked<[RunNote]>([])

    private let text = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    private var count = 0
    /// The length of the first line, which replays the run.
    private var headCount = 0
    private var exchanges = 0
    /// The address of the field's ``TestTracker``; 0 while no run is active.
    private(set) var tracker: UInt = 0

    private init() {}

    /// Returns a note for an exploration, which must later call ``giveBack()``. Notes are reused and never freed.
    static func take() -> RunNote {
        CrashWatch.begin()
        if let note = unused.withLock({ $0.popLast() }) { return note }
        let note = RunNote()
        CrashWatch.add(note)
        return note
    }

    func giveBack() {
        end()
        Self.unused.withLock { $0.append(self) }
    }

    func begin(_ script: FaultScript?, in tracker: TestTracker) {
        (count, headCount, exchanges) = (0, 0, 0)
        add("an exploration was in this run: \(script.map { "NFC_REPLAY=\($0)" } ?? "no fault, in the first run")")
        headCount = count
        self.tracker = Self.number(of: tracker)
    }

    func end() { tracker = 0 }

    static func number(of tracker: AnyObject) -> UInt {
        UInt(bitPattern: unsafe Unmanaged.passUnretained(tracker).toOpaque())
    }

    func add(_ event: Trace.Event) {
        guard tracker != 0 else { return }
        switch event {
        case .exchange(let exchange):
            exchanges += 1
            let number = String(exchanges)
            let space = String(repeating: " ", count: max(0, 4 - number.utf8.count))
            add("\(space)\(number) > \(exchange.request.bytes.hexText(separator: " "))")
            let answer = (try? exchange.answer?.get())?.bytes.hexText(separator: " ")
            add("     < \(answer ?? "no answer")")
        case .note(let text): add("       \(text)")
        default: break
        }
    }

    private func add(_ line: String) {
        let line = line.utf8.prefix(3072)
        if count + line.count + 1 > Self.capacity { removeOldLines() }
        for byte in line {
            unsafe text[count] = byte
            count += 1
        }
        unsafe text[count] = UInt8(ascii: "\n")
        count += 1
    }

    /// Removes the lines in the first half of the memory, except for the first line.
    private func removeOldLines() {
        var start = Self.capacity / 2
        while start < count, unsafe text[start - 1] != UInt8(ascii: "\n") { start += 1 }
        unsafe memmove(text + headCount, text + start, count - start)
        count -= start - headCount
    }

    /// Writes the note to standard error. Safe in a signal handler, because it allocates no memory and takes no lock.
    func write() {
        var start = count
        var lines = 0
        while start > headCount {
            if unsafe text[start - 1] == UInt8(ascii: "\n") { lines += 1 }
            if lines > Self.shownCount { break }
            start -= 1
        }
        let beginning: StaticString = "NFCTestKit: the process ends while "
        unsafe Self.write(beginning.utf8Start, beginning.utf8CodeUnitCount)
        unsafe Self.write(text, headCount)
        unsafe Self.write(text + start, count - start)
    }

    private static func write(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        var offset = 0
        while offset < count {
            let written = unsafe Glibc.write(STDERR_FILENO, bytes + offset, count - offset)
            if written <= 0 { return }
            offset += written
        }
    }
}

/// An alternate stack for a thread's signal handlers, which can't run on the thread's own stack after an overflow.
@safe enum SignalStack {
    /// The size in bytes. The handler of Swift's runtime uses about 10,000 bytes.
    private static let size = 65_536

    /// The key of the thread-specific value, which is the stack's memory. The memory is freed when the thread ends.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key) { memory in
            var none = unsafe stack_t()
            unsafe none.ss_flags = Int32(SS_DISABLE)
            unsafe sigaltstack(&none, nil)
            unsafe munmap(memory, SignalStack.size)
        }
        return key
    }()

    /// Gives the calling thread an alternate stack, unless it already has one.
    static func setForCaller() {
        var stack = unsafe stack_t()
        unsafe sigaltstack(nil, &stack)
        guard unsafe stack.ss_flags & Int32(SS_DISABLE) != 0 else { return }
        let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { return }
        unsafe stack.ss_flags = 0
        unsafe stack.ss_sp = memory
        unsafe stack.ss_size = size
        guard unsafe sigaltstack(&stack, nil) == 0 else {
            unsafe munmap(memory, size)
            return
        }
        unsafe pthread_setspecific(key, memory)
    }
}
