// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime

/// How the process of a command begins and ends.
enum CommandProcess {
    /// Prepares the process before anything is read or written.
    static func prepare() {
        // A standard stream that is closed would be the next file that is opened. What stands in for it can't be used.
        for stream in Int32(0)...2 where fcntl(stream, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        // A pipe that nobody reads any more is an error of the write, so that a command ends in good order. A handler, and
        // not SIG_IGN: programs that are started get the signal as usual.
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        _ = unsafe sigaction(SIGPIPE, &action, nil)
    }

    /// Whether the command was asked for JSON; known before its words are understood.
    static var wantsJSON: Bool {
        let words = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        // `--json=1` is wrong, and whoever gives it reads JSON.
        return words.contains { $0 == "--json" || $0.hasPrefix("--json=") }
    }

    /// Why the words of the command are none: text that is not UTF-8 would be another text; nil for words that are.
    static var wordProblem: String? {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
            let bytes = unsafe UnsafeBufferPointer(start: word, count: strlen(word)).map { UInt8(bitPattern: $0) }
            if String(validating: bytes, as: UTF8.self) == nil {
                let text = String(decoding: bytes, as: UTF8.self)
                return
                    "Argument \(index), '\(text)', is not UTF-8. Give text in UTF-8, and bytes in hex. Rename a file that "
                    + "is named so."
            }
        }
        return nil
    }

    /// Ends the process.
    ///
    /// - Parameter status: how the command ended. A command that did its work and could not say so has failed.
    static func end(_ status: Int32) -> Never {
        guard let number = StandardOutput.failure else { exit(status) }
        if number == EPIPE {
            // As other programs end whose reader has gone: without a word.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
            exit(128 + SIGPIPE)
        }
        let reason = unsafe String(cString: strerror(number))
        StandardError.writeLine("Error: Standard output can't be written: \(reason).")
        exit(status == 0 ? CommandFailure.Status.refused.rawValue : status)
    }
}
