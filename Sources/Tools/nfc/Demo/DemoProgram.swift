// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// A program of the demonstration, and the lines that it prints.
final class DemoProgram {
    /// Its process. Ending the demonstration also ends and reaps it.
    let identifier: pid_t
    private let output: Int32
    private var pending: [UInt8] = []
    /// Whether the program has closed its output, because it ended.
    private(set) var isAtEnd = false

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: its path.
    ///   - arguments: its words, without its name.
    ///   - input: a file that it reads; nil for nothing.
    ///   - environment: its variables.
    init(
        _ path: String,
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String]
    ) throws(CommandFailure) {
        guard let pipe = DescriptorPipe() else { throw Self.failure(path, "no pipe can be created") }
        _ = fcntl(pipe.reader, F_SETFL, O_NONBLOCK)
        output = pipe.reader
        var launch = ProgramLaunch(path, [path] + arguments)
        launch.environment = environment
        launch.descriptors[1] = pipe.writer
        let file = input.map { unsafe open($0, O_RDONLY | O_CLOEXEC) }
        launch.descriptors[0] = file
        defer {
            close(pipe.writer)
            if let file { close(file) }
        }
        do throws(ProgramLaunch.Failure) {
            identifier = try launch.start()
        } catch {
            throw Self.failure(path, error.reason)
        }
    }

    deinit { close(output) }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(.refused, "not-started", "\(path) can't be started: \(reason). Build it again: swift build")
    }

    /// The descriptor that becomes readable when the program has printed something.
    var descriptor: Int32 { output }

    /// The complete lines that the program has printed.
    func lines() -> [String] {
        var block = [UInt8](repeating: 0, count: 16 << 10)
        while !isAtEnd {
            let count = unsafe read(output, &block, block.count)
            if count > 0 {
                pending += block.prefix(count)
            } else if count == 0 {
                isAtEnd = true
            } else {
                break
            }
        }
        var parts = pending.split(separator: 0x0A, omittingEmptySubsequences: false)
        pending = isAtEnd ? [] : Array(parts.removeLast())
        return parts.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}
