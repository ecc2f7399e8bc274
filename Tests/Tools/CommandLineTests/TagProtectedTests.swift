// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What the commands say of a tag with a password, and that they leave it as it is.
@Suite(.ownThreads) struct `nfc tag and a tag with a password` {
    private let images: Images
    private let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "none"])

    init() throws {
        images = try Images()
    }

    /// The image of an empty NTAG213 that needs its password from a page on.
    ///
    /// - Parameters:
    ///   - page: AUTH0.
    ///   - access: ACCESS: 80 where reading needs the password too.
    private func image(from page: String, access: String) throws -> String {
        let path = try images.blank("NTAG213", format: "json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let guarded = text.replacing("bd040000ff00000000ffffffff", with: "bd040000\(page)\(access)000000ffffffff")
        try #require(guarded != text)
        try guarded.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(arguments: ["03", "04"]) func `A tag that can't be read was found all the same`(page: String) throws {
        let path = try image(from: page, access: "80")
        let told = try nfc.run("tag", "info", "--image", path)
        #expect(told.status == 0 && told.lines.first == "Product    NTAG213, Type 2", "\(told)")
        let object = try nfc.object("tag", "info", "--image", path)
        #expect(object["ok"] as? Bool == true && object["uid"] as? String == "04a1b2c3d4e580")
        #expect(object["product"] as? String == "NTAG213" && object["ndef_error"] as? String == "read-protected")
        #expect(object["status"] is NSNull)
        let near = Command(name: "nfc", environment: ["NFC_READER": "virtual", "NFC_TAGS": path, "NFC_SHEET": "none"])
        let found = try near.object("tag", "info")
        #expect(found["product"] as? String == "NTAG213" && found["ndef_error"] as? String == "read-protected")
    }

    @Test func `A tag that can't be locked is not written either`() throws {
        // The password begins with the page of the lock bits.
        let path = try image(from: "28", access: "00")
        for words in [["tag", "write", "--image", path], ["write", "--tags", path]] {
            let outcome = try nfc.run(words + ["--text", "hi", "--lock", "--json"])
            #expect(outcome.status == 1, "\(outcome)")
            #expect(try outcome.objects().first?["error"] as? String == "key-needed")
            let left = try nfc.object("tag", "info", "--image", path)
            #expect(left["message_hex"] as? String == "" && left["status"] as? String == "read-write")
            #expect(left["static_lock_hex"] as? String == "0000" && left["cc_hex"] as? String == "e1101200")
        }
        // Without the lock it is written.
        #expect(try nfc.run("tag", "write", "--image", path, "--text", "hi").status == 0)
    }

    @Test func `Its reader is told of the password, and not to write it again`() throws {
        let path = try image(from: "04", access: "80")
        for words in [["tag", "read", "--image", path], ["tag", "write", "--image", path, "a:b"]] {
            let outcome = try nfc.run(words)
            #expect(outcome.status == 1 && outcome.error.contains("password"), "\(outcome)")
            #expect(outcome.error.hasSuffix(" Use a program that knows its password.\n"), "\(outcome)")
            #expect(!outcome.output.contains("Not formatted"), "\(outcome)")
            #expect(try nfc.run(words + ["--json"]).objects().first?["error"] as? String == "read-protected")
        }
    }
}
