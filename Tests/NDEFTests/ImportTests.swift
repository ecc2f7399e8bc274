// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct `The module` {
    @Test func `Imports nothing, Foundation least of all`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let sources = root.appending(path: "Sources/NDEF")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 20)
        for file in files {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            #expect(!text.contains(/(?m)^\s*(@\w+\s+)*(public |package |internal )?import /), "\(file)")
        }
    }
}
