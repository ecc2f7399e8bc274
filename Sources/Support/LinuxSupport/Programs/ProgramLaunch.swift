// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Foundation
import Glibc

/// Starts a program with given arguments, without a shell. The program has default signal handling. It inherits only
/// the listed descriptors, not even those opened without close-on-exec (from glibc 2.34 on).
package struct ProgramLaunch: Sendable {
    /// How the program is separated from this process's terminal.
    package enum Separation: Sendable {
        /// Its own process group: Ctrl-C in the terminal does not reach the program.
        case group
        /// Its own session: the program has no terminal.
        case session
    }

    package var path: String
    /// The program's arguments, starting with its name.
    package var arguments: [String]
    /// The program's environment variables; nil for those of this process.
    package var environment: [String: String]?
    /// The program's current folder; nil for that of this process.
    package var folder: String?
    /// The descriptors that the program inherits. The key is the number in the program, the value the number in this
    /// process. Unless listed, 0, 1 and 2 are /dev/null.
    package var descriptors: [Int32: Int32] = [:]
    package var separation = Separation.group

    package init(_ path: String, _ arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }

    package struct Failure: Error {
        package var number: Int32
        /// The system's text for the error.
        package var reason: String { unsafe String(cString: strerror(number)) }
    }

    /// Starts the program. Returns its process number, for `waitpid`. Throws ``Failure``, with number `EINVAL` when an
    /// argument or a variable contains a zero byte.
    package func start() throws(Failure) -> Int32 {
        let variables = environment.map { $0.map { "\($0)=\($1)" } }
        // The program would see only the part before a zero byte.
        let texts = [path, folder ?? ""] + arguments + (variables ?? [])
        guard !texts.contains(where: { $0.utf8.contains(0) }) else { throw Failure(number: EINVAL) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for number in Int32(0)...2 where descriptors[number] == nil {
            unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        // Each descriptor is first copied to a number above all numbers in the program, so that no descriptor is
        // overwritten before it is copied to its final number.
        let end = descriptors.keys.reduce(2, max) + 1
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        for (number, descriptor) in descriptors {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, end)
            guard copy != -1 else { throw Failure(number: errno) }
            copies.append(copy)
            unsafe posix_spawn_file_actions_adddup2(&actions, copy, number)
        }
        if let folder { _ = unsafe ocn_spawn_change_folder(&actions, folder) }
        for number in 3..<end where descriptors[number] == nil {
            unsafe posix_spawn_file_actions_addclose(&actions, number)
        }
        _ = unsafe ocn_spawn_close_from(&actions, end)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Resets signal handling, so that the program does not inherit the signals that this process ignores or blocks.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let newGroup = separation == .session ? Self.newSession : POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | newGroup))
        var process: pid_t = 0
        var number: Int32 = 0
        // A program that was just installed may still be open for writing for a moment. Each program that the
        // installing process is starting inherits the open file.
        for _ in 0..<100 {
            number = unsafe Self.withPointers(arguments) { words in
                unsafe Self.withPointers(variables ?? []) { named in
                    let variables = unsafe variables == nil ? environ : named
                    return unsafe posix_spawn(&process, path, &actions, &attributes, words, variables)
                }
            }
            guard number == ETXTBSY else { break }
            usleep(10_000)
        }
        guard number == 0 else { throw Failure(number: number) }
        return process
    }

    /// `POSIX_SPAWN_SETSID`, which the Glibc module does not export.
    private static let newSession: Int32 = 0x80

    /// Calls a function with an array of C strings that ends with nil.
    private static func withPointers(
        _ texts: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return EINVAL }
            return unsafe body(start)
        }
    }
}

package enum ProgramPath {
    /// Finds the first program with a name in a list of folders, by default those of `PATH`. Relative folders are ignored.
    /// A name with a slash is the program's path.
    package static func find(_ name: String, in folders: String? = nil) -> String? {
        guard !name.contains("/") else { return isProgram(name) ? name : nil }
        let folders = folders ?? ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first(
            where: isProgram
        )
    }

    /// Returns whether a path leads to a file that this user may run.
    package static func isProgram(_ path: String) -> Bool {
        guard let status = FileStatus.ofTarget(path), FileKind(status) == .regular else { return false }
        return unsafe access(path, X_OK) == 0
    }

    /// The path of the running program; nil when the system does not report it.
    package static var own: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }

    package static var ownFolder: String? { own.flatMap(PathParts.init)?.folder }
}
