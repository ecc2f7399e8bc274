// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinuxSupport
import NFCLintEngine

/// Writes fixed files and baselines.
enum FileChange {
    /// Whether a file is inside a folder, after resolving links.
    static func isInside(_ folder: URL, _ file: URL) -> Bool {
        let root = folder.resolvingSymlinksInPath().path
        return file.resolvingSymlinksInPath().path.hasPrefix(root.hasSuffix("/") ? root : root + "/")
    }

    /// Replaces the contents of a file atomically. Follows links, except those of another user, and keeps the file's
    /// mode.
    static func write(_ bytes: [UInt8], to url: URL) throws {
        do throws(StorageError) {
            try OutputFile.write(bytes, to: url.path, readers: .everyone)
        } catch {
            throw Failure(error.reason)
        }
    }

    /// Writes a baseline to a new file or over an existing baseline. Never overwrites any other file.
    static func write(baseline text: String, to url: URL) throws {
        let bytes = Array(text.utf8)
        let target = url.resolvingSymlinksInPath()
        if (try? FileManager.default.attributesOfItem(atPath: url.path)) == nil {
            do {
                return try Data(bytes).write(to: url, options: .withoutOverwriting)
            } catch {
                throw Failure("\(url.path) can't be written\(Failure.reason(error)).")
            }
        }
        let values = try? target.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
        guard values?.isRegularFile == true, (values?.fileSize ?? 0) < Choices.largestBaseline,
            let old = try? Data(contentsOf: target), (try? Baseline(Array(old))) != nil
        else { throw ValidationError("\(url.path) exists, but is not a baseline. It was not changed.") }
        try write(bytes, to: url)
    }
}
