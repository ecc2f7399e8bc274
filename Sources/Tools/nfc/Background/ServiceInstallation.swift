// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport

/// The files that register a user's service with systemd, the bus and the desktop.
struct ServiceInstallation {
    /// The unit's name.
    static let unitName = "nfcd.service"
    /// Larger existing files are not replaced, because they could not be restored.
    private static let maximumSize = 1 << 20
    private static let busFileName = "org.opencorenfc.Background.service"

    private let unitFolder: String
    private let dataFolder: String

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let folders = UserFolders(environment: environment)
        unitFolder = folders.config + "/systemd/user"
        dataFolder = folders.data
    }

    /// The files, each with its path.
    var paths: [String] {
        [
            "\(unitFolder)/\(Self.unitName)", "\(dataFolder)/dbus-1/services/\(Self.busFileName)",
            "\(dataFolder)/applications/org.opencorenfc.Background.desktop",
            "\(dataFolder)/icons/hicolor/scalable/apps/org.opencorenfc.Background.svg",
        ]
    }

    /// The service's program: beside this one, or in one of the folders of `PATH`.
    static func program() throws(CommandFailure) -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        let beside = ProgramPath.ownFolder.map { $0 + "/nfcd" }
        guard let found = beside.flatMap({ ProgramPath.isProgram($0) ? $0 : nil }) ?? ProgramPath.find("nfcd", in: path)
        else {
            throw CommandFailure(
                .refused,
                "no-service",
                "There is no nfcd beside nfc or in PATH. Build or install it: swift build --product nfcd"
            )
        }
        return found
    }

    /// Whether a program is in a folder that may be cleaned: a build folder, or one for temporary files.
    static func isPassing(_ path: String) -> Bool {
        path.split(separator: "/").contains(".build") || path.hasPrefix("/tmp/") || path.hasPrefix("/var/tmp/")
    }

    // MARK: The files

    /// Writes the files. If that fails, it restores the earlier ones.
    func write(program: String, arguments: [String]) throws(CommandFailure) {
        let texts = [
            ServiceFiles.unit(program: program, arguments: arguments), ServiceFiles.busFile(program: program),
            ServiceFiles.desktopEntry(program: program), ServiceFiles.icon,
        ]
        for (path, text) in zip(paths, texts) {
            do {
                let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            } catch {
                throw CommandFailure(.refused, "not-written", "The folder of \(path) can't be created.")
            }
            do throws(StorageError) {
                try OutputFile.write(Array(text.utf8), to: path, readers: .everyone)
            } catch {
                throw CommandFailure(.refused, "not-written", error.reason)
            }
        }
    }

    /// Removes the files.
    ///
    /// - Returns: the files that existed.
    @discardableResult
    func remove() -> [String] {
        paths.filter { path in (try? FileManager.default.removeItem(atPath: path)) != nil }
    }

    /// The state before a change.
    struct Earlier {
        /// The content of each file that existed.
        fileprivate var files: [String: [UInt8]] = [:]
        /// The folders that did not exist, the deepest first.
        fileprivate var missingFolders: [String] = []

        /// Whether the service was enabled.
        var isEnabled: Bool { !files.isEmpty }
    }

    /// The state now, for ``restore(_:)``.
    ///
    /// - Throws: ``CommandFailure`` when an existing file could not be restored later.
    func earlier() throws(CommandFailure) -> Earlier {
        var earlier = Earlier()
        for path in paths {
            do throws(StorageError) {
                earlier.files[path] = try InputFile(path, limit: Self.maximumSize).readToEnd()
            } catch {
                guard error.code == .missing else { throw CommandFailure(.refused, "not-written", error.reason) }
            }
            var folder = (path as NSString).deletingLastPathComponent
            while folder.count > 1, !FileManager.default.fileExists(atPath: folder) {
                earlier.missingFolders.append(folder)
                folder = (folder as NSString).deletingLastPathComponent
            }
        }
        // systemctl creates it.
        let wants = unitFolder + "/default.target.wants"
        if !FileManager.default.fileExists(atPath: wants) { earlier.missingFolders.insert(wants, at: 0) }
        return earlier
    }

    /// Restores the earlier state.
    func restore(_ earlier: Earlier) {
        remove()
        for (path, content) in earlier.files {
            try? OutputFile.write(content, to: path, readers: .everyone)
        }
        // Folders that are not empty stay.
        for folder in earlier.missingFolders { unsafe rmdir(folder) }
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
        guard process.terminationStatus == 0 else {
            // The first question that is asked. It fails too where there is no systemctl.
            if arguments == ["show-environment"] { throw noSystemd }
            throw CommandFailure(.refused, "systemd", "systemctl --user \(arguments.joined(separator: " ")): \(text)")
        }
    }

    private static let noSystemd = CommandFailure(
        .refused,
        "no-systemd",
        "systemd does not run for this user, so it can't run the service. Start it yourself, or let your session start it: nfc background run"
    )
}
