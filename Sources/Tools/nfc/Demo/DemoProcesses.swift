// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// The programs of the demonstration and their children, found by a variable in their environment.
enum DemoProcesses {
    /// The variable. Its value is the demonstration's folder, whose name is unique.
    static let mark = "NFC_DEMO"

    /// How long a program may take to end by itself, in tenths of a second.
    private static let patience = 30
    /// A tenth of a second, in microseconds.
    static let pause: UInt32 = 100_000

    /// Ends the programs: first with SIGTERM, then with SIGKILL.
    ///
    /// - Parameter folder: the demonstration's folder.
    static func endAll(of folder: String) {
        for step in 0...patience {
            reap()
            let processes = all(of: folder)
            if processes.isEmpty { return }
            let number = step == patience ? SIGKILL : SIGTERM
            if step % 10 == 0 { for process in processes { kill(process, number) } }
            usleep(pause)
        }
        reap()
    }

    /// Reaps children that have ended.
    private static func reap() {
        while waitpid(-1, nil, WNOHANG) > 0 {}
    }

    private static func all(of folder: String) -> [pid_t] {
        let entry = Array("\(mark)=\(folder)".utf8)
        return (FolderNames.read("/proc") ?? []).compactMap { name in
            guard let process = pid_t(name), process != getpid(),
                let file = try? InputFile("/proc/\(name)/environ", limit: 1 << 20), let bytes = try? file.readToEnd(),
                bytes.split(separator: 0).contains(entry[...])
            else {
                return nil
            }
            return process
        }
    }
}
