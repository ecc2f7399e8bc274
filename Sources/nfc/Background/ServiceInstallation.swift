// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files by which systemd and the bus start the service of a user.
struct ServiceInstallation {
    /// The unit's name.
    static let unitName = "nfcd.service"
    private static let busFileName = "org.opencorenfc.Background.service"

    private let unitFolder: String
    private let busFolder: String

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let home = environment["HOME"] ?? NSHomeDirectory()
        unitFolder = (environment["XDG_CONFIG_HOME"] ?? home + "/.config") + "/systemd/user"
        busFolder = (environment["XDG_DATA_HOME"] ?? home + "/.local/share") + "/dbus-1/services"
    }

    /// The files, each with its path.
    var paths: [String] { ["\(unitFolder)/\(Self.unitName)", "\(busFolder)/\(Self.busFileName)"] }

    /// The service's program: beside this one, or in one of the folders of `PATH`.
    static func program() throws(CommandFailure) -> String {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        let folders = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let found = ([own] + folders).map { "\($0)/nfcd" }.first(where: FileManager.default.isExecutableFile(atPath:))
        guard let found else {
            throw CommandFailure(
                .refused,
                "no-service",
                "There is no nfcd beside nfc, nor in PATH. Build or install it: swift build --product nfcd"
            )
        }
        return found
    }

    /// The unit that systemd runs.
    static func unit(program: String, arguments: [String] = []) -> String {
        let command = ([program] + arguments).map(quoted).joined(separator: " ")
        return """
            # Reads NFC tags in the background. 'nfc background enable' writes this file with the program's own path.
            [Unit]
            Description=Background reading of NFC tags

            [Service]
            Type=dbus
            BusName=org.opencorenfc.Background
            ExecStart=\(command)
            Restart=on-failure
            RestartSec=2
            # The apps that it starts go on when it ends.
            KillMode=process

            [Install]
            WantedBy=default.target

            """
    }

    /// What the bus starts when somebody calls the service; with systemd, the unit.
    static func busFile(program: String) -> String {
        """
        # Starts nfcd when its name is called. 'nfc background enable' writes this file with the program's own path.
        [D-BUS Service]
        Name=org.opencorenfc.Background
        Exec=\(quoted(program))
        SystemdService=nfcd.service

        """
    }

    /// A word of a command, as systemd reads it: nothing in it stands for something else.
    private static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B...0x2F, 0x3A, 0x3D, 0x40, 0x5F: true
            default: false
            }
        }
        guard !plain || word.isEmpty else { return word }
        let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("$", with: "$$").replacing("\n", with: "\\n")
        return "\"\(text)\""
    }

    /// Writes the files.
    func write(program: String, arguments: [String]) throws(CommandFailure) {
        let texts = [Self.unit(program: program, arguments: arguments), Self.busFile(program: program)]
        for (path, text) in zip(paths, texts) {
            do {
                let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            } catch {
                throw CommandFailure(.refused, "not-written", "\(path) can't be written.")
            }
        }
    }

    /// Takes the files away.
    func remove() {
        for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Runs systemctl for the user.
    static func systemctl(_ arguments: String...) throws(CommandFailure) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["systemctl", "--user"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let output = Pipe()
        process.standardError = output
        do {
            try process.run()
        } catch {
            throw noSystemd
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus != 127, process.terminationStatus != 0 || process.terminationReason == .exit
        else {
            throw noSystemd
        }
        guard process.terminationStatus == 0 else {
            if arguments.first == "show-environment" { throw noSystemd }
            throw CommandFailure(.refused, "systemd", "systemctl --user \(arguments.joined(separator: " ")): \(text)")
        }
    }

    private static let noSystemd = CommandFailure(
        .refused,
        "no-systemd",
        "systemd does not run for this user, so there is nothing to enable. Have the session start: nfc background run"
    )
}
