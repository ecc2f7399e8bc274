// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Synchronization
import Testing

/// Checks `nfc tag` on the real pcscd with our reader: its output, and how it ends when the tag or the reader leaves.
@Suite(.serialized, .enabled(if: Program.areInstalled("pcscd"), "pcscd is not installed."), .timeLimit(.minutes(5)))
struct `nfc tag behind the real pcscd` {
    private static let link = "https://example.org/a"
    private static let message = "d1010e55046578616d706c652e6f72672f61"
    private static let old = "d1010c55046578616d706c652e636f6d"

    /// Runs `nfc tag` to its end, and reads the one object that it prints.
    private static func tag(
        _ arguments: [String],
        on daemon: PCSCDaemon
    ) async throws -> (status: Int32, object: [String: Any]) {
        let program = try Client.nfc(["tag"] + arguments + ["--reader", "pcsc", "--json"], on: daemon)
        let status = try await program.end()
        let objects = program.output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        return (status, try #require(objects.first { $0["ok"] != nil }, "\(program.output)"))
    }

    @Test(arguments: Sample.allCases)
    func `A tag of each type is described, read, written and locked`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        let info = try await Self.tag(["info"], on: desk.daemon)
        #expect(info.status == 0)
        #expect(info.object["tag_type"] as? Int == sample.number)
        #expect(info.object["uid"] as? String == sample.uid)
        #expect(info.object["product"] as? String == sample.product)
        #expect(info.object["status"] as? String == "read-write")
        #expect(info.object["message_hex"] as? String == Self.old)
        // PC/SC reports no ATQA and no SAK, so the output has none.
        #expect(info.object["atqa"] == nil && info.object["sak"] == nil)
        for key in sample.factKeys { #expect(info.object[key] != nil, "\(key)") }

        let before = try await Self.tag(["read"], on: desk.daemon)
        #expect(before.status == 0)
        #expect(before.object["message_hex"] as? String == Self.old)
        #expect(before.object["product"] as? String == sample.product)
        sample.expectCounts(before.object)

        let written = try await Self.tag(["write", "--message", Self.message, "--check"], on: desk.daemon)
        #expect(written.status == 0)
        #expect(written.object["message_hex"] as? String == Self.message)
        #expect(written.object["capacity"] as? Int == before.object["capacity"] as? Int)
        sample.expectCounts(written.object)

        let locked = try await Self.tag(["write", Self.link, "--lock"], on: desk.daemon)
        #expect(locked.status == 0)
        #expect(locked.object["status"] as? String == "read-only")
        let refused = try await Self.tag(["write", "--message", Self.old], on: desk.daemon)
        #expect(refused.status == 1)
        #expect(refused.object["error"] as? String == "read-only")
        #expect(refused.object["message_hex"] as? String == Self.message)
        let after = try await Self.tag(["read"], on: desk.daemon)
        #expect(after.object["status"] as? String == "read-only")
        #expect(after.object["message_hex"] as? String == Self.message)
        #expect(try await desk.close() != sample.contents)
    }

    @Test func `nfc tag read on a reader: the same exchanges, bytes and airtime as on the tag's image`() async throws {
        let image = URL(fileURLWithPath: "/tmp/ocn-\(UUID().uuidString.prefix(8)).json")
        defer { try? FileManager.default.removeItem(at: image) }
        try Data(Samples.image(Samples.type2())).write(to: image)
        let program = try TalkingProgram(EmulatedTag.tool.path, ["tag", "read", "--image", image.path, "--json"])
        #expect(try await program.end() == 0)
        let inImage = try #require(
            try JSONSerialization.jsonObject(with: Data(program.output.utf8)) as? [String: Any]
        )
        let desk = try await Desk(.type2)
        let onReader = try await Self.tag(["read"], on: desk.daemon).object
        for key in ["exchanges", "bytes_on_air", "airtime_us", "capacity", "message_hex", "product"] {
            #expect(onReader[key] as? NSObject == inImage[key] as? NSObject, "\(key)")
        }
        _ = try await desk.close()
    }

