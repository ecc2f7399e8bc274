// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// A reader that root installs once for a user. From then on, pcscd lists the reader. Only root can change its driver
/// and its socket folder. The reader has a tag while the user runs `nfc emulate --pcsc`.
package struct SystemReader: Sendable {
    package let owner: ReaderOwner
    /// The folder that replaces the root of every path; empty for the system itself.
    package let root: String

    /// Describes a user's reader. Packagers can pass the absolute path of a folder that replaces the system's root.
    package init(_ owner: ReaderOwner, root: String? = nil) {
        self.owner = owner
        var root = root ?? ""
        while root.hasSuffix("/") { root.removeLast() }
        self.root = root
    }

    private static let driverFolder = "/usr/lib/pcsc/drivers/serial"
    private static let configurationFolder = "/etc/reader.conf.d"
    private static let temporaryFolder = "/etc/tmpfiles.d"
    private static let prefix = "opencorenfc-"

    /// The path of the driver that pcscd loads, without the root.
    private static var driverPath: String { driverFolder + "/" + PCSCInstallation.driverName }
    private var socketFolder: String { PCSCInstallation.systemFolder + "/" + owner.name }
    private var fileName: String { Self.prefix + owner.name }
    package var socketPath: String { socketFolder + "/" + PCSCInstallation.socketName }
    /// The file with pcscd's configuration of the reader.
    package var configurationPath: String { root + Self.configurationFolder + "/" + fileName }
    /// The file that makes systemd create the socket's folder at each start.
    package var temporaryPath: String { root + Self.temporaryFolder + "/" + fileName + ".conf" }
    package var installedDriverPath: String { root + Self.driverPath }

    // MARK: Install

    /// Installs or replaces the reader. Returns the files and folders that were written. Throws ``EmulationError``.
    /// Files that were already written are then kept, and do no harm.
    package func install(_ driver: PlainDriver, readerName: String) throws(EmulationError) -> [String] {
        let lines = try PCSCInstallation(
            readerName: readerName,
            socketPath: socketPath,
            driverPath: Self.driverPath
        ).configuration
        if root.isEmpty { try checkRights() }
        return try EmulationError.converting { () throws(StorageError) in
            let drivers = try Self.folder(root + Self.driverFolder)
            try drivers.replace(PCSCInstallation.driverName, with: driver.bytes, mode: 0o644)
            let temporary = try Self.folder(root + Self.temporaryFolder)
            try temporary.replace(fileName + ".conf", with: Array(temporaryLines.utf8), mode: 0o644)
            var written = [installedDriverPath, temporaryPath]
            if root.isEmpty {
                let folder = try Self.folder(PCSCInstallation.systemFolder)
                try folder.setMode(0o755)
                try folder.makeFolder(owner.name, owner: owner.userID, group: access.groupID, mode: access.mode)
                written.append(socketFolder)
            }
            // Written last, because these lines make pcscd load the driver.
            let configurations = try Self.folder(root + Self.configurationFolder)
            try configurations.replace(fileName, with: Array(lines.utf8), mode: 0o644)
            return written + [configurationPath]
        }
    }

    /// Throws if anyone but root can change a folder of the installation.
    private func checkRights() throws(EmulationError) {
        guard geteuid() == 0 else {
            throw EmulationError("Only root can install a reader: sudo nfc emulate install --for \(owner.name)")
        }
        for folder in [
            Self.driverFolder, Self.temporaryFolder, Self.configurationFolder, PCSCInstallation.systemFolder,
        ] {
            do throws(StorageError) {
                _ = try ResolvedPath(folder, .trusted(owner: nil, takesOwnGroups: false), isPartial: true)
            } catch {
                throw EmulationError("\(error.reason) First make root its only writer (chown root, chmod go-w).")
            }
        }
    }

    private static func folder(_ path: String) throws(StorageError) -> PrivateFolder {
        try PrivateFolder(path, guests: .mayRead, newMode: 0o755)
    }

    /// Who else may access the socket: pcscd's group, if that group exists, because pcscd may then not run as root.
    /// Otherwise nobody.
    private var access: (groupID: UInt32, groupName: String, mode: UInt32) {
        guard let group = ReaderOwner.group(named: "pcscd") else {
            return (owner.groupID, String(owner.groupID), 0o700)
        }
        return (group, "pcscd", 0o2750)
    }

    private var temporaryLines: String {
        let access = access
        return """
            # The folder of \(owner.name)'s emulated reader. Written by: nfc emulate install
            d \(PCSCInstallation.systemFolder) 0755 root root -
            d \(socketFolder) \(String(access.mode, radix: 8)) \(owner.name) \(access.groupName) -

            """
    }

    // MARK: Uninstall

    /// Removes the reader, and the driver if this was the last reader. Returns the files and folders that were removed;
    /// empty when nothing was installed.
    package func uninstall() throws(EmulationError) -> [String] {
        if root.isEmpty, geteuid() != 0 {
            throw EmulationError("Only root can remove a reader: sudo nfc emulate uninstall --for \(owner.name)")
        }
        return try EmulationError.converting { () throws(StorageError) in
            var removed: [String] = []
            for path in [configurationPath, temporaryPath] where try Self.remove(path) { removed.append(path) }
            if root.isEmpty, removeSocketFolder() { removed.append(socketFolder) }
            let others = FolderNames.read(root + Self.configurationFolder, limit: 1) { $0.hasPrefix(Self.prefix) }
            if others?.isEmpty != false, try Self.remove(installedDriverPath) {
                removed.append(installedDriverPath)
            }
            return removed
        }
    }

    /// Removes a file. Returns whether the file existed.
    private static func remove(_ path: String) throws(StorageError) -> Bool {
        guard unsafe Glibc.access(path, F_OK) == 0, let parts = PathParts(path) else { return false }
        try PrivateFolder(parts.folder, creates: false, guests: .mayRead).remove(parts.name)
        return true
    }

    /// Removes the folder of the socket, with the socket of a reader that was killed. A folder with other files of the
    /// user is kept.
    private func removeSocketFolder() -> Bool {
        guard let parent = try? PrivateFolder(PCSCInstallation.systemFolder, creates: false, guests: .mayRead) else {
            return false
        }
        return parent.removeFolder(owner.name, with: [PCSCInstallation.socketName])
    }

    // MARK: Installed reader

    /// The reader's name in pcscd; nil when the reader is not installed.
    package var installedName: String? {
        guard let bytes = try? TrustedFile.read(configurationPath, limit: 64 << 10) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.contains(where: { $0.hasPrefix("DEVICENAME") && $0.hasSuffix(":" + socketPath) }),
            let name = lines.first(where: { $0.hasPrefix("FRIENDLYNAME") })
        else { return nil }
        let parts = name.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[1]) : nil
    }

    /// Finds the plain driver that belongs to this program. Throws ``EmulationError``, which lists the searched
    /// folders.
    package static func findDriver() throws(EmulationError) -> String {
        try PCSCInstallation.findDriver(
            "The plain \(PCSCInstallation.driverName)",
            beside: ["../lib/opencorenfc", "../../pcsc-driver"],
            or: ["/usr/local/lib/opencorenfc", "/usr/lib/opencorenfc"],
            otherwise: "Build it with dev/build-pcsc-driver, or pass it with: --driver FILE"
        )
    }
}

