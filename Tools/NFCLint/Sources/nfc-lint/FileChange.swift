// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes files that are mended.
enum FileChange {
    /// Replaces what a file holds in one step, through its links, and keeps its mode.
    static func write(_ bytes: [UInt8], to url: URL) throws {
        let target = url.resolvingSymlinksInPath()
        let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
        try Data(bytes).write(to: target, options: .atomic)
        if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: target.path) }
    }
}
