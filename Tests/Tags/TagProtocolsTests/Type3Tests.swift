// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // single blocks are written by an internal call

/// Type 3 tags: exact exchanges, the attribute block, locks and formats (NFC Forum T3T 1.0, 5 and 6).
struct Type3Tests {
    private static let idm = bytes("02fe001122334455")

    @Test(arguments: try Scenario.all(in: "type3.txt"))
    func `Type 3 tag: each call makes exactly the commands of type3.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink(.nfcF, maximumFrameLength: part.number("frame") ?? 256)
            let pmm = bytes("00" + (part.options["ic"] ?? "20") + (part.options["times"] ?? "000000") + "014300")
            let system = UInt16(part.options["system"] ?? "12fc", radix: 16)
            let target = NFCFTarget(idm: Self.idm, pmm: pmm, systemCode: system)
            let selectsItself = part.options["selects-itself"] != nil
            let tag = Type3Tag(target: target, link: selectsItself ? SelfSelectingLink(link) : link)
            let text = part.text.replacing("IDM", with: hex(Self.idm)).replacing("PMM", with: hex(pmm))
                .replacing(#/\[([^\]]*)\]/#) { hex(Self.attributes(bytes(String($0.output.1)))) }
            let own = target.maximumResponseTime(.fixed, count: 0) + .milliseconds(1)
            await Script(text, times: ["own": own]).run(on: link) { try await Self.call(tag, $0) }
        }
    }

    private static func call(_ tag: Type3Tag, _ call: Script.Call) async throws -> String {
        switch call.name {
        case "update": try await tag.update(call.number(0), call.bytes(1))
        case "registers":
            let configuration = try await tag.readMemoryConfiguration().map { hex($0.prefix(3)) } ?? "nil"
            return configuration + " " + (try await tag.readWriteCounter().map { "\($0)" } ?? "nil")
        case "idm": return hex(tag.target.idm)
        default: return try await callForumTag(tag, call)
        }
        return "ok"
    }

    /// The bytes of an attribute block with its checksum.
    private static func attributes(_ bytes: [UInt8]) -> [UInt8] {
        let sum = bytes.reduce(0) { $0 + Int($1) }
        return bytes + [UInt8(sum >> 8), UInt8(sum & 0xFF)]
    }

    @Test func `Type 3 write: 13 blocks at most, 12 where their numbers have two bytes, 3 in frames of 70 bytes`()
        async throws
    {
        func writes(blocks: Int, size: Int, frame: Int) async throws -> Int {
            let count: [UInt8] = [UInt8(blocks >> 8), UInt8(blocks & 0xFF)]
            let attributes = Self.attributes([0x10, 4, 20] + count + [0, 0, 0, 0, 0, 1, 0, 0, 0])
            let system = FeliCaSystem(ndef: attributes + [UInt8](repeating: 0, count: blocks * 16))
            let tag = VirtualType3Tag(FeliCaStandardContents(idm: Self.idm, systems: [system]))
            let bench = try await ProductBench(tag, in: VirtualField(maximumFrameLength: frame))
            try await bench.reader.writeNDEF(message(size))
            #expect(try await ProductBench(tag).reader.readNDEF() == message(size))
            return bench.field.writeCount
        }
        // 19 updates of blocks 1 to 247, 12 and 11 blocks, and the attribute block twice.
        #expect(try await writes(blocks: 290, size: 270 * 16, frame: 256) == 19 + 2 + 2)
        #expect(try await writes(blocks: 30, size: 7 * 16, frame: 70) == 3 + 2)
    }
}
