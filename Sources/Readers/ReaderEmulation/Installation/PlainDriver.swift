// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// A driver that pcscd can safely load with root's rights: it needs only the C library, and has no search paths for
/// libraries.
package struct PlainDriver: Sendable {
    /// The file's bytes.
    package let bytes: [UInt8]

    /// Checks a driver.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - path: the file's path, for error messages.
    /// - Throws: ``EmulationError`` that says why it can't be used.
    package init(_ bytes: [UInt8], path: String) throws(EmulationError) {
        let file: ELFFile
        do throws(ELFFile.Failure) {
            file = try ELFFile(parsing: bytes)
        } catch {
            throw EmulationError("\(path) is no driver: \(error.reason) \(Self.remedy)")
        }
        if let runPath = file.runPath {
            throw EmulationError(
                "\(path) makes pcscd look for libraries in \(runPath), which is not the system's alone. \(Self.remedy)"
            )
        }
        if let library = file.neededLibraries.first(where: { !Self.isCLibrary($0) }) {
            throw EmulationError("\(path) needs \(library), which pcscd must not load. \(Self.remedy)")
        }
        self.bytes = bytes
    }

    private static let remedy = "Build a plain one with dev/build-pcsc-driver, and name it: --driver FILE"

    /// The C library, and the separate libraries that its older versions and some processors have.
    private static func isCLibrary(_ name: String) -> Bool {
        name == "libc.so.6" || name == "libpthread.so.0" || name.hasPrefix("ld-linux")
    }

    /// The maximum size of a driver file.
    private static let limit = 16 << 20

    /// Reads a driver from a file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - builder: a user whose files are trusted in addition to root's: the one who ran `sudo`.
    ///   - checksPath: whether to check that no other user can change the file or a folder in its path.
    package init(path: String, builder: UInt32?, checksPath: Bool) throws(EmulationError) {
        if checksPath, let part = TrustedPath.partOpenToOthers(path, owner: builder) {
            throw EmulationError(
                "\(part) can be changed by others than root, so pcscd must not get the driver \(path). Give another one."
            )
        }
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try InputFile(path, limit: Self.limit).readToEnd()
        } catch {
            throw EmulationError(error.reason)
        }
        try self.init(bytes, path: path)
    }
}
