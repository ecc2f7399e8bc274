// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SimulatorModel

/// Ends the apps when the simulator was killed, and could not end them itself.
///
/// A shell of its own reads the processes to end from a pipe. The pipe ends with the simulator, in whatever way that ends.
final class AppWatcher: Sendable {
    private static let script = """
        trap '' TERM INT HUP
        groups=
        while read -r sign group; do
            if [ "$sign" = + ]; then
                groups="$groups $group"
            else
                rest=
                for other in $groups; do [ "$other" = "$group" ] || rest="$rest $other"; done
                groups=$rest
            fi
        done
        [ -n "$groups" ] || exit 0
        for group in $groups; do kill -s TERM -- "$group"; done
        sleep 2
        for group in $groups; do kill -s KILL -- "$group"; done
        """

    /// The end of the pipe for writing, once an app was started.
    private let input = Locked<Pipe?>(nil)

    /// Watches a program.
    ///
    /// - Parameter target: the process, or the negative number of its group.
    func watch(_ target: Int32) { write("+ \(target)\n") }

    /// A program has ended.
    func forget(_ target: Int32) { write("- \(target)\n") }

    private func write(_ line: String) {
        input.withLock { input in
            if input == nil { input = Self.start() }
            try? input?.fileHandleForWriting.write(contentsOf: Data(line.utf8))
        }
    }

    private static func start() -> Pipe? {
        let pipe = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        return pipe
    }
}
