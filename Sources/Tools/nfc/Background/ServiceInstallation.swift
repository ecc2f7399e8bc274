// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport

/// The files that register the user's service with systemd, the bus and the desktop.
struct ServiceInstallation {
    static let unitName = "nfcd.service"
    /// The largest existing file that may be replaced, in bytes. Larger files could not be restored.
    private static let maximumSize = 1 << 20
    private static let busFileName = "org.opencorenfc.Background.service"

    private let unitFolder: String
    private let dataFolder: String

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let folders = UserFolders(environment: environment)
        unitFolder = folders.config + "/systemd/user"
        dataFolder = folders.data
    }

    var paths: [String] {
        [
            "\(unitFolder)/\(Self.unitName)", "\(dataFolder)/dbus-1/services/\(Self.busFileName)",
            "\(dataFolder)/applications/org.opencorenfc.Background.desktop",
            "\(dataFolder)/icons/hicolor/scalable/apps/org.opencorenfc.Background.svg",
        ]
    }

    static let program = CompanionProgram(
        name: "nfcd",
        package: nil,
        debian: "opencorenfc-service",
        missing: "no-service"
    )

    /// Whether a program is in a folder that may be deleted: a build folder or a temporary folder.
    static func isTemporary(_ path: String) -> Bool {
        path.split(separator: "/").contains(".build") || path.hasPrefix("/tmp/") || path.hasPrefix("/var/tmp/")
    }

    // MARK: The files

    /// Writes the files. On failure, the caller restores the earlier files.
    func write(program: String, arguments: [String]) throws {
        let texts = [
            ServiceFiles.unit(program: program, arguments: arguments), ServiceFiles.busFile(program: program),
            ServiceFiles.desktopEntry(program: program), ServiceFiles.icon,
        ]
        for (path, text) in zip(paths, texts) {
            do {
                let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            } catch {
                throw CommandFailure("not-written", "The folder of \(path) can't be created.")
            }
            do throws(StorageError) {
                try OutputFile.write(Array(text.utf8), to: path, readers: .everyone)
            } catch {
                throw CommandFailure("not-written", error.reason)
            }
        }
    }

    /// Removes the files. Returns the paths of the files that existed.
    @discardableResult
    func remove() -> [String] {
        paths.filter { path in (try? FileManager.default.removeItem(atPath: path)) != nil }
    }

    struct Earlier {
        fileprivate var files: [String: [UInt8]] = [:]
        /// The folders that did not exist, deepest first.
        fileprivate var missingFolders: [String] = []

        var isEnabled: Bool { !files.isEmpty }
    }

    /// Saves the current state for ``restore(_:)``.
    ///
    /// - Throws: ``CommandFailure`` if an existing file could not be restored later.
    func earlier() throws -> Earlier {
        var earlier = Earlier()
        for path in paths {
            do throws(StorageError) {
                earlier.files[path] = try InputFile(path, limit: Self.maximumSize).readToEnd()
            } catch {
                guard error.code == .missing else { throw CommandFailure("not-written", error.reason) }
            }
            var folder = (path as NSString).deletingLastPathComponent
            while folder.count > 1, !FileManager.default.fileExists(atPath: folder) {
                earlier.missingFolders.append(folder)
                folder = (folder as NSString).deletingLastPathComponent
            }
        }
        // This folder is created by systemctl.
        let wants = unitFolder + "/default.target.wants"
        if !FileManager.default.fileExists(atPath: wants) { earlier.missingFolders.insert(wants, at: 0) }
        return earlier
    }

    func restore(_ earlier: Earlier) {
        remove()
        for (path, content) in earlier.files {
            try? OutputFile.write(content, to: path, readers: .everyone)
        }
        // Folders that are not empty are kept.
        for folder in earlier.missingFolders { unsafe rmdir(folder) }
    }

    static func systemctl(_ arguments: String...) throws {
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
        guard process.terminationStatus == 0 else {
            // This is the first command run, so it fails if systemctl is missing.
            if arguments == ["show-environment"] { throw noSystemd }
            throw CommandFailure("systemd", "systemctl --user \(arguments.joined(separator: " ")): \(text)")
        }
    }

    private static let noSystemd = CommandFailure(
        "no-systemd",
        "systemd does not run for this user, so it can't run the service. Start it yourself, or let your session start it: nfc background run"
    )
}

