// SPDX-License-Identifier: Apache-2.0
import Glibc
package import LinuxSupport

package struct PCSCInstallation: Sendable {
    /// The reader's name, without the two numbers that pcscd adds.
    package var readerName: String
    /// The socket on which the reader listens.
    package var socketPath: String
    /// The driver that pcscd loads.
    package var driverPath: String

    package static let socketName = "reader.sock"

    package static let driverName = "libOpenCoreNFCReader.so"

    /// Creates the description of a reader. Throws ``EmulationError`` when pcscd's configuration can't contain a name
    /// or a path.
    package init(readerName: String, socketPath: String, driverPath: String) throws(EmulationError) {
        for path in [socketPath, driverPath] where path.utf8.contains(where: { $0 <= 0x20 || $0 == 0x22 || $0 == 0x23 })
        {
            throw EmulationError("pcscd's configuration can't contain a path with spaces or quotes, such as \(path).")
        }
        // pcscd adds two numbers, and a name has at most 127 bytes.
        guard (1...100).contains(readerName.utf8.count), !readerName.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 })
        else { throw EmulationError("A reader's name must have 1 to 100 bytes and no quotes.") }
        self.readerName = readerName
        self.socketPath = socketPath
        self.driverPath = driverPath
    }

    /// The lines for pcscd's `reader.conf.d`.
    package var configuration: String {
        """
        # An emulated reader, present while `nfc emulate --pcsc` runs.
        FRIENDLYNAME "\(readerName)"
        DEVICENAME   /dev/null:\(socketPath)
        LIBPATH      \(driverPath)
        CHANNELID    1

        """
    }

    /// The folder that root creates for all users' sockets. Each user has a separate folder in it.
    package static let systemFolder = "/run/opencorenfc"

    /// Finds the default folder for the user's sockets: the folder that root created for the user, or else a folder in
    /// `XDG_RUNTIME_DIR`. Nil when both are missing. A world-writable folder is not used, because another user could be
    /// first to create the name.
    package static func defaultFolder(in system: String = systemFolder) -> PrivateFolder? {
        if let name = ReaderOwner.current?.name,
            let folder = try? PrivateFolder(system + "/" + name, creates: false, guests: .mayRead, newMode: 0o755)
        {
            return folder
        }
        guard let runtime = EnvironmentVariable.value("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else { return nil }
        return try? PrivateFolder(runtime + "/opencorenfc")
    }

    /// Finds the driver beside this program or where it is installed. Throws ``EmulationError``, which lists the
    /// searched folders or explains who else can change the driver.
    package static func findDriver() throws(EmulationError) -> String {
        let path = try findDriver(
            "\(driverName), which pcscd loads,",
            beside: [".", "../lib"],
            or: ["/usr/local/lib", "/usr/lib", "/usr/lib/pcsc/drivers/serial"],
            otherwise: "Install the package opencorenfc-reader, or build it in a clone: swift build"
        )
        try checkTrust(path)
        return path
    }

    /// Throws if anyone but this user and root can change the files that pcscd loads from a path.
    static func checkTrust(_ path: String) throws(EmulationError) {
        do throws(StorageError) {
            _ = try ResolvedPath(path, .trusted(owner: geteuid(), takesOwnGroups: true))
        } catch {
            throw EmulationError("\(error.reason) So pcscd must not load \(path).")
        }
    }

    /// Throws if anyone but this user and root can change a folder of reader configurations or has written a file in it.
    /// pcscd loads the library that any of these files names.
    static func checkTrust(ofConfiguration folder: String) throws(EmulationError) {
        try checkTrust(folder)
        for name in FolderNames.read(folder, repairsNames: true) ?? [] {
            let path = folder + "/" + name
            guard unsafe access(path, F_OK) == 0 else {
                throw EmulationError("\(folder) has a file that can't be checked. So pcscd must not load it.")
            }
            try checkTrust(path)
        }
    }

    /// Finds a driver in folders relative to this program's folder, or in system folders.
    static func findDriver(
        _ what: String,
        beside relative: [String],
        or folders: [String],
        otherwise step: String
    ) throws(EmulationError) -> String {
        var all: [String] = []
        if let own = ProgramPath.ownFolder { all = relative.map { $0 == "." ? own : own + "/" + $0 } }
        all += folders
        let paths = all.map { (folder: String) -> String in folder + "/" + driverName }
        guard let found = paths.first(where: { unsafe access($0, R_OK) == 0 }) else {
            throw EmulationError("\(what) was not found in any of \(all.joined(separator: ", ")). \(step)")
        }
        return found
    }
}

