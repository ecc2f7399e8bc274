// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Symbolic links.
package enum SymbolicLink {
    /// What is written in a link.
    ///
    /// - Parameter path: the link's path.
    /// - Returns: the bytes; nil when there is no link, or it can't be read.
    package static func target(of path: UnsafePointer<CChar>) -> [UInt8]? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        guard count != -1 else { return nil }
        guard count < target.count else { return nil }
        return target.prefix(count).map { UInt8(bitPattern: $0) }
    }
}