/// The contents of the files that register the service with systemd, the bus and the desktop.
enum ServiceFiles {
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
            # Apps run as units of their own. If an app is a child of the service after all, it outlives the service.
            KillMode=process

            # Limits for the service alone. The apps that it opens do not have them.
            UMask=0077
            LimitCORE=0
            MemoryMax=256M
            TasksMax=128
            NoNewPrivileges=yes
            LockPersonality=yes
            MemoryDenyWriteExecute=yes
            # The buses, pcscd and sessions; the sites that serve association files; the kernel, which reports that the network has
            # changed, and which the C library asks about addresses.
            RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
            RestrictNamespaces=yes
            RestrictRealtime=yes
            RestrictSUIDSGID=yes
            SystemCallArchitectures=native
            SystemCallFilter=@system-service
            SystemCallFilter=~@privileged @resources
            SystemCallErrorNumber=EPERM
            # PrivateTmp, ProtectSystem and ProtectHome are left out: in a user's unit systemd makes a user namespace for them.
            # There, files of root look like another user's files, so no installed app could be trusted, and programs that
            # have a camera open can't be found.

            [Install]
            WantedBy=default.target

            """
    }

    /// The bus activation file: tells the bus how to start the service. With systemd, the bus starts the unit.
    static func busFile(program: String) -> String {
        """
        # Starts nfcd when its name is called. 'nfc background enable' writes this file with the program's own path.
        [D-BUS Service]
        Name=org.opencorenfc.Background
        Exec=\(quotedForBus(program))
        SystemdService=nfcd.service

        """
    }

    /// The desktop entry for the notifications' sender. It is hidden from menus.
    static func desktopEntry(program: String) -> String {
        """
        [Desktop Entry]
        Type=Application
        Name=NFC
        Comment=Reads NFC tags in the background
        Icon=org.opencorenfc.Background
        Exec=\(quotedForDesktop(program))
        NoDisplay=true
        X-GNOME-UsesNotifications=true

        """
    }

    static let icon = """
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64">
          <rect x="4" y="4" width="56" height="56" rx="13" fill="#1f6feb"/>
          <g fill="none" stroke="#ffffff" stroke-width="5" stroke-linecap="round">
            <path d="M20 25a12 12 0 0 1 0 14"/>
            <path d="M29 20a21 21 0 0 1 0 24"/>
            <path d="M38 15a30 30 0 0 1 0 34"/>
          </g>
        </svg>

        """

    private static func quoted(_ word: String) -> String {
        guard !isPlain(word) else { return word }
        let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("$", with: "$$").replacing("\n", with: "\\n")
        return "\"\(text)\""
    }

    /// Quotes a word of a command for the bus, which parses commands like a shell, but without variables.
    private static func quotedForBus(_ word: String) -> String {
        isPlain(word) ? word : keyFileText("'\(word.replacing("'", with: #"'\''"#))'")
    }

    /// Quotes a word of a command for a desktop entry, without field codes for files or links (Desktop Entry
    /// Specification, "The Exec key").
    private static func quotedForDesktop(_ word: String) -> String {
        guard !isPlain(word) else { return word }
        var text = word.replacing("%", with: "%%")
        for character in ["\\", "\"", "`", "$"] { text = text.replacing(character, with: "\\\(character)") }
        return keyFileText("\"\(text)\"")
    }

    /// Escapes a value for bus and desktop files.
    private static func keyFileText(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    /// Whether a word needs no quoting in any of these files.
    private static func isPlain(_ word: String) -> Bool {
        !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B...0x2F, 0x3A, 0x3D, 0x40, 0x5F: true
                default: false
                }
            }
    }
}