/// A private pcscd with its own socket. The emulated reader is its only reader.
package struct PrivatePCSCD: Sendable {
    private static let socketName = "pcscd.comm"
    private static let logName = "pcscd.log"

    /// The path of the socket, for the variable PCSCLITE_CSOCK_NAME.
    package var socketPath: String { folder.path + "/" + Self.socketName }
    package var logPath: String { folder.path + "/" + Self.logName }
    private let folder: PrivateFolder
    package let processIdentifier: Int32
    /// Ends pcscd if this program ends without doing so.
    private let lifeline: Lifeline

    /// Starts pcscd with a folder of reader configurations.
    ///
    /// By systemd's protocol, pcscd accepts a socket that is already listening, so any user may run pcscd. The protocol
    /// uses descriptor 3, LISTEN_FDS and LISTEN_PID. A shell sets LISTEN_PID to its own process number, and pcscd then
    /// replaces the shell. Throws ``EmulationError`` when pcscd is missing or can't be started.
    package init(folder: PrivateFolder, configuration: String) throws(EmulationError) {
        guard
            let program = ["/usr/sbin/pcscd", "/usr/local/sbin/pcscd", "/usr/bin/pcscd"].first(
                where: ProgramPath.isProgram
            )
        else { throw EmulationError("pcscd is missing. Install the package pcscd.") }
        try PCSCInstallation.checkTrust(ofConfiguration: configuration)
        self.folder = folder
        let socket = try ListeningSocket.descriptor(Self.socketName, in: folder, backlog: 16)
        defer { close(socket) }
        // pcscd accepts connections with a blocking call.
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK)
        let log = try EmulationError.converting { () throws(StorageError) in try folder.makeFile(Self.logName) }
        defer { close(log) }
        let script = "export LISTEN_FDS=1 LISTEN_PID=$$; exec \(program) --foreground --info --config \"$0\""
        let arguments = ["/bin/sh", "-c", script, configuration]
        // Ctrl-C must only reach this program, which removes the card before it ends pcscd.
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

    /// Returns why pcscd has ended without ``stop()``, as a sentence; nil while it runs.
    package func failure() -> String? {
        var information = unsafe siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        _ = unsafe waitid(P_PID, id_t(processIdentifier), &information, Int32(options))
        // With WNOHANG, the signal is 0 while the process runs, and also when the call fails.
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

    /// Returns pcscd's last message in its log, without time and function; nil when there is none.
    private func lastWords() -> String? {
        guard let descriptor = try? folder.open(Self.logName, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        return Self.lastWords(in: descriptor)
    }

    /// Returns the last message in a log. Only the end of a long file is read.
    package static func lastWords(in log: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let start = max(0, lseek(log, 0, SEEK_END) - off_t(bytes.count))
        let count = unsafe pread(log, &bytes, bytes.count, start)
        var parts = bytes.prefix(max(0, count)).split(separator: 0x0A, omittingEmptySubsequences: false)
        // The first line may be incomplete.
        if start > 0 { parts.removeFirst() }
        let lines = parts.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
        // The line after pcscd's last message only reports its clean-up.
        guard let line = lines.last(where: { !$0.contains("at_exit()") }) else { return nil }
        return line.firstRange(of: "() ").map { String(line[$0.upperBound...]) } ?? line
    }

    /// Ends pcscd, by force if that takes more than two seconds, and removes its socket. Also removes the log, unless
    /// pcscd has ended by itself.
    package func stop() {
        defer { try? folder.remove(Self.socketName) }
        // The lifeline is cut first, while the process number is still valid.
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

/// The reason why a reader can't be offered to other programs.
package struct EmulationError: Error, Sendable {
    /// A sentence that explains what happened and what to do.
    package var reason: String

    package init(_ reason: String) {
        self.reason = reason
    }

    static func converting<Value>(_ work: () throws(StorageError) -> Value) throws(EmulationError) -> Value {
        do throws(StorageError) {
            return try work()
        } catch {
            throw EmulationError(error.reason)
        }
    }

    static func system(_ what: String) -> EmulationError {
        EmulationError("\(what): \(unsafe String(cString: strerror(errno))).")
    }
}
