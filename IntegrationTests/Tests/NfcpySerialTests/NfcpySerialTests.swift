// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing
import VirtualTags

@Suite(
    .serialized,
    .enabled(if: PythonInterpreter.path != nil, Comment(rawValue: PythonInterpreter.reason)),
    // nfcpy takes names in /dev alone.
    .enabled(if: geteuid() == 0, "Only root can make a serial line in /dev.")
)
struct `nfcpy on a serial PN532 and our tags` {
    private struct Answer: Decodable {
        var type: String
        var identifier: String
        var before: String
        var after: String
    }

    private static func hex(_ octets: some Sequence<UInt8>) -> String {
        octets.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// A text record in English, as ndeflib makes it.
    private static func record(_ text: String) -> [UInt8] {
        let body = [0x02] + Array("en".utf8) + Array(text.utf8)
        return [0xD1, 0x01, UInt8(body.count), 0x54] + body
    }

    /// Lets nfcpy read and write a tag; gives what the image holds afterwards.
    private func exchange(
        _ contents: TagContents,
        _ rate: String,
        _ text: String,
        attempts: Int = 5
    ) async throws -> (Answer, TagContents) {
        let name = "ocn" + UUID().uuidString.filter { $0 != "-" }.prefix(12)
        let tag = try await EmulatedTag(contents, on: .device(name))
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "nfcpy_serial_peer.py").path
        let python = try #require(Program(PythonInterpreter.path ?? ""))
        let result = try await python.run([script, tag.ready["nfcpy_path"] ?? "", rate, text])
        let after = try await tag.stop()
        #expect(!FileManager.default.fileExists(atPath: "/dev/" + name))
        // nfcpy gives a chip 100 ms for each answer, which a busy machine does not always keep.
        if result.status != 0, attempts > 1, result.output.contains("Connection timed out") {
            return try await exchange(contents, rate, text, attempts: attempts - 1)
        }
        try #require(result.status == 0, "\(result.output)")
        let line = result.output.split(separator: "\n").last ?? ""
        return (try JSONDecoder().decode(Answer.self, from: Data(line.utf8)), after)
    }

    @Test func `A Type 2 tag is read and written`() async throws {
        let (answer, after) = try await exchange(Samples.type2(), "106A", "two")
        #expect(answer.type == "Type2Tag")
        #expect(answer.identifier == Self.hex(Samples.uid))
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("two")))
        #expect(Samples.message(of: after) == Self.record("two"))
    }

    @Test func `A Type 3 tag is read and written`() async throws {
        let (answer, after) = try await exchange(Samples.type3(), "212F", "three")
        #expect(answer.type == "Type3Tag")
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("three")))
        guard case .type3(.liteS(let contents)) = after else { return }
        #expect(contents.userMemory.dropFirst(16).starts(with: Self.record("three")))
    }

    /// A tag with the name under which a test shows it.
    enum Type4Sample: String, CaseIterable {
        case plain, desfire

        var contents: TagContents { self == .plain ? Samples.type4() : Samples.desfire() }
    }

    @Test(arguments: Type4Sample.allCases)
    func `A Type 4 tag is read and written`(_ sample: Type4Sample) async throws {
        let contents = sample.contents
        let (answer, after) = try await exchange(contents, "106A", "four")
        #expect(answer.type == "Type4Tag")
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("four")))
        #expect(after != contents)
    }

    @Test func `A Type 1 tag is read and written`() async throws {
        var blank = Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7])
        let octets = [0xE1, 0x10, 0x0E, 0x00, 0x03, UInt8(Samples.message.count)] + Samples.message + [0xFE]
        blank.memory.replaceSubrange(8..<8 + octets.count, with: octets)
        let (answer, after) = try await exchange(.type1(blank), "106A", "one")
        #expect(answer.type == "Type1Tag")
        #expect(answer.before == Self.hex(Samples.message))
        #expect(answer.after == Self.hex(Self.record("one")))
        guard case .type1(let contents) = after else { return }
        #expect(contents.memory.dropFirst(14).starts(with: Self.record("one")))
    }
}
