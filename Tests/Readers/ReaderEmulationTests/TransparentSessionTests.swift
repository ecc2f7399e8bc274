// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Transparent sessions with an emulated reader (PC/SC part 3, amendment 1).
///
/// Answers begin with the data object C0: the number of the object that failed, from 1, or 0; and a status.
struct TransparentSessionTests {
    private typealias Reader = HostScript<EmulatedReader>
    private static let done = "C003009000"

    private static func reader(_ tag: String, _ tags: [String: any VirtualTag] = [:]) async -> Reader {
        var reader = Reader.reader(.acr1552u, tags)
        await reader.run("+ \(tag)\nlook -> found\nup")
        return reader
    }

    private static func run(_ tag: String, _ script: String, at location: SourceLocation = #_sourceLocation) async {
        var reader = await reader(tag)
        await reader.run(script, at: location)
    }

    @Test func `a session: open, switch to ISO/IEC 15693, exchange frames, close`() async {
        await Self.run(
            "slix",
            """
            FFD60005 04 01020304 -> 9000
            exchange 9503 022005 -> C003006985 9000         # not open
            switch 8F02 0200 -> C003016A81 9000; manage 8100 -> C003009000 9000
            exchange -> C003006985 9000                     # no frame
            exchange 9500 -> C003006985 9000; switch 8F02 0200 -> C003009000 9000
            exchange 9503 022005 -> C003009000 920100 96020000 9705 0001020304 9000
            exchange 9303 022005 -> C003009000 9000         # sent without an answer
            exchange 9502 9999 -> C003016401 9000           # no tag answers
            manage 8200 -> C003009000 9000; exchange 9503 022005 -> C003006985 9000
            FFC20100 02 8100 -> 6A81                        # P1 and P2
            FFC20003 02 8100 -> 6A81
            """
        )
    }

    @Test func `data objects: lengths of one to three bytes are read; an error has the number of the wrong object`()
        async
    {
        await Self.run(
            "slix",
            """
            manage 8000 -> C003009000 8003010000 9000
            manage 81 8100 80 820000 -> C003009000 8003010000 9000
            exchange 95 8103 022005 -> C003009000 920100 96020000 9705 ..5 9000
            manage 81 -> C003006700 9000; manage 8101 -> C003006700 9000; manage 5F -> C003006700 9000
            manage 5F46 -> C003006700 9000; manage 8181 -> C003006700 9000; manage 818200 -> C003006700 9000
            manage 818400000000 -> C003006700 9000; manage 8100 8500 -> C003026A81 9000
            manage 5F4603000000 -> C003016700 9000; manage 8000 8100 5F46050000000000 -> C003036700 9000
            exchange 900100 -> C003016700 9000              # flags of two bytes
            exchange 91020000 -> C003016700 9000            # bits of one byte
            exchange 90020000 5F460100 -> C003026700 9000; exchange 9400 -> C003016A81 9000
            exchange 910100 9900 -> C003026A81 9000; switch 8E020200 -> C003016700 9000
            switch 8F0102 -> C003016700 9000; switch -> C003016700 9000
            switch 8F020400 -> C003016A81 9000              # four standards
            switch 8F020205 -> C003016A81 9000              # layers up to 4
            switch 8F020200 8000 -> C003009000 9000         # the first object counts
            switch 8000 8F020200 -> C003016700 9000
            """
        )
    }

    @Test func `frames: checksum flags and bits of the last byte apply, and are forgotten in the next session`() async {
        let read = "3004" + CyclicRedundancyCheck.a([0x30, 0x04]).littleEndianBytes.hex
        await Self.run(
            "ntag",
            """
            manage 8100 8400
            exchange 9502 3004 -> C003009000 920100 96020000 9710 ..16 9000
            exchange 90020003 9504 \(read) -> C003009000 920100 96020000 9712 ..18 9000
            exchange 90020200 9502 3004 -> C003009000 920100 96020000 9712 ..18 9000
            exchange 9502 30FF -> C003009000 920104 96020000 9701 00 9000   # a NAK of four bits
            exchange 9501 52 -> C003016401 9000
            exchange 90020003 910107 9501 52 -> C003009000 920100 96020000 9702 4400 9000
            manage 8100
            exchange 90020003 910107 -> C003006985 9000
            exchange 9502 3004 -> C003016401 9000           # a frame of seven bits without a checksum
            up; manage 8100
            exchange 90020003
            manage 8100                                     # has no settings of the session before
            exchange 9502 3004 -> C003009000 920100 96020000 9710 ..16 9000
            exchange 910107 9502 3004 -> C003026401 9000
            """
        )
        await Self.run(
            "slix",
            """
            manage 8100
            exchange 910107 9503 022005 -> C003026401 9000
            exchange 910100 9503 022005 -> C003009000 *
            exchange 9101F8 9503 022005 -> C003009000 *     # reserved bits
            """
        )
    }