/// The user for whom a reader is installed.
package struct ReaderOwner: Sendable, Hashable {
    /// The user's name, or the number if the user has no name.
    package let name: String
    package let userID: UInt32
    package let groupID: UInt32

    /// Finds a user. Throws ``EmulationError`` when the user does not exist, or the name can't be a file name.
    package init(_ text: String) throws(EmulationError) {
        if let entry = unsafe getpwnam(text) {
            unsafe (userID, groupID) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
            name = text
        } else if let number = UInt32(text), String(number) == text, number != .max {
            userID = number
            if let entry = unsafe getpwuid(number), let known = unsafe entry.pointee.pw_name {
                groupID = unsafe entry.pointee.pw_gid
                name = unsafe String(cString: known)
            } else {
                (groupID, name) = (number, text)
            }
        } else {
            throw EmulationError("The user \(text) does not exist.")
        }
        guard Self.canBeFileName(name) else {
            throw EmulationError("The user's name \(name) can't be in a file name. Give the user's number.")
        }
    }

    /// Returns whether a file can have this name, without being mistaken for an option or a hidden file.
    static func canBeFileName(_ name: String) -> Bool {
        name.utf8.count <= 32 && name.first != "." && name.first != "-"
            && name.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || ".-_".utf8.contains($0)
            }
    }

    /// The user of this process.
    package static var current: ReaderOwner? { try? ReaderOwner(String(geteuid())) }

    /// Returns the number of a group, such as pcscd's; nil when the group does not exist.
    package static func group(named name: String) -> UInt32? {
        guard let entry = unsafe getgrnam(name) else { return nil }
        return unsafe entry.pointee.gr_gid
    }
}

/// A driver that pcscd can safely load with root's rights. It needs only the C library, and has no search paths for
/// libraries.
package struct PlainDriver: Sendable {
    package let bytes: [UInt8]

    /// Checks a complete driver file. Throws ``EmulationError``, which explains why the driver can't be used.
    package init(_ bytes: [UInt8], path: String) throws(EmulationError) {
        let file: ELFFile
        do throws(ELFFile.Failure) {
            file = try ELFFile(parsing: bytes)
        } catch {
            throw EmulationError("\(path) is not a driver: \(error.reason) \(Self.remedy)")
        }
        if let runPath = file.runPath {
            throw EmulationError(
                "\(path) makes pcscd look for libraries in \(runPath), which other users may be able to change. \(Self.remedy)"
            )
        }
        if let library = file.neededLibraries.first(where: { !Self.isCLibrary($0) }) {
            throw EmulationError("\(path) needs \(library), which pcscd must not load. \(Self.remedy)")
        }
        self.bytes = bytes
    }

    private static let remedy = "Build a plain driver with dev/build-pcsc-driver, and pass it with: --driver FILE"

    /// Returns whether a library is the C library, or a separate part of it on older versions and some processors.
    private static func isCLibrary(_ name: String) -> Bool {
        name == "libc.so.6" || name == "libpthread.so.0" || name.hasPrefix("ld-linux")
    }

    /// The maximum size of a driver file.
    private static let limit = 16 << 20

    /// Reads a driver from a file. If the path is checked, only root and the builder may be able to change it. The
    /// builder is the user who ran `sudo`.
    package init(path: String, builder: UInt32?, checksPath: Bool) throws(EmulationError) {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes =
                checksPath
                ? try TrustedFile.read(path, limit: Self.limit, owner: builder, takesOwnGroups: false)
                : try InputFile(path, limit: Self.limit).readToEnd()
        } catch {
            guard error.code == .unsafe else { throw EmulationError(error.reason) }
            throw EmulationError("\(error.reason) So pcscd must not load the driver \(path). Choose another one.")
        }
        try self.init(bytes, path: path)
    }
}
