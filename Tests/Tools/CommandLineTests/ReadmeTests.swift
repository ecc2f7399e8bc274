// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `The pages in front` {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(of path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test(arguments: ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md"])
    func `Every link leads to a file that is there`(page: String) throws {
        for link in try text(of: page).matches(of: /\]\((?<path>[^)#:]+)\)/) {
            let file = Self.root.appendingPathComponent(String(link.path))
            #expect(FileManager.default.fileExists(atPath: file.path), "\(page): \(link.path)")
        }
    }

    @Test func `The whole program in the documentation is the one that is built`() throws {
        let source = try text(of: "Examples/FirstScan/main.swift").split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let program = source.dropFirst().joined(separator: "\n")
        let page = try text(of: "Sources/Framework/CoreNFC/Documentation.docc/RunYourCodeOnLinux.md")
        #expect(page.contains("```swift\n" + program + "```"))
    }

    @Test func `The first command prints a scan, a write and the list`() throws {
        let readme = try text(of: "README.md")
        let command = try #require(readme.firstMatch(of: /printf '(?<input>[^']+)' \| swift run TagReader/))
        let input = String(command.input).replacing("\\n", with: "\n")
        let folder = try ScratchFolder()
        let environment = ["NFC_READER": "virtual", "TAGREADER_STORE": folder.path("messages.json")]
        let reader = Command(name: "TagReader", environment: environment)
        let run = try reader.run(input: input)
        #expect(run.status == 0)
        #expect(run.output.contains("Link: https://example.com/welcome"))
        #expect(run.output.contains("The message is saved on the card."))
        #expect(run.output.hasSuffix("2  2 records  Link: https://example.com/welcome\n"))
    }
}
