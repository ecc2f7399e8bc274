// SPDX-License-Identifier: Apache-2.0
import Glibc
package import LinuxSupport

/// A private pcscd with its own socket. It only has the emulated reader.
package struct PrivatePCSCD: Sendable {
    private static let socketName = "pcscd.comm"
    private static let logName = "pcscd.log"

    /// The socket, which programs find with PCSCLITE_CSOCK_NAME.
    package var socketPath: String { folder.path + "/" + Self.socketName }
    /// The path of its log.
    package var logPath: String { folder.path + "/" + Self.logName }
    private let folder: PrivateFolder
    /// The number of the process.
    package let processIdentifier: Int32
    /// Ends pcscd if this program could not.
    private let lifeline: Lifeline

    /// Starts pcscd with a folder of reader configurations.
    ///
    /// pcscd accepts a socket that is already listening, by systemd's protocol, so any user may run it. The protocol
    /// uses descriptor 3, LISTEN_FDS and LISTEN_PID. A shell sets LISTEN_PID to its own process number, and then pcscd
    /// replaces the shell.
    ///
    /// - Parameters:
    ///   - folder: the folder for its socket and its log, both with mode 0600.
    ///   - configuration: the folder of the configurations.
    /// - Throws: ``EmulationError`` when there is no pcscd, or it can't be started.
    package init(folder: PrivateFolder, configuration: String) throws(EmulationError) {
        guard
            let program = ["/usr/sbin/pcscd", "/usr/local/sbin/pcscd", "/usr/bin/pcscd"].first(
                where: ProgramPath.isProgram
            )
        else {
            throw EmulationError("There is no pcscd. Install the package pcscd.")
        }
        self.folder = folder
        let socket = try ListeningSocket.descriptor(Self.socketName, in: folder, backlog: 16)
        defer { close(socket) }
        // pcscd accepts connections with a blocking call.
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK)
        let log: Int32
        do throws(StorageError) {
            log = try folder.makeFile(Self.logName)
        } catch {
            throw EmulationError(error.reason)
        }
        defer { close(log) }
        let script = "export LISTEN_FDS=1 LISTEN_PID=$$; exec \(program) --foreground --info --config \"$0\""
        let arguments = ["/bin/sh", "-c", script, configuration]
        // Ctrl-C is for this program: it ends pcscd after the card has been removed.
        var launch = ProgramLaunch("/bin/sh", arguments)
        launch.descriptors = [1: log, 2: log, 3: socket]
        let process: Int32
        do throws(ProgramLaunch.Failure) {
            process = try launch.start()
        } catch {
            throw EmulationError("pcscd can't be started: \(error.reason).")
        }
        processIdentifier = process
        guard let lifeline = Lifeline(ending: process) else {
            let error = EmulationError.system("pcscd can't be watched")
            Self.kill(process)
            throw error
        }
        self.lifeline = lifeline
    }

    /// Why pcscd has ended without ``stop()``, as a sentence; nil while it runs.
    package func failure() -> String? {
        var information = unsafe siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        _ = unsafe waitid(P_PID, id_t(processIdentifier), &information, Int32(options))
        // With WNOHANG, the signal is 0 while the process runs. Where the call fails it stays so.
        guard unsafe information.si_signo != 0 else { return nil }
        let value = unsafe information._sifields._sigchld.si_status
        switch unsafe (information.si_code, value) {
        case (Int32(CLD_EXITED), 0): return "pcscd has ended because another program asked it to."
        case (Int32(CLD_EXITED), _):
            return "pcscd has ended with status \(value): \(lastWords() ?? "it gave no reason.")"
        default:
            let name = unsafe String(cString: strsignal(value))
            return "pcscd was ended by signal \(value) (\(name)). Look for the program that sent it, and start again."
        }
    }

    /// The last line about itself in its log, without time and place; nil for none.
    private func lastWords() -> String? {
        guard let descriptor = try? folder.open(Self.logName, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        return Self.lastWords(in: descriptor)
    }

    /// The same for any log.
    ///
    /// - Parameter log: the file's descriptor. Only the end of a long file is read.
    package static func lastWords(in log: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let start = max(0, lseek(log, 0, SEEK_END) - off_t(bytes.count))
        let count = unsafe pread(log, &bytes, bytes.count, start)
        var parts = bytes.prefix(max(0, count)).split(separator: 0x0A, omittingEmptySubsequences: false)
        // The first line may be incomplete.
        if start > 0 { parts.removeFirst() }
        let lines = parts.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
        // The last line only says that it cleans up.
        guard let line = lines.last(where: { !$0.contains("at_exit()") }) else { return nil }
        return line.firstRange(of: "() ").map { String(line[$0.upperBound...]) } ?? line
    }

    /// Ends pcscd, by force if that takes more than two seconds, and removes its socket. It also removes the log,
    /// unless pcscd has ended by itself.
    package func stop() {
        defer { try? folder.remove(Self.socketName) }
        // First, while the process number is still valid.
        lifeline.cut()
        if hasEnded { return }
        defer { try? folder.remove(Self.logName) }
        Glibc.kill(processIdentifier, SIGTERM)
        for _ in 0..<200 {
            if hasEnded { return }
            usleep(10_000)
        }
        Self.kill(processIdentifier)
    }

    /// Ends a child process by force, and reaps it.
    private static func kill(_ process: Int32) {
        Glibc.kill(process, SIGKILL)
        _ = waitpid(process, nil, 0)
    }

    /// Whether the process has ended. If so, it is reaped.
    private var hasEnded: Bool {
        waitpid(processIdentifier, nil, WNOHANG) != 0
    }
}