    @Test
    func
        `transparent exchange: waits as long as the session or the exchange sets, 50 ms by default, 5 s at most`()
        async throws
    {
        for (session, exchange, object, microseconds) in [
            ("", "", 1, 50_000), ("5F4604E8030000", "", 1, 1000), ("", "5F4604E8030000", 2, 1000),
            ("", "5F4604FFFFFFFF", 2, 5_000_000),
        ] as [(String, String, Int, Int64)] {
            var reader = await Self.reader("ntag")
            await reader.run("manage 8100 \(session) -> C003009000 9000\n-")
            let field = reader.field
            field.startRecording()
            let failure = "C0030\(object)64019000"
            #expect(await reader.device.answer(to: "exchange \(exchange) 9502 3004") == failure)
            let elapsed = field.stopRecording().map(\.elapsed)
            let time = Airtime.microseconds(microseconds)
            #expect(elapsed == [field.exchange(Frame([0x30, 4]), over: .nfcA, timeout: time).elapsed])
        }
    }

    @Test func `transparent session: ends when the card is powered or reset, and with a new host`() async {
        for end in ["up", "reset", "down", "anew"] {
            await Self.run("slix", "manage 8100 -> C003009000 9000\n\(end)\nexchange 9503 022005 -> C003006985 9000")
        }
    }

    @Test func `layers: switching to 3 or 4 selects the tag and returns its ATR; in layer 3 the host sends RATS`() async
    {
        await Self.run(
            "slix",
            """
            manage 8100 8300                                # the field is off
            switch 8F020203 -> C003009000 5F5114 ..20 9000
            switch 8F020200 -> C003009000 9000; switch 8F020202 -> C003009000 9000
            switch 8F020204 -> C003009000 5F5114 ..20 9000
            -
            switch 8F020203 -> C003016401 9000
            """
        )
        let ats = "C003009000 920100 96020000 9705 0578807002 9000"
        await Self.run(
            "typeA",
            """
            manage 8100
            switch 8F020003 -> C003009000 5F51 *
            exchange 9502 E080 -> \(ats)
            switch 8F020004 -> C003009000 5F51 *
            exchange 9502 E080 -> C003016401 9000
            00A4040007D276000085010100 -> 9000
            switch 8F020003 -> C003009000 5F51 *
            exchange 9502 E080 -> \(ats)
            """
        )
    }

    @Test func `standards: switching to the tag's own selects the tag; another one fails, and the card still answers`()
        async
    {
        for (own, tag) in ["ntag", "typeB", "slix", "felica"].enumerated() {
            var reader = await Self.reader(tag)
            let identifier = reader.tag(tag).identifier.hex
            await reader.run("manage 8100")
            for standard in 0...3 {
                let answer = standard == own ? Self.done + " 5F51 *" : "C003016401 9000"
                await reader.run("switch 8F020\(standard)04 -> \(answer)\nFFCA0000 00 -> \(identifier) 9000", tag)
            }
        }
    }

    @Test func `field off and on in one command: the tag loses its power, and has to be selected again`() async {
        await Self.run(
            "ntag",
            """
            manage 8100
            exchange 9502 3004 -> C003009000 920100 96020000 9710 ..16 9000
            manage 8300 8400 -> C003009000 9000
            exchange 9502 3004 -> C003016401 9000           # has to be selected again
            exchange 90020003 910107 9501 26 -> C003009000 *
            manage 8400 8300 -> C003009000 9000; exchange 9501 52 -> C003016401 9000
            """
        )
    }

}
