// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Images of tags in a test's own folder, so that changes stay there.
struct Images {
    let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    /// A dump of an NTAG215 with a link and a text.
    func poster() throws -> String {
        let original = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Images/poster-ntag215.nfc")
        let copy = folder.path("poster.nfc")
        try FileManager.default.copyItem(atPath: original.path, toPath: copy)
        return copy
    }

    /// The path of a dump of the tests of images.
    static func dump(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Parts/TagImagesTests/Dumps/\(name)").path
    }

    /// The message of ``poster()`` as people read it.
    static let posterText = """
        Message: 2 records, 54 bytes
          1. URI, 22 bytes, type U
             https://example.com/poster/12
          2. Text, 24 bytes, type T
             “Opening hours 9 to 17” (en, UTF-8)
        """

    /// A tag in its factory state.
    func blank(_ product: String, uid: String = "04a1b2c3d4e580", format: String = "nfc") throws -> String {
        let path = folder.path("\(product)-\(uid).\(format)")
        let outcome = try Command(name: "nfc").run("tag", "create", "--product", product, "--uid", uid, "--out", path)
        try #require(outcome.status == 0, "\(outcome.error)")
        return path
    }

    /// An NTAG 424 DNA whose link changes at every read, with keys of zeros.
    func changingLink() throws -> String {
        let link = "\u{04}example.com/t?e=\(String(repeating: "0", count: 32))&c=\(String(repeating: "0", count: 16))"
        let ndef: [UInt8] = [0, UInt8(link.utf8.count + 4), 0xD1, 0x01, UInt8(link.utf8.count), 0x55] + link.utf8
        func hex(_ bytes: [UInt8], _ size: Int) -> String {
            (bytes + [UInt8](repeating: 0, count: size - bytes.count)).map { String(format: "%02x", $0) }.joined()
        }
        let container = "001720010000ff0406e104010000000506e10500808283"
        let text = """
            {"type": "T4T", "product": "NTAG 424 DNA", "uid": "04de5f1eacc040", "ats": "067777710280", \
            "files": {"e103": "\(container + String(repeating: "0", count: 64 - container.count))", \
            "e104": "\(hex(ndef, 256))", "e105": "\(hex([0, 126], 128))"}, \
            "file_settings": {"e104": "4000e0c1f1211700003a00003a0000"}}
            """
        let path = folder.path("ntag424.json")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A tag whose capability container is empty.
    func unformatted() throws -> String {
        let path = try blank("NTAG213", uid: "04a1b2c3d4e581")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let changed = text.replacingOccurrences(of: "Page 3: E1 10 12 00", with: "Page 3: 00 00 00 00")
        try #require(changed != text)
        try changed.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A tag with a message that can't be changed any more.
    func locked() throws -> String {
        let path = try blank("NTAG213", uid: "04a1b2c3d4e582")
        let outcome = try Command(name: "nfc").run("tag", "write", "--image", path, "--lock", "https://example.com")
        try #require(outcome.status == 0, "\(outcome.error)")
        return path
    }
}
