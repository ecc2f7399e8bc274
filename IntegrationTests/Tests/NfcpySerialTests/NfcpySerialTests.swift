// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing
import VirtualTags

@Suite(
    .serialized,
    .enabled(if: PythonInterpreter.path != nil, Comment(rawValue: PythonInterpreter.reason)),
    // nfcpy accepts only names in /dev.
    .enabled(if: geteuid() == 0, "Only root can make a serial line in /dev.")
)
struct `nfcpy on a serial PN532 and our tags` {
    private struct Answer: Decodable {
        var type: String
        var identifier: String
        var before: String
        var after: String
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// A text record in English, as ndeflib makes it.
    private static func record(_ text: String) -> [UInt8] {
        let body = [0x02] + Array("en".utf8) + Array(text.utf8)
        return [0xD1, 0x01, UInt8(body.count), 0x54] + body
    }

    /// Lets nfcpy read and write a tag, and returns the content of the image afterwards.
    private func exchange(
        _ contents: TagContents,
        _ rate: String,
        _ text: String,
        line: String? = nil
    ) async throws -> (Answer, TagContents) {
        try await run("nfcpy_serial_peer.py", contents, [rate, text], line: line)
    }

    /// Lets nfcpy work with a tag. Returns the result of the script, and the content of the image afterwards.
    private func run<Found: Decodable>(
        _ script: String,
        _ contents: TagContents,
        _ arguments: [String],
        line: String? = nil,
        attempts: Int = 5
    ) async throws -> (Found, TagContents) {
        let name = line ?? "ocn" + UUID().uuidString.filter { $0 != "-" }.prefix(12)
        let tag = try await EmulatedTag(contents, on: .device(name))
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: script).path
        let python = try #require(Program(PythonInterpreter.path ?? ""))
        let result = try await python.run([path, tag.ready["nfcpy_path"] ?? ""] + arguments)
        let after = try await tag.stop()
        #expect(!FileManager.default.fileExists(atPath: "/dev/" + name))
        // nfcpy gives a chip 100 ms for each answer. A busy machine does not always keep this limit.
        if result.status != 0, attempts > 1, result.output.contains("Connection timed out") {
            return try await run(script, contents, arguments, line: line, attempts: attempts - 1)
        }
        try #require(result.status == 0, "\(result.output)")
        let line = result.output.split(separator: "\n").last ?? ""
        return (try JSONDecoder().decode(Found.self, from: Data(line.utf8)), after)
    }

