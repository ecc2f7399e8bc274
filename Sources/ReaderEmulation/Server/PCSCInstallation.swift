// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What pcscd has to be told of an emulated reader.
package struct PCSCInstallation: Sendable {
    /// The reader's name, without the two numbers that pcscd adds.
    package var readerName: String
    /// The socket at which the reader listens.
    package var socketPath: String
    /// The driver that pcscd loads.
    package var driverPath: String

    /// The driver's file name.
    package static let driverName = "libOpenCoreNFCReader.so"

    /// Creates the description of a reader.
    ///
    /// - Throws: ``EmulationError`` when pcscd's configuration can't hold a name or a path.
    package init(readerName: String, socketPath: String, driverPath: String) throws(EmulationError) {
        for path in [socketPath, driverPath] where path.utf8.contains(where: { $0 <= 0x20 || $0 == 0x22 || $0 == 0x23 })
        {
            throw EmulationError("pcscd's configuration takes no path with spaces or quotes, such as \(path).")
        }
        // pcscd adds two numbers, and a name has 127 octets at most.
        guard (1...100).contains(readerName.utf8.count), !readerName.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 })
        else { throw EmulationError("A reader's name has 1 to 100 octets, and no quotes.") }
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

    /// The folder in which a user's readers have their sockets, unless the user says otherwise.
    package static var defaultFolder: String {
        if geteuid() == 0 { return "/run/opencorenfc" }
        let runtime = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? ""
        return runtime.isEmpty ? "/tmp/opencorenfc-\(geteuid())" : runtime + "/opencorenfc"
    }

    /// Finds the driver beside this program, or where it is installed.
    ///
    /// - Throws: ``EmulationError`` that says where it was looked for.
    package static func findDriver() throws(EmulationError) -> String {
        var folders: [String] = []
        if let program = executablePath, let slash = program.lastIndex(of: "/") {
            let folder = String(program[..<slash])
            folders = [folder, folder + "/../lib"]
        }
        folders += ["/usr/local/lib", "/usr/lib", "/usr/lib/pcsc/drivers/serial"]
        for folder in folders {
            let path = folder + "/" + driverName
            if unsafe access(path, R_OK) == 0 { return path }
        }
        throw EmulationError(
            "\(driverName), which pcscd loads, is in none of \(folders.joined(separator: ", ")). Build it with: swift build"
        )
    }

    /// The path of the program that runs.
    private static var executablePath: String? {
        var target = [UInt8](repeating: 0, count: 4096)
        let count = unsafe target.withUnsafeMutableBytes { memory in
            guard let first = memory.baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", first, memory.count)
        }
        return count > 0 ? String(decoding: target.prefix(count), as: UTF8.self) : nil
    }
}
