// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Whether anything in the process can continue by itself.
///
/// Code under test uses tasks, queues and threads that nothing counts. So this asks the kernel. If every thread sleeps
/// at two checks in a row, and none has run in between, then all of them slept at the moment between the checks. Then
/// only time can wake them.
struct ProcessActivity {
    private var buffer = [UInt8](repeating: 0, count: 512)
    private let own: Int32

    /// Starts to check, from the calling thread.
    init() { own = Self.callerNumber }

    /// The kernel's number of the calling thread.
    static var callerNumber: Int32 {
        // Such as 17561/task/17563.
        var link = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/thread-self", &link, link.count)
        let name = link[..<max(count, 0)].split(separator: 0x2F).last ?? []
        return Int32(String(decoding: name.map(UInt8.init(bitPattern:)), as: UTF8.self)) ?? 0
    }

    /// Checks once whether every thread except the caller's sleeps.
    mutating func isAtRest(besides known: Set<Int32> = []) -> Bool {
        guard let first = restingOthers(besides: known) else { return false }
        return restingOthers(besides: known) == first
    }

    private mutating func restingOthers(besides known: Set<Int32>) -> [Int32: UInt64]? {
        let others = Self.numbers(in: "/proc/self/task").lazy.filter { [own] in $0 != own && !known.contains($0) }
        return timesRun(whileAllRest: others, alsoForATime: true)
    }

    /// How many times a thread was given a processor, if it waits now for something other than time. A thread that
    /// sleeps for a time counts as working.
    mutating func timesRunIfWaiting(_ thread: Int32) -> UInt64? {
        timesRun(whileAllRest: CollectionOfOne(thread), alsoForATime: false)?[thread]
    }

    /// How many times each thread was given a processor. Nil when one of them does not sleep; or when one of them
    /// sleeps for a time and that does not count as rest.
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

    /// The first number is that of the thread's system call. If the kernel does not report it, there is none.
    private mutating func sleepsForATime(_ thread: Int32) -> Bool {
        numbers(contents(of: "/proc/self/task/\(thread)/syscall")).first.map(Self.sleeps.contains) ?? false
    }

    /// `nanosleep` and `clock_nanosleep`.
    #if arch(arm64)
        private static let sleeps: [UInt64] = [101, 115]
    #else
        private static let sleeps: [UInt64] = [35, 230]
    #endif

    /// The state follows the name, which is in parentheses and may hold any character (proc(5)).
    private mutating func isAsleep(_ thread: Int32) -> Bool {
        let text = contents(of: "/proc/self/task/\(thread)/stat")
        // A thread that has ended meanwhile rests.
        guard !text.isEmpty else { return true }
        guard let end = text.lastIndex(of: UInt8(ascii: ")")), end + 2 < text.endIndex else { return false }
        return [UInt8(ascii: "S"), UInt8(ascii: "Z"), UInt8(ascii: "X")].contains(text[end + 2])
    }

    /// The third number of schedstat; 0 for a thread that has ended.
    private mutating func timesRun(_ thread: Int32) -> UInt64 {
        numbers(contents(of: "/proc/self/task/\(thread)/schedstat")).dropFirst(2).first ?? 0
    }

    /// The first three whole numbers in a text. The monitor asks for them all the time, so this makes no slices.
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

    /// The beginning of a file; empty when it can't be opened or read. A thread may end after its file was opened: then
    /// the read fails (ESRCH).
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

/// How long nothing has to happen, in real time, before a session's time limit may pass without the test's request.
struct IdleTimeout: Sendable {
    /// The duration.
    var duration: Duration
    /// Whether the grace is zero when all work is counted.
    var isNoneWhenCounted = false

    /// The factor for the duration when timers, sockets or other processes may still deliver something.
    private static let factor = 10

    /// After this time without events, nothing more will happen.
    var long: Duration { duration * Self.factor }

    /// The grace for the current work.
    func duration(after work: TestTracker.Work) -> Duration {
        // Another thread of the app is not counted, and may have been started a moment ago. A thread that the run
        // started may sleep for any time before it continues.
        if isNoneWhenCounted, !work.hasUncounted, !work.hasThreads, PoolThreads.othersSleep { return .zero }
        return work.hasSources || Self.hasChildren ? long : duration
    }

    /// How long nothing has to happen, with the current work, before a flow counts as one that never ends.
    ///
    /// A blocked queue is detected sooner: the code that could end its wait is counted, unless the test has started a
    /// thread, or another thread has called the test's code.
    func beforeEnd(after work: TestTracker.Work) -> Duration {
        guard work.waits.contains(where: { $0.end == nil }), !work.hasGuests, !work.hasThreads else { return long }
        return work.hasSources || Self.hasChildren ? long : duration
    }

    /// Whether the process has child processes that it has not waited for.
    static var hasChildren: Bool {
        var info = unsafe siginfo_t()
        return unsafe waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0
    }
}

/// The threads that run the work on queues. Their work for a test is counted; the work of other threads is not.
enum PoolThreads {
    private static let numbers = Locked<Set<Int32>>([])

    /// The thread-specific value is the thread's number. The kernel reuses the number after the thread has ended.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key) { number in
            let number = Int32(truncatingIfNeeded: UInt(bitPattern: number))
            _ = PoolThreads.numbers.withLock { $0.remove(number) }
        }
        return key
    }()

    /// Adds the calling thread.
    static func noteCaller() {
        guard unsafe pthread_getspecific(key) == nil else { return }
        let number = ProcessActivity.callerNumber
        numbers.withLock { _ = $0.insert(number) }
        unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(number)))
        SignalStack.setForCaller()
    }

    /// Whether every other thread of the process sleeps.
    static var othersSleep: Bool {
        var activity = ProcessActivity()
        return activity.isAtRest(besides: numbers.withLock { $0 })
    }
}
