// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport

/// A program from its start to its end, with files as its streams: nothing can fill up and wait.
///
/// Tests that start many programs at the same time use this. Foundation's `Process` reads behind the end of a folder's
/// entry when it starts a program, which crashes once in some thousand starts.
package struct ProgramRun {
    package var path: String
    /// The arguments without the program's name.
    package var arguments: [String]
    package var environment: [String: String]
    /// The program's current folder; nil for that of the tests.
    package var folder: String?

    package init(_ path: String, _ arguments: [String], environment: [String: String], folder: String? = nil) {
        (self.path, self.arguments, self.environment, self.folder) = (path, arguments, environment, folder)
    }

    /// How a program ended.
    package struct End: Sendable {
        package var isSignal: Bool
        /// The exit status, or the number of the signal.
        package var status: Int32
    }

    /// Runs the program. One that does not end within a minute is killed.
    ///
    /// - Parameters:
    ///   - input: the path of the file that it reads.
    ///   - output: the path of an existing file for standard output.
    ///   - error: the path of an existing file for standard error.
    package func run(input: String, output: String, error: String) throws -> End {
        var launch = ProgramLaunch(path, [path] + arguments)
        (launch.environment, launch.folder) = (environment, folder)
        for (number, path) in [input, output, error].enumerated() {
            let descriptor = unsafe open(path, (number == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC)
            launch.descriptors[Int32(number)] = descriptor
        }
        defer { for descriptor in launch.descriptors.values { close(descriptor) } }
        let process = try launch.start()
        let limit = DispatchWorkItem { kill(process, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60), execute: limit)
        defer { limit.cancel() }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7F
        return End(isSignal: signal != 0, status: signal != 0 ? signal : status >> 8 & 0xFF)
    }
}
