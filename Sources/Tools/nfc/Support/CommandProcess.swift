// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import NFCSessions
import Synchronization

enum CommandProcess {
    /// Sets up the process. Call this before reading or writing anything.
    static func prepare() {
        // The next opened file would get the number of a closed standard stream, so occupy it with an unusable file.
        for stream in Int32(0)...2 where fcntl(stream, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        // Turn writes to a closed pipe into errors, so that the command can clean up. A handler is used instead of
        // SIG_IGN, because child processes would inherit SIG_IGN.
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        _ = unsafe sigaction(SIGPIPE, &action, nil)
    }

    /// Whether the arguments ask for JSON. Works before the arguments are parsed.
    static var wantsJSON: Bool { wantsJSON(CommandLine.arguments) }

    static func wantsJSON(_ arguments: [String]) -> Bool {
        let words = arguments.dropFirst().prefix { $0 != "--" }
        // `--json=1` is an error, but the caller expects JSON.
        return words.contains { $0 == "--json" || $0.hasPrefix("--json=") }
    }

    /// Explains that an argument is not UTF-8, so that decoding would change it; nil if all arguments are UTF-8.
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

    /// Replaces this process with another program. Returns only if the program can't be run.
    static func become(_ program: String, _ options: [String]) -> CommandFailure {
        var words = unsafe ([program] + options).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(program, &words)
        let reason = unsafe String(cString: strerror(errno))
        return CommandFailure("not-started", "\(program) can't be started: \(reason).")
    }

    /// Ends the process. Reports a failure if output could not be written.
    static func end(_ status: Int32) -> Never {
        guard let number = StandardOutput.failure else { exit(status) }
        if number == EPIPE {
            // Exit silently, as usual if nobody reads the output.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
            exit(128 + SIGPIPE)
        }
        let reason = unsafe String(cString: strerror(number))
        StandardError.writeLine("Error: Standard output can't be written: \(reason).")
        exit(status == 0 ? CommandFailure.Status.refused.rawValue : status)
    }
}

/// Receives signals sent to the process. Once it exists, no signal is lost, even on a busy machine.
///
/// A dispatch source starts listening only some time after activation. Until then, a signal would be lost or end the
/// process. So this type installs a signal handler that writes the signal's number to a pipe.
final class ProcessSignals: @unchecked Sendable {
    // Sendable because the only property is constant.
    private let source: any DispatchSourceRead

    /// The pipe for the handler. The handler may interrupt any code, so it must not lock or allocate.
    private static let outlet = Atomic<Int32>(-1)

    /// Starts listening until the process ends. Only one instance may exist at a time. The handler is called for one
    /// signal at a time, on any thread.
    init(_ numbers: [Int32], handler: @escaping @Sendable (Int32) -> Void) {
        guard let pipe = DescriptorPipe(blocks: false) else { preconditionFailure("no pipe could be created") }
        let (inlet, outlet) = (pipe.reader, pipe.writer)
        source = DispatchSource.makeReadSource(fileDescriptor: inlet, queue: DispatchQueue(label: "signals"))
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(inlet, &bytes, bytes.count)
            for byte in bytes.prefix(max(0, count)) { handler(Int32(byte)) }
        }
        // Both ends stay open, because a handler on another thread may write to the pipe at any time.
        Self.outlet.store(outlet, ordering: .sequentiallyConsistent)
        for number in numbers { Self.handle(number) }
        source.activate()
    }

    private static func handle(_ number: Int32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            let error = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = unsafe write(ProcessSignals.outlet.load(ordering: .sequentiallyConsistent), &byte, 1)
            errno = error
        }
        action.sa_flags = SA_RESTART
        _ = unsafe sigaction(number, &action, nil)
    }
}
