// SPDX-License-Identifier: Apache-2.0
import Glibc
package import LinuxSupport

/// pcscd's configuration of an emulated reader.
package struct PCSCInstallation: Sendable {
    /// The reader's name, without the two numbers that pcscd adds.
    package var readerName: String
    /// The socket on which the reader listens.
    package var socketPath: String
    /// The driver that pcscd loads.
    package var driverPath: String

    /// The name of a reader's socket.
    package static let socketName = "reader.sock"

    /// The driver's file name.
    package static let driverName = "libOpenCoreNFCReader.so"

    /// Creates the description of a reader.
    ///
    /// - Throws: ``EmulationError`` when pcscd's configuration can't contain a name or a path.
    package init(readerName: String, socketPath: String, driverPath: String) throws(EmulationError) {
        for path in [socketPath, driverPath] where path.utf8.contains(where: { $0 <= 0x20 || $0 == 0x22 || $0 == 0x23 })
        {
            throw EmulationError("pcscd's configuration takes no path with spaces or quotes, such as \(path).")
        }
        // pcscd adds two numbers, and a name has at most 127 bytes.
        guard (1...100).contains(readerName.utf8.count), !readerName.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 })
        else { throw EmulationError("A reader's name has 1 to 100 bytes, and no quotes.") }
        self.readerName = readerName
        self.socketPath = socketPath
        self.driverPath = driverPath
    }

    /// The lines for pcscd's `reader.conf.d`.
    package var configuration: String {
        """
        # An emulated reader, which is there while `nfc emulate --pcsc` runs.
        FRIENDLYNAME "\(readerName)"
        DEVICENAME   /dev/null:\(socketPath)
        LIBPATH      \(driverPath)
        CHANNELID    1

        """
    }

    /// The folder that root creates for the sockets of all users; each user has a separate folder in it.
    package static let systemFolder = "/run/opencorenfc"

    /// Finds the default folder for the sockets of the user's readers: the one that root has created for the user, else
    /// one in `XDG_RUNTIME_DIR`.
    ///
    /// - Parameter system: the folder in which root has created it.
    /// - Returns: the folder; nil when there is neither. A fixed name in a world-writable folder would allow another
    ///   user to create it first.
    package static func defaultFolder(in system: String = systemFolder) -> PrivateFolder? {
        if let name = ReaderOwner.current?.name,
            let folder = try? PrivateFolder(
                system + "/" + name,
                creates: false,
                guests: .mayRead,
                newMode: 0o755
            )
        {
            return folder
        }
        guard let runtime = EnvironmentVariable.value("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else { return nil }
        return try? PrivateFolder(runtime + "/opencorenfc")
    }

    /// Finds the driver beside this program, or in the place of its installation.
    ///
    /// - Throws: ``EmulationError`` that lists the places where it was looked for.
    package static func findDriver() throws(EmulationError) -> String {
        try findDriver(
            "\(driverName), which pcscd loads,",
            beside: [".", "../lib"],
            or: ["/usr/local/lib", "/usr/lib", "/usr/lib/pcsc/drivers/serial"],
            otherwise: "Build it with: swift build"
        )
    }

    /// Finds a driver.
    ///
    /// - Parameters:
    ///   - what: the driver, as the beginning of a sentence.
    ///   - relative: folders relative to this program's folder.
    ///   - folders: folders of the system.
    ///   - step: what to do when the driver is in none of them.
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
            throw EmulationError("\(what) is in none of \(all.joined(separator: ", ")). \(step)")
        }
        return found
    }
}