    @Test(arguments: Sample.allCases, ["read", "info", "write"])
    func `nfc tag read, info and write: wait for the tag`(_ sample: Sample, _ command: String) async throws {
        let desk = try await Desk(sample)
        try await desk.tag.perform("remove")
        let message = command == "write" ? [Self.link] : []
        let program = try TalkingProgram(
            EmulatedTag.tool.path,
            ["tag", command, "--reader", "pcsc", "--json"] + message,
            environment: desk.daemon.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        try await program.line(with: "near the reader")
        try await desk.tag.perform("insert")
        try await program.line(with: #""ok":true"#)
        #expect(try await program.end() == 0, "\(program.output)")
        _ = try await desk.close()
    }

    @Test(arguments: Sample.allCases)
    func `Tag that leaves during a write: readable and writable again, and the error says what it may hold`(
        _ sample: Sample
    ) async throws {
        let desk = try await Desk(sample)
        var isThrough = false
        for count in 1...40 where !isThrough {
            try await desk.tag.perform("remove-at-write \(count)")
            let write = try await Self.tag(["write", Self.link], on: desk.daemon)
            isThrough = write.status == 0
            if !isThrough {
                #expect(write.status == 1)
                #expect(write.object["error"] as? String == "tag-lost")
                let sentence = write.object["message"] as? String ?? ""
                #expect(sentence.contains("may now hold the old message"), "\(sentence)")
                #expect(sentence.contains("write it again"), "\(sentence)")
                #expect(write.object["message_hex"] is NSNull)
            }
            try await desk.tag.perform("insert")
            let read = try await Self.tag(["read"], on: desk.daemon)
            #expect(read.status == 0, "after write \(count)")
            let left = read.object["message_hex"] as? String ?? "?"
            #expect([Self.old, "", Self.message].contains(left), "after write \(count): \(left)")
            // The advice is correct: writing again repairs the tag.
            let again = try await Self.tag(
                ["write", "--message", isThrough ? Self.message : Self.old],
                on: desk.daemon
            )
            #expect(again.status == 0, "after write \(count)")
        }
        #expect(isThrough)
        _ = try await desk.close()
    }

    @Test(arguments: Sample.allCases)
    func `Tag that leaves during a lock: holds the message, and the error says that it may be read-only`(
        _ sample: Sample
    ) async throws {
        let desk = try await Desk(sample)
        var hasLeftWhileLocked = false
        for count in 1...40 where !hasLeftWhileLocked {
            try await desk.tag.perform("remove-at-write \(count)")
            let write = try await Self.tag(["write", "--message", Self.message, "--lock"], on: desk.daemon)
            #expect(write.status == 1, "write \(count)")
            #expect(write.object["error"] as? String == "tag-lost")
            let sentence = write.object["message"] as? String ?? ""
            try await desk.tag.perform("insert")
            let read = try await Self.tag(["read"], on: desk.daemon)
            #expect(read.status == 0, "after write \(count)")
            hasLeftWhileLocked = sentence.contains("may be read-only")
            if hasLeftWhileLocked {
                #expect(read.object["message_hex"] as? String == Self.message)
            } else {
                #expect(sentence.contains("may now hold the old message"), "\(sentence)")
            }
        }
        #expect(hasLeftWhileLocked)
        _ = try await desk.close()
    }

    @Test func `nfc tag read without a tag: status 1 and timeout`() async throws {
        let desk = try await Desk(.type2)
        try await desk.tag.perform("remove")
        let read = try await Self.tag(["read", "--timeout", "1"], on: desk.daemon)
        #expect(read.status == 1)
        #expect(read.object["error"] as? String == "timeout")
        _ = try await desk.close()
    }

    @Test(arguments: ["read", "info"])
    func `Tag lost during nfc tag read or info: status 1 and tag-lost`(_ command: String) async throws {
        let reader = try ScriptedReader("Short NFC Reader", answerToReset: ScriptedCard.answerToReset) { apdu in
            // No status word: the reader has lost the tag.
            .bytes(apdu[1] == 0xB0 ? [] : ScriptedCard.answer(apdu))
        }
        let daemon = try PCSCDaemon([reader.configuration])
        let read = try await Self.tag([command], on: daemon)
        #expect(read.status == 1)
        #expect(read.object["error"] as? String == "tag-lost")
        #expect((read.object["message"] as? String)?.contains("Hold the tag still") == true)
        try await daemon.kill()
    }

    @Test(arguments: [Sample.type2, .type4])
    func `Reader unplugged while nfc tag read waits: status 3 with advice`(_ sample: Sample) async throws {
        let desk = try await Desk(sample)
        try await desk.tag.perform("remove")
        let program = try TalkingProgram(
            EmulatedTag.tool.path,
            ["tag", "read", "--reader", "pcsc", "--timeout", "3", "--json"],
            environment: desk.daemon.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        try await program.line(with: "near the reader")
        try await desk.tag.perform("unplug")
        #expect(try await program.end() == 3, "\(program.output)")
        #expect(program.output.contains("Plug it in"), "\(program.output)")
        _ = try await desk.close()
    }

    @Test func `Reader unplugged and plugged in while nfc tag read waits: the tag is read`() async throws {
        let desk = try await Desk(.type2)
        try await desk.tag.perform("remove")
        let program = try TalkingProgram(
            EmulatedTag.tool.path,
            ["tag", "read", "--reader", "pcsc", "--json"],
            environment: desk.daemon.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        try await program.line(with: "near the reader")
        try await desk.tag.perform("unplug")
        try await desk.tag.perform("insert")
        try await desk.tag.perform("plug")
        try await program.line(with: #""ok":true"#)
        #expect(try await program.end() == 0, "\(program.output)")
        _ = try await desk.close()
    }

    @Test func `Reader with page commands only: NDEF works, unknown values are null`() async throws {
        let memory = PageMemory()
        let reader = try ScriptedReader(
            "Plain NFC Reader",
            answerToReset: PageMemory.answerToReset,
            answer: { .bytes(memory.answer($0)) }
        )
        let daemon = try PCSCDaemon([reader.configuration])
        let written = try await Self.tag(["write", "--message", Self.message, "--check"], on: daemon)
        #expect(written.status == 0)
        let read = try await Self.tag(["read"], on: daemon)
        #expect(read.status == 0)
        #expect(read.object["message_hex"] as? String == Self.message)
        for key in ["product", "exchanges", "bytes_on_air", "airtime_us", "activation_us"] {
            #expect(written.object[key] is NSNull, "\(key)")
            #expect(read.object[key] is NSNull, "\(key)")
        }
        let info = try await Self.tag(["info"], on: daemon)
        #expect(info.object["product"] is NSNull)
        #expect(info.object["uid"] as? String == "04a1b2c3d4e580")
        #expect(info.object["capacity"] as? Int == 142)
        for key in ["atqa", "sak", "version_hex", "pages", "signature_hex"] {
            #expect(info.object[key] == nil, "\(key)")
        }
        try await daemon.kill()
    }

    @Test func `Reader that leaves during a write: status 3, and the error says what the tag may hold`() async throws {
        let reader = try ScriptedReader("Short NFC Reader", answerToReset: ScriptedCard.answerToReset) { apdu in
            // The reader leaves at the first write; garbage makes it leave.
            apdu[1] == 0xD6 ? .garbage : .bytes(ScriptedCard.answer(apdu))
        }
        let daemon = try PCSCDaemon([reader.configuration])
        let write = try await Self.tag(["write", Self.link, "--timeout", "10"], on: daemon)
        #expect(write.status == 3)
        #expect(write.object["error"] as? String == "reader-lost")
        let sentence = write.object["message"] as? String ?? ""
        #expect(sentence.contains("may now hold the old message"), "\(sentence)")
        #expect(reader.apdus.contains { $0[1] == 0xD6 })
        try await daemon.kill()
    }

    @Test func `Ctrl-C ends a command that waits, and one whose reader hangs in the middle of a write`() async throws {
        let desk = try await Desk(.type2)
        try await desk.tag.perform("remove")
        let waiting = try TalkingProgram(
            EmulatedTag.tool.path,
            ["tag", "read", "--reader", "pcsc", "--json"],
            environment: desk.daemon.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        try await waiting.line(with: "near the reader")
        waiting.send(signal: SIGINT)
        #expect(try await waiting.end() == 130, "\(waiting.output)")
        _ = try await desk.close()

        let reader = try ScriptedReader("Slow NFC Reader", answerToReset: ScriptedCard.answerToReset) { apdu in
            apdu[1] == 0xD6 ? .hang : .bytes(ScriptedCard.answer(apdu))
        }
        let daemon = try PCSCDaemon([reader.configuration])
        let writing = try Client.nfc(["tag", "write", Self.link, "--reader", "pcsc", "--json"], on: daemon)
        while !reader.apdus.contains(where: { $0[1] == 0xD6 }) { try await Task.sleep(for: .milliseconds(2)) }
        writing.send(signal: SIGINT)
        #expect(try await writing.end(within: .seconds(10)) == 130, "\(writing.output)")
        #expect(writing.output.contains("may now hold the old message"), "\(writing.output)")
        try await daemon.kill()
    }
}

/// An NTAG213 behind a reader that reads and writes pages, and sends no other command.
private final class PageMemory: Sendable {
    static let answerToReset: [UInt8] = [
        0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 3, 6, 3, 0, 3, 0, 0, 0, 0, 0x68,
    ]
    private let bytes: Mutex<[UInt8]>

    init() {
        var bytes = [UInt8](repeating: 0, count: 180)
        bytes.replaceSubrange(0..<10, with: [0x04, 0xA1, 0xB2, 0x9F, 0xC3, 0xD4, 0xE5, 0x80, 0x72, 0x48])
        bytes.replaceSubrange(12..<19, with: [0xE1, 0x10, 0x12, 0x00, 0x03, 0x00, 0xFE])
        self.bytes = Mutex(bytes)
    }

    func answer(_ apdu: [UInt8]) -> [UInt8] {
        let done: [UInt8] = [0x90, 0x00]
        switch (apdu[0], apdu[1]) {
        case (0xFF, 0xCA) where apdu[2] == 0: return [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80] + done
        case (0xFF, 0xB0) where Int(apdu[3]) < 45:
            let start = 4 * Int(apdu[3])
            return bytes.withLock { bytes in (0..<Int(apdu[4])).map { bytes[(start + $0) % bytes.count] } } + done
        case (0xFF, 0xD6) where Int(apdu[3]) < 45:
            bytes.withLock { $0.replaceSubrange(4 * Int(apdu[3])..<4 * Int(apdu[3]) + 4, with: apdu[5..<9]) }
            return done
        default: return [0x6A, 0x81]
        }
    }
}

/// A Type 4 tag behind a scripted reader, empty and open.
private enum ScriptedCard {
    static let answerToReset: [UInt8] = [0x3B, 0x81, 0x80, 0x01, 0x80, 0x80]
    private static let container: [UInt8] = [0, 15, 0x20, 0, 0x3B, 0, 0x34, 4, 6, 0xE1, 0x04, 1, 0, 0, 0]
    private static let done: [UInt8] = [0x90, 0x00]

    /// The answers to the first commands of a write: SELECT, READ BINARY of the container, which has 15 bytes, and of
    /// the file's start.
    static func answer(_ apdu: [UInt8]) -> [UInt8] {
        switch (apdu[0], apdu[1]) {
        case (0xFF, 0xCA): apdu[2] == 0 ? [0x08, 0x01, 0x02, 0x03] + done : [0x6A, 0x81]
        case (0x00, 0xA4): done
        case (0x00, 0xB0):
            apdu.last == 15 ? container + done : [UInt8](repeating: 0, count: Int(apdu.last ?? 0)) + done
        default: [0x6D, 0x00]
        }
    }
}

extension Sample {
    /// The number of its type.
    fileprivate var number: Int {
        switch self {
        case .type2: 2
        case .type3: 3
        case .type4: 4
        case .type5: 5
        }
    }

    /// The product that it reports; nil for a generic card.
    fileprivate var product: String? {
        switch self {
        case .type2: "NTAG213"
        case .type3: "FeliCa Lite-S"
        case .type4: nil
        case .type5: "ICODE SLIX"
        }
    }

    /// The facts that are available over PC/SC.
    fileprivate var factKeys: [String] {
        switch self {
        case .type2: ["version_hex", "pages", "map", "static_lock_hex", "dynamic_lock_hex", "locked_pages", "cc_hex"]
        case .type3: ["pmm", "locked_blocks", "write_counter", "ndef_system"]
        case .type4: ["ats", "files"]
        case .type5: ["blocks", "block_size", "locked_blocks", "afi", "dsfid", "ic_reference", "cc_hex"]
        }
    }

    /// Frames through the reader's chip are counted. For a card with ISO-DEP the reader shows only commands.
    fileprivate func expectCounts(_ object: [String: Any]) {
        for key in ["exchanges", "bytes_on_air", "airtime_us"] {
            if self == .type4 {
                #expect(object[key] is NSNull, "\(key)")
            } else {
                #expect(object[key] as? Int ?? 0 > 0, "\(key)")
            }
        }
        // The reader activates tags by itself.
        #expect(object["activation_us"] is NSNull)
        #expect(object["tag_work_us"] is NSNull)
    }
}
