// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Runs a script when this process ends without cleaning up, for example because it was killed.
///
/// A shell waits until a pipe closes. Only this process has the other end of that pipe. The shell has its own session,
/// so neither Ctrl-C nor closing the terminal ends it.
public struct Lifeline: Sendable {
    private let outlet: Int32
    private let shell: Int32

    /// Starts the shell. `words` become `$0`, `$1` and so on in the script. Nil when the shell can't be started.
    public init?(script: String, words: [String]) {
        guard let pipe = DescriptorPipe() else { return nil }
        defer { close(pipe.reader) }
        var launch = ProgramLaunch("/bin/sh", ["/bin/sh", "-c", "read -r word || {\n\(script)\n}"] + words)
        launch.descriptors = [0: pipe.reader]
        launch.separation = .session
        guard let shell = try? launch.start() else {
            close(pipe.writer)
            return nil
        }
        outlet = pipe.writer
        self.shell = shell
    }

    /// Sends `SIGTERM` to another process when this process ends. Don't use it on a child that was already waited for.
    /// Nil when the process does not exist, or the shell can't be started.
    public init?(ending process: Int32) {
        guard let start = Self.startTime(of: process) else { return nil }
        // By then, the number may belong to another process, but that process has another start time.
        let script = """
            read -r stat <"/proc/$0/stat" && set -- "$1" ${stat##*) } && [ "$1" = "${21}" ] && kill -TERM "$0"
            """
        self.init(script: script, words: [String(process), start])
    }

    /// Returns the start time of a process, in clock ticks: field 22 of `stat` in proc(5).
    private static func startTime(of process: Int32) -> String? {
        guard let bytes = try? InputFile("/proc/\(process)/stat", limit: 4096).readToEnd() else { return nil }
        // The name of the process is in parentheses, and may contain any characters.
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        return fields.dropFirst(19).first.map(String.init)
    }

    /// Stops the shell without running the script, and waits for its end.
    public func cut() {
        _ = unsafe write(outlet, "\n", 1)
        close(outlet)
        _ = waitpid(shell, nil, 0)
    }
}
