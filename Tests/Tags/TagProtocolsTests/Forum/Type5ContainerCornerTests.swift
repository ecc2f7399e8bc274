// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Capability containers of Type 5 tags that promise too much, want special frames, come in two reads, or are replaced
/// (NFC Forum T5T 1.0, 4.3).
@Suite struct `Type 5 containers with something odd` {
    typealias Step = ScriptedLink.Step

    private static let blank = String(repeating: "00", count: 4)
    private static let uid = "e002240800112233"
    private static let backwards = "3322110008 2402e0"

    private static func tag(_ steps: [Step], uid: String = uid) -> (Type5Tag, ScriptedLink) {
        let link = ScriptedLink(steps, technology: .nfcV)
        return (Type5Tag(target: NFCVTarget(uid: bytes(uid)), link: link, isAlone: true), link)
    }

    /// The first read of a tag with a container and an empty message.
    private static func start(_ container: String) -> Step {
        .exchange("02230003", "00" + container + "0300fe00" + blank + blank)
    }

    @Test func `A container of eight bytes is read whole from a tag that reads single blocks alone`() async throws {
        let blocks = ["e2400001", "0000000f", "0300fe00", Self.blank, Self.blank, Self.blank]
        let reads = blocks.enumerated().map { number, block in
            Step.exchange("0220" + hex([UInt8(number)]), "00" + block)
        }
        let (tag, link) = Self.tag([.exchange("02230003", "0101")] + reads)
        #expect(try await tag.detectNDEF() == NDEFDetection(access: .readWrite, capacity: 118, messageLength: 0))
        #expect(link.remaining == 0)
    }

    @Test func `A tag whose container announces special frames is written with the option`() async throws {
        let write = "62 21" + Self.backwards + "01 0301aafe"
        let (tag, link) = Self.tag([
            Self.start("e1403f11"), Step.exchange(write, .timeout).within(.milliseconds(21)),
            Step(request: Frame([], checksum: .none), result: .success(Frame([0x00]))),
        ])
        try await tag.writeNDEF([0xAA])
        #expect(link.remaining == 0)
    }

    @Test(
        arguments: [
            // ICODE SLIX has 112 bytes. ICODE SLIX2 has 316, and a counter behind them that is no memory.
            ("e004015000112233", "e1400d01", 102), ("e004015000112233", "e1400e01", 106),
            ("e004015000112233", "e1402001", 106), ("e004010800112233", "e1402701", 308),
            ("e004010800112233", "e1402801", 308), ("e004010800112233", "e1404001", 308),
        ]
    )
    func `The area of a known product ends with its memory, whatever its container says`(
        uid: String,
        container: String,
        capacity: Int
    ) async throws {
        let (tag, link) = Self.tag([Self.start(container)], uid: uid)
        #expect(try await tag.detectNDEF().capacity == capacity && link.remaining == 0)
    }

    @Test func `After it was formatted a tag has the room of its new container`() async throws {
        let (tag, link) = Self.tag([
            Self.start("e1400301"), .exchange("022b", "00 04" + Self.backwards + "1b03"),
            .exchange("22 21" + Self.backwards + "01 0300fe00", "00"), .exchange("02 21 00 e1400d01", "00"),
        ])
        #expect(try await tag.detectNDEF().capacity == 22)
        try await tag.format()
        #expect(try await tag.detectNDEF().capacity == 102 && link.remaining == 0)
    }
}
