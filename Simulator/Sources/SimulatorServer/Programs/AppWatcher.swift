// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SimulatorModel

/// Ends the apps if the simulator is killed before it can end them itself.
///
/// A separate shell reads the ids of the processes from a pipe. The pipe closes however the simulator ends.
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

    /// The pipe to the shell; nil until the first app is started.
    private let input = Locked<Pipe?>(nil)

    /// Adds a program to those that the shell ends.
    ///
    /// - Parameter target: the process id, or the negative id of its process group.
    func watch(_ target: Int32) { write("+ \(target)\n") }

    /// Removes a program that has ended.
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
