// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// A file with an image in each line.
@Suite(.ownThreads) struct `A file of several images` {
    private static let link = "https://example.com"
    private let images: Images
    private let nfc = Command(name: "nfc")

    init() throws {
        images = try Images()
    }

    /// Two empty tags, with the identifiers a and b.
    private func several() throws -> String {
        let lines = try [("a", "04a1b2c3d4e580"), ("b", "04a1b2c3d4e581")].map { id, uid in
            let image = try Data(contentsOf: URL(fileURLWithPath: images.blank("NTAG213", uid: uid, format: "json")))
            var object = try #require(try JSONSerialization.jsonObject(with: image) as? [String: Any])
            object["id"] = id
            return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        }
        let path = images.folder.path("several.jsonl")
        try lines.map { $0 + "\n" }.joined().write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `The first is read, or the one with the identifier`() throws {
        let path = try several()
        #expect(try nfc.object("tag", "read", "--image", path)["uid"] as? String == "04a1b2c3d4e580")
        for (id, uid) in [("a", "04a1b2c3d4e580"), ("b", "04a1b2c3d4e581")] {
            #expect(try nfc.object("tag", "read", "--image", path, "--id", id)["uid"] as? String == uid)
        }
    }

    @Test(arguments: [[], ["--id", "a"], ["--id", "c"]])
    func `The line that is no image is named, whichever is asked for`(id: [String]) throws {
        let path = try several()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try (text + "\ngarbage\n").write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try nfc.run(["tag", "info", "--image", path, "--json"] + id)
        #expect(outcome.status == 1)
        let object = try #require(try outcome.objects().first)
        #expect(object["error"] as? String == "malformed")
        let reason = "The first line is a JSON object, and this one is not. Correct or remove it."
        #expect(object["message"] as? String == "\(path): line 4: \(reason)")
    }

    @Test func `What is wrong with the image that is asked for has the number of its line`() throws {
        let path = try several()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try (text + #"{"id":"c"}"# + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try nfc.run("tag", "info", "--image", path, "--id", "c")
        #expect(outcome.status == 1 && outcome.error.hasPrefix("Error: \(path): line 3: "), "\(outcome)")
        #expect(try nfc.object("tag", "read", "--image", path, "--id", "b")["uid"] as? String == "04a1b2c3d4e581")
    }

    @Test(arguments: ["\u{FEFF}%", "\u{FEFF}%\n", " \t%\t \n", "%\n\t\n", "%\r\n \t\r\n"])
    func `An image alone may have blanks around it, and a byte order mark before it`(form: String) throws {
        let lines = try String(contentsOfFile: several(), encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first)
        let path = images.folder.path("one.json")
        let text = form.replacingOccurrences(of: "%", with: String(line))
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try nfc.object("tag", "read", "--image", path)["uid"] as? String == "04a1b2c3d4e580")
    }

    @Test func `Each line may have blanks around its image, and there may be blank lines`() throws {
        let path = try several()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let text = lines.map { " \t\($0) \t\n\t\n" }.joined()
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try nfc.object("tag", "read", "--image", path, "--id", "b")["uid"] as? String == "04a1b2c3d4e581")
    }

    @Test(arguments: [[], ["--id", "b"]])
    func `It is not replaced by one of them that was written`(id: [String]) throws {
        let path = try several()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let outcome = try nfc.run(["tag", "write", "--image", path, "--json", Self.link] + id)
        #expect(outcome.status == 2)
        #expect(try outcome.objects().first?["error"] as? String == "several-images")
        let line = images.folder.path("line")
        let shown = try nfc.run(["emulate", "--image", path, "--pn532", line, "--timeout", "0.2", "--json"] + id)
        #expect(shown.status == 2)
        #expect(try shown.objects().last?["error"] as? String == "several-images")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        // Another file takes it.
        let out = images.folder.path("other.json")
        #expect(try nfc.run(["tag", "write", "--image", path, "--out", out, Self.link] + id).status == 0)
        let written = try nfc.object("tag", "read", "--image", out)
        #expect(written["uid"] as? String == (id.isEmpty ? "04a1b2c3d4e580" : "04a1b2c3d4e581"))
        #expect(written["message_hex"] as? String == "d1010c55046578616d706c652e636f6d")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}
