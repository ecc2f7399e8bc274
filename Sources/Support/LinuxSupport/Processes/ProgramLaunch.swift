// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Glibc

/// Starts a program with given arguments, without a shell. The program has default signal handling and inherits only
/// the listed descriptors, not even those that other code opened without close-on-exec (from glibc 2.34 on).
package struct ProgramLaunch: Sendable {
    /// The relation of the program to the terminal.
    package enum Separation: Sendable {
        /// Its own process group: Ctrl-C in this process's terminal does not reach the program.
        case group
        /// Its own session: the program has no terminal.
        case session
    }

    /// The program's absolute path.
    package var path: String
    /// Its arguments, starting with its name.
    package var arguments: [String]
    /// Its environment variables; nil for those of this process.
    package var environment: [String: String]?
    /// Its current folder; nil for that of this process.
    package var folder: String?
    /// The descriptors of the program: its number there, and the descriptor in this process. 0, 1 and 2 are /dev/null
    /// unless they are listed.
    package var descriptors: [Int32: Int32] = [:]
    package var separation = Separation.group

    /// Creates a launch.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its arguments, starting with its name.
    package init(_ path: String, _ arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }

    /// Why a program could not be started.
    package struct Failure: Error {
        /// The error number.
        package var number: Int32
        /// The system's text for the error.
        package var reason: String { unsafe String(cString: strerror(number)) }
    }

    /// Starts the program.
    ///
    /// - Returns: its process number, for `waitpid`.
    /// - Throws: ``Failure``, with number `EINVAL` when an argument or a variable contains a zero byte.
    package func start() throws(Failure) -> Int32 {
        guard !hasZero else { throw Failure(number: EINVAL) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for number in Int32(0)...2 where descriptors[number] == nil {
            unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        // The first number above all that the program gets.
        let end = descriptors.keys.reduce(2, max) + 1
        let copies = try Copies(descriptors, from: end)
        defer { copies.close() }
        for (number, copy) in copies.byNumber { unsafe posix_spawn_file_actions_adddup2(&actions, copy, number) }
        if let folder { _ = unsafe ocn_spawn_change_folder(&actions, folder) }
        for number in 3..<end where descriptors[number] == nil {
            unsafe posix_spawn_file_actions_addclose(&actions, number)
        }
        _ = unsafe ocn_spawn_close_from(&actions, end)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The program does not inherit the signals that this process ignores or blocks.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        unsafe sigfillset(&all)
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

    /// How often to try a program that is still open for writing. That happens just after it was installed: each
    /// program that the installing process starts keeps the file open for a moment.
    private static let maximumTries = 100

    /// Whether an argument or a variable has a zero byte. The program would not see anything after it.
    private var hasZero: Bool {
        let variables = (environment ?? [:]).flatMap { [$0.key, $0.value] }
        return ([path] + arguments + variables + [folder ?? ""]).contains { $0.utf8.contains(0) }
    }

    /// Copies of the descriptors, with numbers above all numbers in the program. So none is overwritten before it is
    /// passed on.
    private struct Copies {
        var byNumber: [(number: Int32, copy: Int32)] = []

        init(_ descriptors: [Int32: Int32], from first: Int32) throws(Failure) {
            for (number, descriptor) in descriptors {
                // Closed in the program, which only needs them by their final numbers.
                let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, first)
                guard copy != -1 else {
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

    /// `POSIX_SPAWN_SETSID`, which the Glibc module does not export.
    private static let newSession: Int32 = 0x80

    /// An array of C strings.
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
