// SPDX-License-Identifier: Apache-2.0
import LinuxSupport

extension InputFile {
    /// Opens the input that the person named: a file, a pipe or a device; `-` is standard input.
    static func named(_ path: String, limit: Int) throws(StorageError) -> InputFile {
        path == "-" ? .standardInput(limit: limit) : try InputFile(path, limit: limit, takesPipes: true)
    }
}
