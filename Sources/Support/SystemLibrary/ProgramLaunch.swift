// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How a program is started: with words of its own that no shell sees, every signal as it is at first, and no more of this
/// process than is named here.
public struct ProgramLaunch: Sendable {
    /// What becomes of the terminal and its signals.
    public enum Separation: Sendable {
        /// Ctrl-C in this process's terminal does not reach the program.
        case group
        /// The program has nothing to do with the terminal.
        case session
    }

    /// The program's absolute path.
    public var path: String
    /// Its words, its name first.
    public var arguments: [String]
    /// Its variables; nil for those of this process.
    public var environment: [String: String]?
    /// Where it runs; nil where this process does.
    public var folder: String?
    /// The descriptors that it has by their numbers, whatever numbers they have here; 0, 1 and 2 are /dev/null unless they are
    /// among them.
    public var descriptors: [Int32: Int32] = [:]
    /// Closes all descriptors beyond the named ones, those too that others have left open without a mark.
    public var closesOthers = false
    public var separation = Separation.group

    /// Creates a launch.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its words, its name first.
    public init(_ path: String, _ arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }

    /// Why a program could not be started.
    public struct Failure: Error {
        /// The number of the error.
        public var number: Int32
        /// What the system calls it.
        public var reason: String { unsafe String(cString: strerror(number)) }
    }

    /// Starts the program.
    ///
    /// - Returns: its number, for `waitpid`.
    /// - Throws: ``Failure``; of number `EINVAL` when a word or a variable has a zero byte.
    public func start() throws(Failure) -> Int32 {
        guard !hasZero else { throw Failure(number: EINVAL) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for number in Int32(0)...2 where descriptors[number] == nil {
            unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        let copies = try Copies(descriptors)
        defer { copies.close() }
        for (number, copy) in copies.byNumber { unsafe posix_spawn_file_actions_adddup2(&actions, copy, number) }
        if let folder,
            let change = unsafe Self.function("posix_spawn_file_actions_addchdir_np", as: ChangeFolder.self)
        {
            _ = unsafe change(&actions, folder)
        }
        if closesOthers,
            let close = unsafe Self.function("posix_spawn_file_actions_addclosefrom_np", as: CloseFrom.self)
        {
            let end = max(2, descriptors.keys.max() ?? 2) + 1
            for number in 3..<max(3, end) where descriptors[number] == nil {
                unsafe posix_spawn_file_actions_addclose(&actions, number)
            }
            _ = unsafe close(&actions, end)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // What this process ignores or holds back is its own affair.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let apart = separation == .session ? Self.newSession : POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | apart))
        let words = unsafe Words(arguments)
        let variables = unsafe environment.map { unsafe Words($0.map { "\($0)=\($1)" }) }
        var process: pid_t = 0
        var number: Int32 = 0
        for _ in 0..<Self.maximumTries {
            number = unsafe withExtendedLifetime((words, variables)) {
                unsafe posix_spawn(
                    &process,
                    path,
                    &actions,
                    &attributes,
                    words.pointers,
                    variables?.pointers ?? environ
                )
            }
            guard number == ETXTBSY else { break }
            usleep(10_000)
        }
        guard number == 0 else { throw Failure(number: number) }
        return process
    }

    /// How often a program is tried that somebody still writes, as it is for a moment after it was installed: each program that
    /// the writer starts meanwhile has the file open until it has begun.
    private static let maximumTries = 100

    /// Whether a word or a variable has a zero byte, behind which the program would see nothing of it.
    private var hasZero: Bool {
        let variables = (environment ?? [:]).flatMap { [$0.key, $0.value] }
        return ([path] + arguments + variables + [folder ?? ""]).contains { $0.utf8.contains(0) }
    }

    /// The descriptors to give, above all numbers that they get: none is overwritten before it is given.
    private struct Copies {
        var byNumber: [(number: Int32, copy: Int32)] = []

        init(_ descriptors: [Int32: Int32]) throws(Failure) {
            let first = max(2, descriptors.keys.max() ?? 2) + 1
            for (number, descriptor) in descriptors {
                // Closed in the program, which has them by their numbers alone.
                let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, first)
                guard copy >= 0 else {
                    let error = errno
                    close()
                    throw Failure(number: error)
                }
                byNumber.append((number, copy))
            }
        }

        func close() {
            for (_, copy) in byNumber { Glibc.close(copy) }
        }
    }

    private typealias ChangeFolder = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Int32
    private typealias CloseFrom = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32

    /// A function of the C library that its module leaves out; nil where the library is too old for it.
    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: type) }
    }

    /// `POSIX_SPAWN_SETSID`, which it leaves out too.
    private static let newSession: Int32 = 0x80

    /// Words as C has them.
    @unsafe private final class Words {
        let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        private let count: Int

        init(_ words: [String]) {
            unsafe count = words.count
            unsafe pointers = .allocate(capacity: words.count + 1)
            for (index, word) in words.enumerated() {
                unsafe (pointers + index).initialize(to: strdup(word))
            }
            unsafe (pointers + words.count).initialize(to: nil)
        }

        deinit {
            for index in unsafe 0..<count { unsafe free(pointers[index]) }
            unsafe pointers.deallocate()
        }
    }
}
