// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PrivateStorage
import SystemLibrary

/// The files by which systemd and the bus start the service of a user, and the desktop knows it.
struct ServiceInstallation {
    /// The unit's name.
    static let unitName = "nfcd.service"
    /// A file of the user's own that is larger is not replaced.
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
                "There is no nfcd beside nfc, nor in PATH. Build or install it: swift build --product nfcd"
            )
        }
        return found
    }

    /// Whether a program's path goes when somebody cleans up: that of a build, or of a folder for temporary files.
    static func isPassing(_ path: String) -> Bool {
        path.split(separator: "/").contains(".build") || path.hasPrefix("/tmp/") || path.hasPrefix("/var/tmp/")
    }

    // MARK: The files

    /// Writes the files. When that fails, they are as before.
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
                throw CommandFailure(.refused, "not-written", "The folder of \(path) can't be made.")
            }
            do throws(StorageError) {
                try OutputFile.write(Array(text.utf8), to: path, readers: .everyone)
            } catch {
                throw CommandFailure(.refused, "not-written", error.reason)
            }
        }
    }

    /// Takes the files away.
    ///
    /// - Returns: those that were there.
    @discardableResult
    func remove() -> [String] {
        paths.filter { path in (try? FileManager.default.removeItem(atPath: path)) != nil }
    }

    /// How everything was before.
    struct Earlier {
        /// What each file had that was there.
        fileprivate var files: [String: [UInt8]] = [:]
        /// The folders that were not there, the deepest first.
        fileprivate var missingFolders: [String] = []

        /// Whether the service was enabled.
        var isEnabled: Bool { !files.isEmpty }
    }

    /// What there is now, for ``restore(_:)``.
    ///
    /// - Throws: ``CommandFailure`` when a file is there that could not be put back.
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
        // systemctl makes it.
        let wants = unitFolder + "/default.target.wants"
        if !FileManager.default.fileExists(atPath: wants) { earlier.missingFolders.insert(wants, at: 0) }
        return earlier
    }

    /// Puts everything back as it was.
    func restore(_ earlier: Earlier) {
        remove()
        for (path, content) in earlier.files {
            try? OutputFile.write(content, to: path, readers: .everyone)
        }
        // Those that have something in them by now stay.
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
        "systemd does not run for this user, so it can't run the service. Start it yourself, or have your session start it: nfc background run"
    )
}
