// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import Testing

/// A folder for one test. It is deleted with this object.
final class ScratchFolder {
    let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Makes a file.
    func file(_ name: String, _ text: String, mode: mode_t = 0o644) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try #require(unsafe chmod(path, mode) == 0)
        return path
    }

    /// Makes a symbolic link.
    func link(_ name: String, to destination: String) throws -> String {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: destination)
        return path(name)
    }

    /// Makes a named pipe.
    func pipe(_ name: String) throws -> String {
        try #require(unsafe mkfifo(path(name), 0o600) == 0)
        return path(name)
    }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    /// What the system knows of a file, without following links.
    func status(_ name: String) throws -> stat {
        var status = stat()
        try #require(unsafe lstat(path(name), &status) == 0)
        return status
    }

    func mode(_ name: String) throws -> mode_t { try status(name).st_mode & 0o777 }

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } }

    /// The paths in a folder, and the folder's own, of what this process has open.
    static func open(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + number)
        }
        .filter { $0.hasPrefix(folder) }.sorted()
    }

    /// What the process takes off the mode of new files.
    static var mask: mode_t {
        get throws {
            let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("Umask:") })
            return try #require(mode_t(line.split(separator: "\t")[1], radix: 8))
        }
    }

    static let isRoot = geteuid() == 0

    /// Makes this process one of a user whom the system refuses something, and gives that user a folder.
    static func becomeOrdinary(with folder: String) {
        guard geteuid() == 0 else { return }
        #expect(unsafe chown(folder, 12345, 12345) == 0)
        #expect(seteuid(12345) == 0)
    }

    /// Makes a folder with a mode.
    func makeFolder(_ name: String, _ mode: mode_t) throws -> String {
        try #require(unsafe mkdir(path(name), 0o700) == 0 && chmod(path(name), mode) == 0)
        return path(name)
    }

    /// A user's number that no process of a test has.
    static let stranger: uid_t = 12345

    /// Gives a file to that user.
    static func give(_ path: String) throws { try #require(unsafe lchown(path, stranger, stranger) == 0) }

    /// Limits how many bytes a file that this process writes may have.
    static func limitFiles(to count: rlim_t) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: count, rlim_max: count)
        // RLIMIT_FSIZE
        #expect(unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0)
    }
}

/// The code of the error that a body throws; nil for none.
func code(_ body: () throws -> Void) throws -> StorageError.Code? {
    do {
        try body()
        return nil
    } catch let error as StorageError { return error.code }
}
