// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions

/// The start and the end of a command's process.
enum CommandProcess {
    /// Prepares the process before anything is read or written.
    static func prepare() {
        // The next opened file would get the number of a closed standard stream. Fill the gap with a file that can't be used.
        for stream in Int32(0)...2 where fcntl(stream, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        // Writing to a closed pipe becomes an error, so that the command can clean up. This is a handler and not SIG_IGN,
        // so that child processes get the default action.
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        _ = unsafe sigaction(SIGPIPE, &action, nil)
    }

    /// Whether the arguments ask for JSON; known before they are parsed.
    static var wantsJSON: Bool { wantsJSON(CommandLine.arguments) }

    /// Whether arguments ask for JSON.
    ///
    /// - Parameter arguments: the program's name and its arguments.
    static func wantsJSON(_ arguments: [String]) -> Bool {
        let words = arguments.dropFirst().prefix { $0 != "--" }
        // `--json=1` is an error, but the caller expects JSON.
        return words.contains { $0 == "--json" || $0.hasPrefix("--json=") }
    }

    /// Why the arguments can't be used: one is not UTF-8, and decoding would change it. Nil when all are UTF-8.
    static var wordProblem: String? {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
            let bytes = unsafe UnsafeBufferPointer(start: word, count: strlen(word)).map { UInt8(bitPattern: $0) }
            if String(validating: bytes, as: UTF8.self) == nil {
                let text = String(decoding: bytes, as: UTF8.self)
                return
                    "Argument \(index), '\(text)', is not UTF-8. Give text in UTF-8, and bytes in hex. If it is a file, "
                    + "rename it."
            }
        }
        return nil
    }

    /// Becomes another program, which gets this one's standard streams.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - options: its arguments.
    /// - Returns: the failure, when the system can't run the program.
    static func become(_ program: String, _ options: [String]) -> CommandFailure {
        var words = unsafe ([program] + options).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(program, &words)
        let reason = unsafe String(cString: strerror(errno))
        return CommandFailure(.refused, "not-started", "\(program) can't be started: \(reason).")
    }

    /// Ends the process.
    ///
    /// - Parameter status: the exit status. It becomes a failure if the output could not be written.
    static func end(_ status: Int32) -> Never {
        guard let number = StandardOutput.failure else { exit(status) }
        if number == EPIPE {
            // End silently, as other programs do when nobody reads their output.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
            exit(128 + SIGPIPE)
        }
        let reason = unsafe String(cString: strerror(number))
        StandardError.writeLine("Error: Standard output can't be written: \(reason).")
        exit(status == 0 ? CommandFailure.Status.refused.rawValue : status)
    }
}
