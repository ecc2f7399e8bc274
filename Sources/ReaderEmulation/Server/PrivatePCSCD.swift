// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import TagLink

/// A pcscd of our own, at a socket of its own, that has the emulated reader alone.
package struct PrivatePCSCD: Sendable {
    /// The socket that programs find by PCSCLITE_CSOCK_NAME.
    package let socketPath: String
    /// Where it writes what it does.
    package let logPath: String
    /// The process.
    package let processIdentifier: Int32
    /// What ends pcscd when this program could not.
    private let lifeline: Lifeline

    /// Starts pcscd with a folder of reader configurations.
    ///
    /// It takes a socket that listens already, by systemd's protocol, so that any user may run it: descriptor 3,
    /// LISTEN_FDS and LISTEN_PID, which the shell sets to its own number before pcscd takes its place.
    ///
    /// - Parameters:
    ///   - folder: where its socket and its log are made.
    ///   - configuration: the folder of the configurations.
    /// - Throws: ``EmulationError`` when there is no pcscd, or it can't be started.
    package init(folder: String, configuration: String) throws(EmulationError) {
        guard let program = ["/usr/sbin/pcscd", "/usr/local/sbin/pcscd", "/usr/bin/pcscd"].first(where: Self.isProgram)
        else {
            throw EmulationError("There is no pcscd. Install the package pcscd.")
        }
        socketPath = folder + "/pcscd.comm"
        logPath = folder + "/pcscd.log"
        let socket = try ListeningSocket.descriptor(path: socketPath, backlog: 16)
        defer { close(socket) }
        let log = unsafe open(logPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard log >= 0 else { throw .system("\(logPath) can't be made") }
        defer { close(log) }
        let script = "export LISTEN_FDS=1 LISTEN_PID=$$; exec \(program) --foreground --info --config \"$0\""
        let arguments = ["/bin/sh", "-c", script, configuration]
        guard let process = Self.spawn(arguments, [1: log, 2: log, 3: socket]) else {
            throw .system("pcscd can't be started")
        }
        processIdentifier = process
        guard let lifeline = Lifeline(of: process) else {
            let error = EmulationError.system("pcscd can't be watched")
            kill(process, SIGKILL)
            _ = waitpid(process, nil, 0)
            throw error
        }
        self.lifeline = lifeline
    }

    /// Ends a process when this program ends without doing so itself, as one that is killed does: a shell that waits for
    /// the end of a pipe whose other end nobody else has.
    private struct Lifeline {
        private let outlet: Int32
        private let shell: Int32

        init?(of process: Int32) {
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            defer { close(ends[0]) }
            let script = "read -r word || kill -TERM \"$0\""
            guard let shell = PrivatePCSCD.spawn(["/bin/sh", "-c", script, String(process)], [0: ends[0]]) else {
                close(ends[1])
                return nil
            }
            outlet = ends[1]
            self.shell = shell
        }

        /// Lets the shell end without doing anything.
        func cut() {
            _ = unsafe write(outlet, "\n", 1)
            close(outlet)
            _ = waitpid(shell, nil, 0)
        }
    }

    private static func isProgram(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    /// Starts a shell that has the given descriptors by the given numbers. Ctrl-C is for us: pcscd is ended after the card has
    /// gone.
    private static func spawn(_ arguments: [String], _ descriptors: [Int32: Int32]) -> Int32? {
        var launch = ProgramLaunch("/bin/sh", arguments)
        launch.descriptors = descriptors
        return try? launch.start()
    }

    /// The last line of its log, when it has ended by itself; nil while it runs.
    package func failure() -> String? {
        var information = unsafe siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        let status = unsafe waitid(P_PID, id_t(processIdentifier), &information, Int32(options))
        // With WNOHANG the signal is 0 while the process runs.
        guard status == 0, unsafe information.si_signo != 0 else { return nil }
        return Self.lastLine(of: logPath) ?? "It gave no reason."
    }

    private static func lastLine(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var octets = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe octets.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        let lines = octets.prefix(max(0, count)).split(separator: 0x0A)
        return lines.last.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Ends pcscd, by force when it takes more than two seconds, and takes its socket away.
    package func stop() {
        defer {
            lifeline.cut()
            _ = unsafe unlink(socketPath)
        }
        if hasEnded { return }
        kill(processIdentifier, SIGTERM)
        for _ in 0..<200 {
            if hasEnded { return }
            usleep(10_000)
        }
        kill(processIdentifier, SIGKILL)
        _ = waitpid(processIdentifier, nil, 0)
    }

    /// Whether the process has ended; it is then forgotten.
    private var hasEnded: Bool {
        waitpid(processIdentifier, nil, WNOHANG) != 0
    }
}
