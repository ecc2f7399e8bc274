// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Has something done when this process ends without doing it itself, as one that is killed does.
///
/// A shell waits for the end of a pipe whose other end only this process has. It is in a session of its own, so that neither
/// Ctrl-C nor the end of the terminal ends it.
public struct Lifeline: Sendable {
    private let outlet: Int32
    private let shell: Int32

    /// Prepares what is done.
    ///
    /// - Parameters:
    ///   - script: what the shell runs when this process has ended.
    ///   - words: what the script has as `$0`, `$1` and so on.
    /// - Returns: nil when the shell can't be started.
    public init?(script: String, words: [String]) {
        guard let pipe = DescriptorPipe() else { return nil }
        defer { close(pipe.reader) }
        var launch = ProgramLaunch("/bin/sh", ["/bin/sh", "-c", "read -r word || {\n\(script)\n}"] + words)
        launch.descriptors = [0: pipe.reader]
        launch.closesOthers = true
        launch.separation = .session
        guard let shell = try? launch.start() else {
            close(pipe.writer)
            return nil
        }
        outlet = pipe.writer
        self.shell = shell
    }

    /// Prepares that a process is asked to end (`SIGTERM`).
    ///
    /// - Parameter process: the process, which this one has not waited for yet.
    /// - Returns: nil when there is no such process, or the shell can't be started.
    public init?(ending process: Int32) {
        guard let start = Self.startTime(of: process) else { return nil }
        // The number may be another process's by then: that one has started at another time.
        let script = """
            read -r stat <"/proc/$0/stat" && set -- "$1" ${stat##*) } && [ "$1" = "${21}" ] && kill -TERM "$0"
            """
        self.init(script: script, words: [String(process), start])
    }

    /// When a process has started, in the system's ticks: field 22 of its `stat` in proc(5).
    private static func startTime(of process: Int32) -> String? {
        let file = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(file, &bytes, bytes.count)
        // Its name, in parentheses, may have any characters.
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 19 ? String(fields[19]) : nil
    }

    /// Lets the shell end without doing anything, and waits for its end.
    public func cut() {
        _ = unsafe write(outlet, "\n", 1)
        close(outlet)
        _ = waitpid(shell, nil, 0)
    }
}
