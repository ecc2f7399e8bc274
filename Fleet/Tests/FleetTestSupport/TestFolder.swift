// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder of a test, which is removed with it.
package final class TestFolder: Sendable {
    package let path: String

    package init() throws {
        var template = Array("/tmp/fleet-test-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { throw TestProblem("No folder can be made in /tmp.") }
        path = unsafe String(cString: made)
    }

    /// Writes a file that only the owner can read.
    @discardableResult
    package func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let file = "\(path)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Why a test can't go on.
package struct TestProblem: Error, CustomStringConvertible {
    package let description: String
    package init(_ text: String) { description = text }
}
