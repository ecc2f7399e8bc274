// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Finds out whether anything in the process can continue before time passes.
///
/// Code under test may use tasks, queues and threads that are not tracked, so the kernel is asked. If every thread
/// sleeps at two checks in a row, and none has run in between, then all threads were asleep at the same moment, and
/// only time can wake them.
struct ProcessActivity {
    private var buffer = [UInt8](repeating: 0, count: 512)
    private let own: Int32

    /// Creates an object that checks all threads except the calling one.
    init() { own = Self.callerNumber }

    static var callerNumber: Int32 {
        // The link reads like `17561/task/17563`: process/task/thread.
        var link = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/thread-self", &link, link.count)
        let name = link[..<max(count, 0)].split(separator: 0x2F).last ?? []
        return Int32(String(decoding: name.map(UInt8.init(bitPattern:)), as: UTF8.self)) ?? 0
    }

    /// Returns whether every thread except the caller's and the `known` ones is asleep.
    mutating func isAtRest(besides known: Set<Int32> = []) -> Bool {
        guard let first = runCountsIfAllRest(besides: known) else { return false }
        return runCountsIfAllRest(besides: known) == first
    }

    private mutating func runCountsIfAllRest(besides known: Set<Int32>) -> [Int32: UInt64]? {
        let others = Self.numbers(in: "/proc/self/task").lazy.filter { [own] in $0 != own && !known.contains($0) }
        return timesRun(whileAllRest: others, alsoForATime: true)
    }

    /// Returns how many times the kernel has run a thread, if the thread is now waiting for something other than time.
    /// Otherwise, and for a thread that sleeps for a fixed time, returns nil.
    mutating func timesRunIfWaiting(_ thread: Int32) -> UInt64? {
        timesRun(whileAllRest: CollectionOfOne(thread), alsoForATime: false)?[thread]
    }

    /// Whether every one of these threads waits for a lock, a condition or another thread, without a time limit.
    mutating func areBlocked(_ threads: Set<Int32>) -> Bool {
        threads.allSatisfy { isAsleep($0) && waitsWithoutLimit($0) }
    }

    /// The file contains the system call's number and its arguments; the fourth one of `futex` is the time limit.
    private mutating func waitsWithoutLimit(_ thread: Int32) -> Bool {
        let words = contents(of: "/proc/self/task/\(thread)/syscall").split(separator: UInt8(ascii: " "))
        guard words.count > 4, let call = words.first else { return false }
        return String(decoding: call, as: UTF8.self) == Self.futex && String(decoding: words[4], as: UTF8.self) == "0x0"
    }

    /// Returns how many times the kernel has run each thread; nil when one of them is not at rest. A thread that sleeps
    /// for a fixed time is at rest only if `timeIsRest` is true.
    private mutating func timesRun(
        whileAllRest threads: some Sequence<Int32>,
        alsoForATime timeIsRest: Bool
    ) -> [Int32: UInt64]? {
        var counts: [Int32: UInt64] = [:]
        for thread in threads {
            let before = timesRun(thread)
            guard isAsleep(thread), timeIsRest || !sleepsForATime(thread) else { return nil }
            counts[thread] = before
        }
        return counts
    }

    /// The file begins with the number of the thread's system call, or contains no number if the kernel hides it.
    private mutating func sleepsForATime(_ thread: Int32) -> Bool {
        numbers(contents(of: "/proc/self/task/\(thread)/syscall")).first.map(Self.sleeps.contains) ?? false
    }

    /// The system call numbers of `nanosleep` and `clock_nanosleep`.
    #if arch(arm64)
        private static let sleeps: [UInt64] = [101, 115]
        private static let futex = "98"
    #else
        private static let sleeps: [UInt64] = [35, 230]
        private static let futex = "202"
    #endif

