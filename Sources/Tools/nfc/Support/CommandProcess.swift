// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
import NFCSessions
import Synchronization

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
    /// Returns the failure, when the system can't run the program.
    static func become(_ program: String, _ options: [String]) -> CommandFailure {
        var words = unsafe ([program] + options).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(program, &words)
        let reason = unsafe String(cString: strerror(errno))
        return CommandFailure("not-started", "\(program) can't be started: \(reason).")
    }

    /// Ends the process. The status becomes a failure if the output could not be written.
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

/// Receives signals of the process. From its creation on no signal is lost, even on a busy machine.
///
/// A dispatch source for a signal starts to listen some time after its activation. Until then the signal must be ignored,
/// or it ends the process. This type instead has a signal handler that writes the signal's number to a pipe.
final class ProcessSignals: @unchecked Sendable {
    // Sendable because the source is created once.
    private let source: any DispatchSourceRead

    /// The pipe that the handler writes to. The handler may interrupt any code, so it takes no lock and allocates nothing.
    private static let outlet = Atomic<Int32>(-1)

    /// Starts to listen, until the process ends. Only one listener at a time is possible.
    /// The handler gets one signal after the other, on any thread.
    init(_ numbers: [Int32], handler: @escaping @Sendable (Int32) -> Void) {
        guard let pipe = DescriptorPipe(blocks: false) else { preconditionFailure("no pipe could be made") }
        let (inlet, outlet) = (pipe.reader, pipe.writer)
        source = DispatchSource.makeReadSource(fileDescriptor: inlet, queue: DispatchQueue(label: "signals"))
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(inlet, &bytes, bytes.count)
            for byte in bytes.prefix(max(0, count)) { handler(Int32(byte)) }
        }
        // Both ends stay open: a handler that runs on another thread may write to the pipe at any time.
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
