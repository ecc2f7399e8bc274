// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `TagReader without a terminal` {
    private let images: Images
    private let store: String

    init() throws {
        images = try Images()
        store = images.folder.path("data/messages.json")
    }

    /// Runs commands with an image near the reader.
    private func run(_ commands: String..., near image: String?) throws -> Command.Outcome {
        var environment = ["TAGREADER_STORE": store, "NFC_READER": "virtual"]
        environment["NFC_TAGS"] = image
        let command = Command(name: "TagReader", environment: environment)
        return try command.run([], input: Data((commands.joined(separator: "\n") + "\n").utf8))
    }

    @Test func `It scans a dump of a poster and shows its records`() throws {
        let outcome = try run("scan", "show 1", near: images.poster())
        #expect(
            outcome.output == """
                1  2 records  Link: https://example.com/poster/12
                Message 1: 2 records, 54 bytes
                Record 1
                  Format      1, well-known
                  Type        U
                  Identifier  none
                  Payload     Link: https://example.com/poster/12
                Record 2
                  Format      1, well-known
                  Type        T
                  Identifier  none
                  Payload     Text (en): Opening hours 9 to 17

                """
        )
        #expect(
            outcome.error == """
                [Ready to Scan] Hold the card near the reader to see its messages.
                [Scanning] Hold the card near the reader to see its messages.
                [Scanning] The message is in your list.
                [Done] The message is in your list.

                """
        )
        #expect(outcome.status == 0)
    }

    @Test func `What it scanned in one run it writes in another, and scans again`() throws {
        #expect(try run("scan", near: images.poster()).status == 0)
        let blank = try images.blank("NTAG215")
        let outcome = try run("write 1", "scan", "list", near: blank)
        #expect(
            outcome.output == """
                The message is saved on the card.
                2  2 records  Link: https://example.com/poster/12
                1  2 records  Link: https://example.com/poster/12
                2  2 records  Link: https://example.com/poster/12

                """
        )
        #expect(outcome.status == 0)
    }

    @Test func `The second scan has another text`() throws {
        let outcome = try run("scan", "scan", near: images.poster())
        #expect(outcome.error.contains("[Ready to Scan] Hold another card near the reader."))
    }

    @Test func `It scans many until it has enough`() throws {
        let outcome = try run("scan --many 1", "list", near: images.poster())
        #expect(outcome.lines.count == 2)
        #expect(outcome.status == 0)
    }

    @Test func `A card that is locked says so`() throws {
        try expectRefusal("This card is locked and can't be changed. Please use another one.", by: images.locked())
    }

    @Test func `A card that holds no messages says so`() throws {
        try expectRefusal("This card can't hold messages. Please use another one.", by: images.unformatted())
    }

    @Test func `A card that is too small says so`() throws {
        let card = try images.blank("MIFARE Ultralight", uid: "04a1b2c3d4e583")
        try expectRefusal("The message has 54 bytes, but this card has room for 46.", by: card)
    }

    private func expectRefusal(_ text: String, by image: String) throws {
        #expect(try run("scan", near: images.poster()).status == 0)
        let outcome = try run("write 1", near: image)
        #expect(outcome.output == "")
        #expect(outcome.error.contains("[Failed] \(text)\n\(text)\n"))
        #expect(outcome.status == 1)
    }

    @Test(arguments: [
        "frob", "show", "show 1", "show x", "write 9", "delete 0", "scan --some", "scan --many 0", "list 1",
    ])
    func `A command that can't be run says what to do, and the next one runs`(command: String) throws {
        let outcome = try run(command, "list", near: nil)
        #expect(outcome.output == "No messages.\n")
        #expect(outcome.error.hasSuffix(".\n") || outcome.error.hasPrefix("Use: "))
        #expect(outcome.status == 1)
    }

    @Test func `A message that is deleted stays away`() throws {
        #expect(try run("scan", "scan", "delete 1", near: images.poster()).status == 0)
        #expect(try run("list", near: nil).lines.count == 1)
    }

    @Test(
        arguments: [
            (["HOME": "home"], "home/.local/share"),
            (["HOME": "home", "XDG_DATA_HOME": "data"], "data"),
        ]
    ) func `It keeps its messages where the environment says`(_ folders: [String: String], _ place: String) throws {
        var environment = ["XDG_DATA_HOME": ""].merging(folders.mapValues(images.folder.path)) { $1 }
        environment["NFC_READER"] = "virtual"
        environment["NFC_TAGS"] = try images.poster()
        let command = Command(name: "TagReader", environment: environment)
        #expect(try command.run([], input: Data("scan\n".utf8)).status == 0)
        #expect(FileManager.default.fileExists(atPath: images.folder.path("\(place)/tagreader/messages.json")))
    }

    @Test func `It declares what it needs, and so does the first example: nothing is missing`() throws {
        let environment = ["TAGREADER_STORE": store, "NFC_READER": "virtual", "NFC_STRICT": "1"]
        for (name, input) in [("TagReader", "scan\n"), ("FirstScan", "")] {
            let outcome = try Command(name: name, environment: environment).run(input: input)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(!outcome.error.contains("CoreNFC"))
        }
    }

    @Test func `A damaged store is kept aside, and said so`() throws {
        try FileManager.default.createDirectory(
            atPath: images.folder.path("data"),
            withIntermediateDirectories: true
        )
        try "{\"version\":1,\"mess".write(toFile: store, atomically: true, encoding: .utf8)
        let outcome = try run("list", near: nil)
        #expect(outcome.output == "No messages.\n")
        #expect(outcome.error.contains("were damaged. They are kept in \(store).damaged-1"))
        #expect(try String(contentsOfFile: store + ".damaged-1", encoding: .utf8) == "{\"version\":1,\"mess")
    }

    /// The name of a reader, with the test's own folder in the place of `FOLDER`.
    private func placed(_ reader: String) -> String {
        reader.replacing("FOLDER/none", with: images.folder.path("none"))
    }

    /// What is said where the system gives no reason; here it always does.
    private static let wrongReason = "No reader was found"

    @Test(arguments: [
        ("nonsense", "Scanning Isn't Available", "There is no reader \"nonsense\"; use virtual"),
        ("pn532:FOLDER/none", "Scanning Ended", "/none"),
    ])
    func `Without a reader the reason is said once, also by a write, and the status is 3`(
        reader: String,
        title: String,
        reason: String
    ) throws {
        #expect(try run("scan", near: images.poster()).status == 0)
        let name = placed(reader)
        let command = Command(name: "TagReader", environment: ["TAGREADER_STORE": store, "NFC_READER": name])
        for input in ["scan\n", "write 1\n", "scan\nscan\nlist\n", "scan\nfrob\n"] {
            let outcome = try command.run([], input: Data(input.utf8))
            let lines = outcome.error.split(separator: "\n")
            // The reason is the framework's, once for the process and before anything that fails for it.
            #expect(lines.count { $0.contains(reason) } == 1, "\(outcome.error)")
            let said = try #require(lines.firstIndex { $0.hasPrefix("CoreNFC: ") && $0.contains(reason) })
            #expect(lines[..<said].allSatisfy { $0.hasPrefix("[") }, "\(outcome.error)")
            #expect(lines[said...].contains("\(title)."), "\(outcome.error)")
            #expect(!outcome.error.contains(Self.wrongReason))
            #expect(outcome.status == 3)
        }
        // What needs no reader does not fail.
        #expect(try command.run([], input: Data("list\n".utf8)).status == 0)
    }

    @Test(arguments: ["nonsense", "pn532:FOLDER/none"])
    func `The first example shows the reason, and says it once on standard error`(reader: String) throws {
        let name = placed(reader)
        let outcome = try Command(name: "FirstScan", environment: ["NFC_READER": name]).run()
        let scan = try Command(name: "nfc").run(["scan", "--reader", name, "--json"])
        let reason = try #require(try scan.objects().first?["message"] as? String)
        #expect(outcome.output == "Scanning ended: \(reason)\n")
        #expect(outcome.error.split(separator: "\n").count { $0 == "CoreNFC: \(reason)" } == 1, "\(outcome.error)")
        #expect(outcome.status == 1)
    }
}
