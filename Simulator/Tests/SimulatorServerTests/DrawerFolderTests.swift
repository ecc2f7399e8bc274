// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorModel
import SimulatorServer
import Testing

@Suite struct DrawerFolderTests {
    @Test("Tag whose file format changes: the file with the old ending is replaced; a deleted tag has no file")
    func formats() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "drawer-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try DrawerFolder(path) { problem in Issue.record("\(problem)") }
        func files(after change: Changes.FileChange) throws -> [String] {
            folder.write([change])
            folder.finish()
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }.sorted()
        }
        #expect(try files(after: .store(id: "card", fileExtension: "nfc", [1])) == ["card.nfc"])
        #expect(try files(after: .store(id: "other", fileExtension: "nfc", [1])) == ["card.nfc", "other.nfc"])
        #expect(try files(after: .store(id: "card", fileExtension: "json", [2])) == ["card.json", "other.nfc"])
        #expect(try files(after: .store(id: "card", fileExtension: "json", [3])) == ["card.json", "other.nfc"])
        #expect(try files(after: .remove(id: "card")) == ["other.nfc"])
    }

    @Test("Files with one name and different endings: the newest one is the tag, and the others are reported")
    func sameName() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "drawer-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let maker = Simulator()
        for (format, ending, age) in [("json", "json", 2.0), ("flipper", "nfc", 1), ("proxmark-json", "pm3.json", 3)] {
            let made = try maker.perform(["do": "new_tag", "product": "NTAG213", "text": .string(format)])
            let bytes = try maker.exportTag(try #require(made["tag"]?.string), format: format).bytes
            let file = "\(path)/card.\(ending)"
            try Data(bytes).write(to: URL(fileURLWithPath: file))
            let date = Date(timeIntervalSince1970: 1_700_000_000 - age)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
        }
        let folder = try DrawerFolder(path) { problem in Issue.record("\(problem)") }
        let simulator = Simulator()
        let left = folder.load(into: simulator).compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(left.sorted() == ["card.json", "card.pm3.json"])
        let tags = try simulator.perform(["do": "list"])["tags"]?.array
        #expect(tags?.map { $0["message"]?.array?.first?["text"] } == ["flipper"])
    }
}
