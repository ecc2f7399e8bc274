// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct `The module` {
    @Test func `Imports nothing, Foundation least of all`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let sources = root.appending(path: "Sources/Contract/NDEF")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 20)
        for file in files {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            let imports = text.split(separator: "\n").filter { line in
                line.split(separator: " ").prefix { $0 != "import" }.allSatisfy { Self.modifiers.contains($0) }
                    && line.contains("import ")
            }
            #expect(imports.isEmpty, "\(file)")
        }
    }

    private static let modifiers: Set<Substring> = ["public", "package", "internal", "@_exported", "@preconcurrency"]
}
