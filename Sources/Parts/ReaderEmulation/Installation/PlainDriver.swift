// SPDX-License-Identifier: Apache-2.0
import Glibc
import PrivateStorage
import SystemLibrary

/// A driver that pcscd may load with root's rights: it needs the C library alone, and says nowhere where to look for others.
package struct PlainDriver: Sendable {
    /// The file's bytes.
    package let bytes: [UInt8]

    /// Checks a driver.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - path: where it is, for people.
    /// - Throws: ``EmulationError`` that says what makes it unfit.
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

    /// The C library, and what older versions of it and some processors have beside it.
    private static func isCLibrary(_ name: String) -> Bool {
        name == "libc.so.6" || name == "libpthread.so.0" || name.hasPrefix("ld-linux")
    }

    /// The largest driver that is read.
    private static let limit = 16 << 20

    /// Reads a driver from a file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - builder: the user whose files count as trusted, beside root's: the one who ran `sudo`.
    ///   - checksPath: whether others than those may be able to change the file or a folder on the way to it.
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
