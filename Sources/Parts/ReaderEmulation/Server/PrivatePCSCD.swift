// SPDX-License-Identifier: Apache-2.0
import Glibc
package import PrivateStorage
import SystemLibrary
import TagLink

/// A pcscd of our own, at a socket of its own, that has the emulated reader alone.
package struct PrivatePCSCD: Sendable {
    private static let socketName = "pcscd.comm"
    private static let logName = "pcscd.log"

    /// The socket that programs find by PCSCLITE_CSOCK_NAME.
    package var socketPath: String { folder.path + "/" + Self.socketName }
    /// Where it writes what it does.
    package var logPath: String { folder.path + "/" + Self.logName }
    private let folder: PrivateFolder
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
    ///   - folder: where its socket and its log are made, both with mode 0600.
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
        // pcscd waits for connections with a blocking call.
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
        // Ctrl-C is for us: pcscd is ended after the card has gone.
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
            kill(process, SIGKILL)
            _ = waitpid(process, nil, 0)
            throw error
        }
        self.lifeline = lifeline
    }

    /// Why it has ended, as a sentence, when it has ended without ``stop()``; nil while it runs.
    package func failure() -> String? {
        var information = unsafe siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        let status = unsafe waitid(P_PID, id_t(processIdentifier), &information, Int32(options))
        // With WNOHANG the signal is 0 while the process runs.
        guard status == 0, unsafe information.si_signo != 0 else { return nil }
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

    /// What it wrote last to its log about itself, without time and place; nil when there is nothing.
    private func lastWords() -> String? {
        guard let descriptor = try? folder.open(Self.logName, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        return Self.lastWords(in: descriptor)
    }

    /// The same, of a log.
    ///
    /// - Parameter log: a file's descriptor; of a long file only the end is read.
    package static func lastWords(in log: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let start = max(0, lseek(log, 0, SEEK_END) - off_t(bytes.count))
        let count = unsafe pread(log, &bytes, bytes.count, start)
        var parts = bytes.prefix(max(0, count)).split(separator: 0x0A, omittingEmptySubsequences: false)
        // The beginning of its first line may be missing.
        if start > 0 { parts.removeFirst() }
        let lines = parts.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
        // Its last line is that it tidies up.
        guard let line = lines.last(where: { !$0.contains("at_exit()") }) else { return nil }
        return line.firstRange(of: "() ").map { String(line[$0.upperBound...]) } ?? line
    }

    /// Ends pcscd, by force when it takes more than two seconds, and takes its socket away; its log too, unless it has ended
    /// by itself.
    package func stop() {
        defer { try? folder.remove(Self.socketName) }
        // First, while the process has its number still.
        lifeline.cut()
        if hasEnded { return }
        defer { try? folder.remove(Self.logName) }
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
