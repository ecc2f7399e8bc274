// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

/// Files in the place of TagReader's messages that it did not write.
@Suite(.ownThreads) struct `A file of messages that TagReader did not write` {
    private let scratch: ScratchFolder
    private let store: String

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.path("messages.json")
    }

    private func run(_ commands: String..., at path: String? = nil) throws -> Command.Outcome {
        let environment = ["TAGREADER_STORE": path ?? store, "NFC_READER": "virtual", "NFC_SHEET": "none"]
        return try Command(name: "TagReader", environment: environment)
            .run(input: commands.joined(separator: "\n") + "\n")
    }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: store)) }

    private func text(_ name: String = "messages.json") throws -> String {
        try String(contentsOfFile: scratch.path(name), encoding: .utf8)
    }

    private static func message(_ number: String) -> String { #"{"number":\#(number),"records":[]}"# }

    @Test(arguments: [
        #"{"version":1,"last":9223372036854775807,"messages":[]}"#,
        #"{"version":1,"messages":[\#(message("9223372036854775807"))]}"#,
        #"{"version":1,"messages":[\#(message("9223372036854775807")),\#(message("1"))]}"#,
        #"{"version":1,"messages":[\#(message("9007199254740993"))]}"#,
        #"{"version":1,"messages":[\#(message("9007199254740992")),{"records":[]}]}"#,
    ])
    func `Numbers that leave no room for others are damage: it is kept aside, and the app goes on`(file: String) throws
    {
        try write(file)
        let outcome = try run("scan", "list")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(
            outcome.error
                == "The saved messages were damaged. They are kept in \(store).damaged-1, and the list begins with nothing.\n"
        )
        #expect(outcome.lines.count == 2 && outcome.lines.allSatisfy { $0.hasPrefix("1  2 records") })
        #expect(try text("messages.json.damaged-1") == file)
    }

    @Test func `The last number is given, and is no damage afterwards; then nothing is added and nothing is lost`()
        throws
    {
        try write(#"{"version":1,"last":9007199254740991,"messages":[]}"#)
        #expect(try run("scan").lines.first?.hasPrefix("9007199254740992  2 records") == true)
        let before = try text()
        let outcome = try run("scan")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("The saved messages in \(store) leave no number for another one."))
        #expect(try text() == before)
        #expect(try run("list").lines.count == 1)
    }

    @Test func `One that is larger than the limit is not read, and stays as it is`() throws {
        try write(#"{"version":1,"messages":[]}"#)
        let isLong = unsafe truncate(store, 64 << 20 + 1) == 0
        try #require(isLong)
        let outcome = try run("list", "scan")
        #expect(outcome.error.hasPrefix("The saved messages in \(store) are larger than 64 MiB, and are not read."))
        #expect(!outcome.error.contains("damaged"))
        #expect(outcome.status == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: store)
        #expect(attributes[.size] as? Int == 64 << 20 + 1)
    }

    @Test func `The list does not grow over the limit, so that the app can read it again`() throws {
        let payload = String(repeating: "ICAg", count: 16 << 20 - 50)
        let record = #"{"format":5,"type":"","identifier":"","payload":"\#(payload)"}"#
        try write(#"{"version":1,"messages":[{"records":[\#(record)]}]}"#)
        let outcome = try run("scan")
        #expect(
            outcome.error.hasPrefix("The list is full: \(store) would be larger than 64 MiB. Delete some messages. ")
        )
        #expect(outcome.status == 1)
        #expect(try run("delete 1", "scan").status == 0)
    }

    @Test func `A pipe, a device and a folder are refused at once`() throws {
        let pipe = scratch.path("pipe")
        let folder = scratch.path("folder")
        let isMade = unsafe mkfifo(pipe, 0o600) == 0 && mkdir(folder, 0o700) == 0
        try #require(isMade)
        for path in [pipe, "/dev/zero", folder] {
            let outcome = try run("list", at: path)
            #expect(outcome.error == "\(path) is no file for messages. Name another one in TAGREADER_STORE.\n")
        }
    }
}
