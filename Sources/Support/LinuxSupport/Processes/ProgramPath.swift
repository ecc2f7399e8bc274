// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Finds programs.
package enum ProgramPath {
    /// Finds a program in folders.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - folders: the folders, in the form of `PATH`. Relative ones are ignored.
    /// - Returns: the path of the first one that can be run; nil when there is none.
    package static func find(_ name: String, in folders: String) -> String? {
        folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    /// Returns whether a path leads to a file that this user may run.
    package static func isProgram(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        return unsafe access(path, X_OK) == 0
    }

    /// The path of the running program; nil when the system does not report it.
    package static var own: String? {
        unsafe SymbolicLink.target(of: "/proc/self/exe").map { String(decoding: $0, as: UTF8.self) }
    }

    /// The folder of the running program.
    package static var ownFolder: String? {
        guard let own, let slash = own.lastIndex(of: "/") else { return nil }
        return String(own[..<slash])
    }
}
