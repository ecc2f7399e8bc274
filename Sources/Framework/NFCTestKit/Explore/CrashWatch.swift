// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TagLink
import TagTrace

/// Writes the notes of the active runs when the process crashes or exits.
@safe enum CrashWatch {
    private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE]
    /// How many explorations may run at the same time.
    private static let limit = 64

    /// The data that a signal handler reads: memory that is allocated once and never freed.
    ///
    /// Sendable because its values are set once or under a lock, one after the other, and the handler only reads them.
    @safe private final class Table: @unchecked Sendable {
        /// The previous action of each signal, by its number.
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
        // Creates everything that the handler uses before the handler can be called.
        _ = table
        _ = CurrentTest.scope
        for signal in signals {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_sigaction = { signal, info, context in
                unsafe CrashWatch.handle(signal, info, context)
            }
            // Uses the thread's alternate stack, if it has one: the usual stack may have overflowed.
            action.sa_flags = SA_SIGINFO | SA_ONSTACK
            unsafe sigaction(signal, &action, table.previous + Int(signal))
        }
        let atExit: @convention(c) (Int32, UnsafeMutableRawPointer?) -> Void = { status, _ in
            // A process that ends in the middle of a run must not pass, whatever exit status the code under test gave.
            guard CrashWatch.writeNotes(), status == 0 else { return }
            fflush(nil)
            _exit(1)
        }
        unsafe on_exit(atExit, nil)
        return true
    }()

    /// Adds a note. It is never freed.
    static func add(_ note: RunNote) {
        lock.withLock { _ in
            let count = table.count.load(ordering: .relaxed)
            guard count < limit else { return }
            unsafe table.notes[count] = Unmanaged.passRetained(note)
            table.count.store(count + 1, ordering: .releasing)
        }
    }

    /// Writes the notes, and then has the signal handled as before.
    ///
    /// It does not call the previous handler directly, because that handler relies on the stack and the blocked signals
    /// as the kernel sets them.
    private static func handle(
        _ signal: Int32,
        _ info: UnsafeMutablePointer<siginfo_t>?,
        _ context: UnsafeMutableRawPointer?
    ) {
        writeNotes()
        var previous = unsafe table.previous[Int(signal)]
        unsafe sigaction(signal, &previous, nil)
        // When this returns, an instruction that failed is repeated, and fails again. Any other signal is sent once
        // more: it is blocked while its handler runs, and arrives when this returns.
        let code = unsafe info?.pointee.si_code ?? 0
        let isRepeated = code > 0 && signal != SIGTRAP
        if !isRepeated { raise(signal) }
    }

    /// Writes the note of the run that the thread belongs to; if that is not known, the notes of all active runs.
    ///
    /// - Returns: whether there was a note to write.
    @discardableResult
    private static func writeNotes() -> Bool {
        let own = CurrentTest.scope?.environment.testContext.map { RunNote.number(of: $0) } ?? 0
        let count = table.count.load(ordering: .acquiring)
        var isKnown = false
        var continues = false
        for index in 0..<count {
            guard let note = unsafe table.notes[index]?.takeUnretainedValue(), note.place != 0 else { continue }
            continues = true
            if note.place == own { isKnown = true }
        }
        guard continues, !table.hasWritten.exchange(true, ordering: .relaxed) else { return false }
        for index in 0..<count {
            guard let note = unsafe table.notes[index]?.takeUnretainedValue(), note.place != 0 else { continue }
            if !isKnown || note.place == own { note.write() }
        }
        return true
    }
}

/// What the process writes when it ends in the middle of a run: the line that replays the run, and the run's last
/// events.
///
/// The text is prepared in memory that is never freed, so that a signal handler only has to write it.
///
/// Sendable because the field's lock guards all changes. A signal handler reads it when nothing else runs.
@safe final class RunNote: @unchecked Sendable {
    private static let capacity = 1 << 16
    /// The number of last lines that are written.
    private static let shownCount = 60
    private static let unused = Locked<[RunNote]>([])

    private let text = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    private var count = 0
    /// The length of the first line, which replays the run.
    private var headCount = 0
    private var exchanges = 0
    /// The address of the field's place; 0 while no run is active.
    private(set) var place: UInt = 0

    private init() {}

    /// Takes a note for an exploration, which has to give it back. The note keeps its memory.
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

    /// Begins a run.
    func begin(_ script: FaultScript?, in place: TestTracker) {
        (count, headCount, exchanges) = (0, 0, 0)
        add("an exploration was in this run: \(script.map { "NFC_REPLAY=\($0)" } ?? "no fault, in the first run")")
        headCount = count
        self.place = Self.number(of: place)
    }

    func end() { place = 0 }

    static func number(of place: AnyObject) -> UInt {
        UInt(bitPattern: unsafe Unmanaged.passUnretained(place).toOpaque())
    }

    func add(_ event: Trace.Event) {
        guard place != 0 else { return }
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

    /// Removes the lines in the first half, except for the head.
    private func removeOldLines() {
        var start = Self.capacity / 2
        while start < count, unsafe text[start - 1] != UInt8(ascii: "\n") { start += 1 }
        unsafe memmove(text + headCount, text + start, count - start)
        count -= start - headCount
    }

    /// Writes the note to standard error. Safe in a signal handler: it allocates no memory and takes no lock.
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

/// The stack on which a thread's signal handlers run. A handler can't run on the thread's own stack after an overflow.
@safe enum SignalStack {
    /// In bytes. The handler of Swift's runtime uses about 10,000.
    private static let size = 65_536

    /// The thread-specific value is the stack's memory, which is freed when the thread ends.
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

    /// Gives the calling thread such a stack, if it has none.
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
