// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct `README` {
    private func text(of path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func `The example is the program that is built`() throws {
        let source = try text(of: "Examples/FirstScan/main.swift").split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let program = source.dropFirst().joined(separator: "\n")
        #expect(try text(of: "README.md").contains("```swift\n" + program + "```"))
    }
}
