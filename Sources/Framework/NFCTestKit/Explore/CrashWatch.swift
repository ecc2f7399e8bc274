// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TagLink

/// Has the notes of the runs that go on written when the process crashes or exits.
@safe enum CrashWatch {
    private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE]
    /// How many explorations may go on beside each other.
    private static let limit = 64

    /// What a signal handler reads: memory that is made once and never freed.
    ///
    /// Sendable because its numbers are set one after the other, under a lock or once, and the handler only reads them.
    @safe private final class Table: @unchecked Sendable {
        /// What the signals did before, by their numbers.
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
    private static let lock = Locked(())

    /// Sets the handlers, once for the process.
    static func begin() { _ = isSet }

    private static let isSet: Bool = {
        // What the handler uses is made before it can be called.
        _ = table
        _ = CarriedPlace.scope
        for signal in signals {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_sigaction = { signal, info, context in
                unsafe CrashWatch.handle(signal, info, context)
            }
            // On the stack of its own that a thread may have: its usual one may be what has overflowed.
            action.sa_flags = SA_SIGINFO | SA_ONSTACK
            unsafe sigaction(signal, &action, table.previous + Int(signal))
        }
        let atExit: @convention(c) (Int32, UnsafeMutableRawPointer?) -> Void = { status, _ in
            // Tests that a run has ended are not passed, whatever it says.
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

    /// Writes the notes, and leaves the signal to what handled it before.
    ///
    /// That is not called from here: it relies on the stack and on the signals that are blocked, as the kernel sets them for it.
    private static func handle(
        _ signal: Int32,
        _ info: UnsafeMutablePointer<siginfo_t>?,
        _ context: UnsafeMutableRawPointer?
    ) {
        writeNotes()
        var previous = unsafe table.previous[Int(signal)]
        unsafe sigaction(signal, &previous, nil)
        // An instruction that failed is repeated when this returns, and fails again. Any other signal is sent once more: it is
        // blocked while its handler runs, and comes when this returns.
        let code = unsafe info?.pointee.si_code ?? 0
        let isRepeated = code > 0 && signal != SIGTRAP
        if !isRepeated { raise(signal) }
    }

    /// Writes the note of the run to which the thread belongs; where that is not known, those of all that go on.
    ///
    /// - Returns: whether there was one to write.
    @discardableResult
    private static func writeNotes() -> Bool {
        let own = CarriedPlace.scope?.environment.place.map { RunNote.number(of: $0) } ?? 0
        let count = table.count.load(ordering: .acquiring)
        var isKnown = false
        var goesOn = false
        for index in 0..<count {
            guard let note = unsafe table.notes[index]?.takeUnretainedValue(), note.place != 0 else { continue }
            goesOn = true
            if note.place == own { isKnown = true }
        }
        guard goesOn, !table.hasWritten.exchange(true, ordering: .relaxed) else { return false }
        for index in 0..<count {
            guard let note = unsafe table.notes[index]?.takeUnretainedValue(), note.place != 0 else { continue }
            if !isKnown || note.place == own { note.write() }
        }
        return true
    }
}
