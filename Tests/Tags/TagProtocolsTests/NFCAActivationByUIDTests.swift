// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// One tag of several is woken by its UID (ISO/IEC 14443-3, 6.5.3).
@Suite struct `NFC-A activation by a UID` {
    typealias Step = ScriptedLink.Step

    private static func failure(_ code: LinkError.Code) -> LinkError { LinkError(code, "scripted") }
    private static let sense = Step.raw("52", bits: 7, "0400")
    private static let silent = Step.raw("52", bits: 7, failure(.timeout))
    private static let select = Step.exchange("9370 0102030404", "20")
    private static let ignored = Step.exchange("9370 0102030404", .timeout)

    private static func activate(
        uid: [UInt8] = [1, 2, 3, 4],
        _ steps: [Step]
    ) async -> (target: NFCATarget?, code: TagError.Code?, left: Int) {
        let link = ScriptedLink(steps)
        do throws(TagError) {
            return (try await NFCAActivation(link: link).activate(uid: uid), nil, link.remaining)
        } catch {
            return (nil, error.code, link.remaining)
        }
    }

    @Test func `A tag is found with its own ATQA and SAK`() async {
        let found = await Self.activate([Self.sense, Self.select])
        #expect(found.target == NFCATarget(atqa: 0x0004, sak: 0x20, uid: [1, 2, 3, 4]) && found.left == 0)
        let seven = await Self.activate(
            uid: bytes("04a1b2c3d4e580"),
            [
                .raw("52", bits: 7, "4403"), .exchange("9370 8804a1b29f", "04"),
                .exchange("9570 c3d4e58072", "00"),
            ]
        )
        #expect(seven.target == NFCATarget(atqa: 0x0344, sak: 0, uid: bytes("04a1b2c3d4e580")) && seven.left == 0)
    }

    @Test func `A tag that was active goes to sleep first, and is woken by the next request`() async {
        for start: [Step] in [[Self.silent], [Self.silent, Self.silent], [Self.sense, Self.ignored]] {
            let found = await Self.activate(start + [Self.sense, Self.select])
            #expect(found.target?.uid == [1, 2, 3, 4] && found.left == 0)
        }
    }

    @Test func `A tag that is not there is looked for three times`() async {
        for attempt: [Step] in [
            [Self.silent], [Self.sense, Self.ignored], [Self.sense, .exchange("9370 0102030404", .transmission)],
            [Self.sense, .exchange("9370 0102030404", "0000")], [Self.sense, .exchange("9370 0102030404", nibble: 0)],
        ] {
            let none = await Self.activate(attempt + attempt + attempt)
            #expect(none.target == nil && none.code == nil && none.left == 0)
        }
    }

    @Test func `In a crowd the size of the UID stands for ATQA`() async {
        let crowd = Step.raw("52", bits: 7, Self.failure(.collision))
        let four = await Self.activate([crowd, Self.select])
        #expect(four.target?.atqa == 0x0004 && four.left == 0)
        let level = Step.exchange("9370 8801020388", "04")
        let seven = await Self.activate(
            uid: [1, 2, 3, 4, 5, 6, 7],
            [crowd, level, .exchange("9570 0405060700", "00")]
        )
        #expect(seven.target?.atqa == 0x0044 && seven.left == 0)
        let ten = await Self.activate(
            uid: [UInt8](1...10),
            [crowd, level, .exchange("9570 880405068f", "04"), .exchange("9770 0708090a0c", "08")]
        )
        #expect(ten.target?.atqa == 0x0084 && ten.target?.sak == 0x08 && ten.left == 0)
    }

    @Test func `Bytes that are only the start of a UID are none, and neither is a UID of another length`() async {
        let start = await Self.activate(uid: bytes("8804a1b2"), [Self.sense, .exchange("9370 8804a1b29f", "04")])
        #expect(start.target == nil && start.code == nil && start.left == 0)
        for uid: [UInt8] in [[], [1, 2, 3], [1, 2, 3, 4, 5], [UInt8](1...8), [UInt8](1...11)] {
            let none = await Self.activate(uid: uid, [])
            #expect(none.target == nil && none.code == nil)
        }
    }

    @Test func `A reader that fails ends it with its own error`() async {
        for (code, wanted): (LinkError.Code, TagError.Code) in [
            (.cancelled, .cancelled), (.readerUnavailable, .readerUnavailable), (.unsupported, .unsupported),
        ] {
            let early = await Self.activate([.raw("52", bits: 7, Self.failure(code))])
            #expect(early.code == wanted && early.left == 0)
            let late = await Self.activate([Self.sense, .exchange("9370 0102030404", code)])
            #expect(late.code == wanted && late.left == 0)
        }
    }

    @Test func `A Type 1 tag that answers after others were put to sleep ends the search`() async throws {
        let link = ScriptedLink([
            .raw("26", bits: 7, Self.failure(.collision)), .raw("9320", "0102030404"),
            .exchange("9370 0102030404", "00"), .exchange("5000", .timeout), .raw("26", bits: 7, "000c"),
        ])
        let found = try await NFCAActivation(link: link).activateAll()
        #expect(found.map(\.uid) == [[1, 2, 3, 4], []] && found.last?.isType1 == true && link.remaining == 0)
    }
}
