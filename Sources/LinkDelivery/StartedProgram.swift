// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc

/// A program that was started with words of its own: no shell sees them, and nothing of this process goes along but its
/// environment without what is meant for services.
final class StartedProgram: Sendable {
    /// The process.
    let process: pid_t
    private let end: End

    /// How the program ended, once it did.
    private final class End: @unchecked Sendable {
        // Sendable because the status is written once, before the signal, and read after it.
        private let signal = DispatchSemaphore(value: 0)
        private var status: Int32?

        func note(_ status: Int32) {
            self.status = status
            signal.signal()
        }

        func wait(_ limit: Duration) -> Int32? {
            let (seconds, attoseconds) = limit.components
            let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
            guard signal.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return nil }
            // It may be asked again.
            signal.signal()
            return status
        }
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the program's absolute path.
    ///   - arguments: its words, its name first.
    ///   - folder: where it runs; nil is the user's own folder.
    ///   - environment: its variables.
    init(_ path: String, _ arguments: [String], folder: String?, environment: [String: String]) throws(DeliveryError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // What a program prints may be what a tag says, which is in no log.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        if let changeFolder = unsafe Self.function("posix_spawn_file_actions_addchdir_np", as: ChangeFolder.self) {
            _ = unsafe changeFolder(&actions, folder ?? environment["HOME"] ?? "/")
        }
        // Files that this process was given by others, without the mark that they close.
        if let closeFrom = unsafe Self.function("posix_spawn_file_actions_addclosefrom_np", as: CloseFrom.self) {
            _ = unsafe closeFrom(&actions, 3)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | Self.newSession
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let own = environment.filter { name, _ in !Self.ofServices.contains(name) }
        var process: pid_t = 0
        let words = unsafe Words(arguments)
        let variables = unsafe Words(own.map { "\($0)=\($1)" })
        let number = unsafe withExtendedLifetime((words, variables)) {
            unsafe posix_spawn(&process, path, &actions, &attributes, words.pointers, variables.pointers)
        }
        guard number == 0 else {
            throw DeliveryError(.notStarted, "\(path) can't be started: \(unsafe String(cString: strerror(number))).")
        }
        self.process = process
        let end = End()
        self.end = end
        let thread = Thread { [process] in
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            end.note(status)
        }
        thread.stackSize = 64 << 10
        thread.start()
    }

    /// Waits for the program to end.
    ///
    /// - Returns: the status that `waitpid` gives; nil when it still runs.
    func wait(_ limit: Duration) -> Int32? { end.wait(limit) }

    /// What a status says, for people.
    static func text(_ status: Int32) -> String {
        status & 0x7F == 0 ? "with status \(status >> 8 & 0xFF)" : "by signal \(status & 0x7F)"
    }

    private typealias ChangeFolder = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Int32
    private typealias CloseFrom = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32

    /// A function of the C library that its module leaves out; nil where the library is too old for it.
    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: type) }
    }

    /// `POSIX_SPAWN_SETSID`, which it leaves out too: what happens to this process's terminal is nothing to the program.
    private static let newSession: Int32 = 0x80

    /// Variables that the system gives a service for itself alone.
    private static let ofServices: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]

    /// Words as C has them.
    @unsafe private final class Words {
        let pointers: [UnsafeMutablePointer<CChar>?]

        init(_ words: [String]) { unsafe pointers = words.map { unsafe strdup($0) } + [nil] }

        deinit { unsafe pointers.forEach { unsafe free($0) } }
    }
}
