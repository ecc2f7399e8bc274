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
        // What is missing is of no kind.
        _ = unsafe stat(path, &status)
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        return unsafe access(path, X_OK) == 0
    }

    /// The path of the running program; nil when the system does not report it.
    package static var own: String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &target, target.count)
        // mutate: equivalent comparison branch literal, because a program that runs has a path.
        guard count > 0 else { return nil }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The folder of the running program.
    package static var ownFolder: String? {
        guard let own, let slash = own.lastIndex(of: "/") else { return nil }
        return String(own[..<slash])
    }
}