    @Test func `nfcpy on an emulated PN532: reads and writes a Type 2 tag`() async throws {
        let (answer, after) = try await exchange(Samples.type2(), "106A", "two")
        #expect(answer.type == "Type2Tag")
        #expect(answer.identifier == Self.hex(Samples.uid))
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("two")))
        #expect(Samples.message(of: after) == Self.record("two"))
    }

    @Test(arguments: [
        "ttyUSB\(getpid())77", "ttyACM\(getpid())77", "ttyOCN\(getpid())", "ocn-\(getpid())", "O\(getpid())",
    ])
    func `nfcpy path of an emulated PN532: nfcpy opens the line with it, for each kind of name`(_ name: String)
        async throws
    {
        let (answer, _) = try await exchange(Samples.type2(), "106A", "two", line: name)
        #expect(answer.type == "Type2Tag")
    }

    @Test(arguments: ["ocn_\(getpid())", "S\(getpid())", "usbserial-\(getpid())"])
    func `nfcpy path of an emulated PN532: none for a name that nfcpy can't open`(_ name: String) async throws {
        let tag = try await EmulatedTag(Samples.type2(), on: .device(name))
        #expect(tag.ready["nfcpy_path"] == nil)
        _ = try await tag.stop()
    }

    @Test func `nfcpy on an emulated PN532: reads and writes a Type 3 tag`() async throws {
        let (answer, after) = try await exchange(Samples.type3(), "212F", "three")
        #expect(answer.type == "Type3Tag")
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("three")))
        guard case .type3(.liteS(let contents)) = after else { return }
        #expect(contents.userMemory.dropFirst(16).starts(with: Self.record("three")))
    }

    /// A tag, named as in the test's output.
    enum Type4Sample: String, CaseIterable {
        case plain, desfire

        var contents: TagContents { self == .plain ? Samples.type4() : Samples.desfire() }
    }

    @Test(arguments: Type4Sample.allCases)
    func `nfcpy on an emulated PN532: reads and writes a Type 4 tag`(_ sample: Type4Sample) async throws {
        let contents = sample.contents
        let (answer, after) = try await exchange(contents, "106A", "four")
        #expect(answer.type == "Type4Tag")
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("four")))
        #expect(after != contents)
    }

    @Test func `nfcpy on an emulated PN532: reads and writes a Type 4B tag`() async throws {
        let (answer, after) = try await exchange(Samples.type4(isTypeB: true), "106B", "four")
        #expect(answer.type == "Type4Tag")
        #expect(answer.identifier == "0a0b0c0d")
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("four")))
        #expect(after != Samples.type4(isTypeB: true))
    }

    @Test func `nfcpy on an emulated PN532: reads and writes a Type 1 tag`() async throws {
        var blank = Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7])
        let bytes = [0xE1, 0x10, 0x0E, 0x00, 0x03, UInt8(Samples.message.count)] + Samples.message + [0xFE]
        blank.memory.replaceSubrange(8..<8 + bytes.count, with: bytes)
        let (answer, after) = try await exchange(.type1(blank), "106A", "one")
        #expect(answer.type == "Type1Tag")
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("one")))
        guard case .type1(let contents) = after else { return }
        #expect(contents.memory.dropFirst(14).starts(with: Self.record("one")))
    }

    @Test func `nfcpy on an emulated PN532: reads and writes a Topaz 512 over several segments`() async throws {
        let blank = Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 7])
        var filled = blank
        let bytes = [0x03, UInt8(Samples.message.count)] + Samples.message + [0xFE]
        filled.memory.replaceSubrange(22..<22 + bytes.count, with: bytes)
        let text = String(repeating: "one, two. ", count: 30)
        let (answer, after) = try await exchange(.type1(filled), "106A", text)
        #expect(answer.before == Self.hex(Samples.message))
        let body = [0x02] + Array("en".utf8) + Array(text.utf8)
        let record = [0xC1, 0x01, 0, 0, UInt8(body.count >> 8), UInt8(body.count & 0xFF), 0x54] + body
        #expect(answer.after == Self.hex(record))
        guard case .type1(let contents) = after else { return }
        // The message continues after the reserved bytes and the lock bytes.
        #expect(contents.memory[128...].starts(with: record.dropFirst(104 - 26)))
    }

    private struct Blocks: Decodable {
        var product: String
        var block: String
        var written: String
        var segments: String
        var reserved: Bool
    }

    @Test func `nfcpy on an emulated PN532: reads and writes single blocks of a Topaz 512`() async throws {
        let blank = Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 7])
        let (blocks, after): (Blocks, _) = try await run("nfcpy_command_peer.py", .type1(blank), ["topaz"])
        #expect(blocks.product.hasPrefix("Topaz 512"))
        #expect(blocks.block == "0000000000000000")
        #expect(blocks.written == "f0f1f2f3f4f5f6f7")
        #expect(!blocks.reserved)
        guard case .type1(let contents) = after else { return }
        #expect(blocks.segments == Self.hex(contents.memory))
        #expect(Self.hex(contents.memory[256..<264]) == blocks.written)
    }

    // MARK: Passwords

    private struct Protection: Decodable {
        var product: String
        var protected: Bool
        var without: Bool
        var wrong: Bool
        var right: Bool
        var with: Bool
    }

    /// The products with a password.
    private static let protectable: [Type2Product] = [
        .ntag210, .ntag212, .ntag213, .ntag215, .ntag216, .ultralightEV1UL11, .ultralightEV1UL21,
    ]

    @Test(arguments: protectable)
    func `protect() of nfcpy on an emulated PN532: the tag then takes writes only with the password`(
        _ product: Type2Product
    ) async throws {
        let contents = Samples.type2(product)
        let (result, after): (Protection, _) = try await run("nfcpy_command_peer.py", contents, ["protect"])
        #expect(result.protected)
        #expect(!result.without)
        #expect(!result.wrong)
        #expect(result.right)
        #expect(result.with)
        guard case .type2(let tag) = after, let first = product.firstConfigurationPage else { return }
        #expect(tag.firstProtectedPage == 4)
        #expect(Self.hex(tag.memory[((first + 2) * 4)..<((first + 3) * 4 + 2)]) == "01020304beef")
        #expect(Self.hex(tag.memory[32..<36]) == "cafef00d")
    }

    private struct Pages: Decodable {
        var written: [Bool]
        var without: Bool
        var right: String
        var with: Bool
    }

    @Test(arguments: protectable)
    func `nfcpy: writes configuration, lock and capability pages, and authenticates`(
        _ product: Type2Product
    ) async throws {
        let first = try #require(product.firstConfigurationPage)
        var changes = [
            "\(first + 3)=80800000", "\(first + 2)=01020304", "\(first)=00000004", "\(first + 1)=5f000000",
        ]
        if let lock = product.dynamicLockPage { changes.append("\(lock)=01000f00") }
        changes.append("2=00000fe0")
        let (pages, after): (Pages, _) = try await run(
            "nfcpy_command_peer.py",
            Samples.type2(product),
            ["pages"] + changes
        )
        #expect(pages.written == Array(repeating: true, count: changes.count))
        #expect(!pages.without)
        #expect(pages.right == "8080")
        #expect(pages.with)
        guard case .type2(let tag) = after else { return }
        #expect(Self.hex(tag.memory[(first * 4)..<(first * 4 + 8)]) == "000000045f000000")
        #expect(Self.hex(tag.memory[10..<12]) == "0fe0")
    }
}
