// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorModel
import SimulatorServer
import Testing

@Suite struct DrawerFolderTests {
    @Test("A tag whose format changes has one file, and none when it is deleted")
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
}