    /// The thread's state follows its name, which is in parentheses and may contain any character (proc(5)).
    private mutating func isAsleep(_ thread: Int32) -> Bool {
        let text = contents(of: "/proc/self/task/\(thread)/stat")
        // A thread that has ended meanwhile counts as asleep.
        guard !text.isEmpty else { return true }
        guard let end = text.lastIndex(of: UInt8(ascii: ")")), end + 2 < text.endIndex else { return false }
        return [UInt8(ascii: "S"), UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(text[end + 2])
    }

    /// Returns how many times the kernel has run a thread (the third number of schedstat); 0 for an ended thread.
    private mutating func timesRun(_ thread: Int32) -> UInt64 {
        numbers(contents(of: "/proc/self/task/\(thread)/schedstat")).dropFirst(2).first ?? 0
    }

    /// Returns the first three whole numbers in a text. Creates no slices, because the monitor calls this very often.
    private func numbers(_ text: ArraySlice<UInt8>) -> [UInt64] {
        var numbers: [UInt64] = []
        var number: UInt64?
        for byte in text {
            if byte >= 0x30, byte <= 0x39 {
                number = (number ?? 0) &* 10 &+ UInt64(byte &- 0x30)
            } else if let whole = number {
                numbers.append(whole)
                if numbers.count == 3 { return numbers }
                number = nil
            }
        }
        if let number { numbers.append(number) }
        return numbers
    }

    /// Returns the beginning of a file; empty when it can't be opened or read. If a thread ends after its file was
    /// opened, the read fails (ESRCH).
    mutating func contents(of path: String) -> ArraySlice<UInt8> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return buffer[..<max(count, 0)]
    }

    private static func numbers(in path: String) -> [Int32] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var numbers: [Int32] = []
        while let entry = unsafe readdir(directory) {
            let number = unsafe strtol(&entry.pointee.d_name.0, nil, 10)
            if number > 0 { numbers.append(Int32(truncatingIfNeeded: number)) }
        }
        return numbers
    }
}

/// How long a test has to be idle, in real time, before a session's time limit may pass without the test's request.
struct IdleTimeout: Sendable {
    var duration: Duration
    var isZeroWhenTracked = false

    /// The factor by which the grace is longer when timers, sockets or other processes may still cause events.
    private static let factor = 10
    /// The factor by which it is longer before the end of a flow when they can't.
    private static let trackedFactor = 3

    /// The idle time after which no more events are expected from any source.
    var long: Duration { duration * Self.factor }

    func duration(after work: TestTracker.Work) -> Duration {
        // Other threads of the app are not tracked, and may have been started just now. A thread that the run has
        // started may sleep for any time before it continues, unless it is blocked.
        if isZeroWhenTracked, !work.hasUntracked, !work.hasLibraryThreads, work.areThreadsBlocked,
            PoolThreads.areOthersAsleep
        {
            return .zero
        }
        return work.hasSources || Self.hasChildren ? long : duration
    }

    /// How long a test has to be idle, with the current work, before its flow is considered endless.
    ///
    /// A blocked queue is detected sooner, because all code that could end its wait is tracked, unless the test has
    /// started a thread, or another thread has called the test's code.
    func beforeEnd(after work: TestTracker.Work) -> Duration {
        guard !work.hasUntracked, !work.hasThreads, !Self.hasChildren else { return long }
        return work.waits.contains { $0.end == nil } ? duration : duration * Self.trackedFactor
    }

    /// Whether the process has child processes that it has not waited for.
    static var hasChildren: Bool {
        var info = unsafe siginfo_t()
        return unsafe waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
    }
}

/// The threads that run queued work. Their work for a test is tracked, unlike the work of other threads.
enum PoolThreads {
    private static let numbers = Locked<Set<Int32>>([])

    /// The key of a thread-specific value: the thread's ID. The kernel reuses the ID after the thread has ended.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key) { number in
            let number = Int32(truncatingIfNeeded: UInt(bitPattern: number))
            _ = PoolThreads.numbers.withLock { $0.remove(number) }
        }
        return key
    }()

    /// Adds the calling thread, and returns its ID.
    @discardableResult static func noteCaller() -> Int32 {
        if let known = unsafe pthread_getspecific(key) { return Int32(truncatingIfNeeded: UInt(bitPattern: known)) }
        let number = ProcessActivity.callerNumber
        numbers.withLock { _ = $0.insert(number) }
        unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(number)))
        SignalStack.setForCaller()
        return number
    }

    static var areOthersAsleep: Bool {
        var activity = ProcessActivity()
        return activity.isAtRest(besides: numbers.withLock { $0 })
    }
}
