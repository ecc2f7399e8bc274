// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver

/// Checks each route for frames alone: the commands to the reader, and the results of its answers.
struct RouteTests {
    /// The result of a frame: its answer in hex, with the number of bits in an incomplete last byte, or an error.
    private enum Outcome: Equatable {
        case answer(String)
        case bits(UInt8, Int)
        case error(LinkError.Code)
    }

    /// A connection to a card that answers by a table of commands in hex, and 6A81 to all others.
    private static func connection(_ table: [String: String]) throws -> (CardConnection, ScriptedService) {
        let service = SampleCards.service(
            SampleCards.type2Answer,
            table: table.mapValues { $0.filter { $0 != " " } }
        )
        let connection = CardConnection(
            service: ServiceConnection(layer: service, limits: .usual),
            reader: SampleCards.name
        )
        try connection.open(isInUse: false)
        return (connection, service)
    }

    private static func outcome(
        _ route: some FrameRoute,
        _ frame: Frame,
        timeout: Airtime = .milliseconds(20),
        _ table: [String: String]
    ) throws -> (outcome: Outcome, commands: [String]) {
        let (connection, service) = try connection(table)
        defer { connection.close(.leave) }
        do throws(LinkError) {
            let answer = try route.exchange(frame, timeout: timeout, connection)
            let isWhole = answer.validBitsInLastByte == 8
            return (
                isWhole ? .answer(answer.bytes.hex) : .bits(answer.bytes[0], answer.validBitsInLastByte),
                service.commands
            )
        } catch {
            return (.error(error.code), service.commands)
        }
    }

    private static func frame(_ hex: String) -> Frame { Frame([UInt8](hex: hex)) }

    @Test("A status that a sentence names has four digits")
    func statusText() throws {
        for (answer, text) in [("6a81", "6a81"), ("07000a", "000a"), ("0000", "0000")] {
            #expect(ReaderAnswer([UInt8](hex: answer))?.statusText == text)
        }
        let missing = StorageCommands.missing(try #require(ReaderAnswer([0x6D, 0x00])))
        #expect(missing.reason == "The reader has no commands for this kind of tag (6d00).")
    }

    // MARK: Type 2

    @Test(
        "A page of a Type 2 tag is READ by sixteen bytes and WRITTEN by four",
        arguments: [
            (
                "3004", "ffb0000410", "000102030405060708090a0b0c0d0e0f 9000",
                .answer("000102030405060708090a0b0c0d0e0f")
            ),
            ("3004", "ffb0000410", "00010203 9000", .error(.transmission)),
            ("3004", "ffb0000410", "9000", .error(.transmission)), ("3004", "ffb0000410", "6300", .bits(0, 4)),
            ("3004", "ffb0000410", "6982", .bits(0, 4)), ("3004", "ffb0000410", "6d00", .error(.unsupported)),
            ("3004", "ffb0000410", "6e00", .error(.unsupported)), ("3004", "ffb0000410", "6881", .error(.unsupported)),
            ("a205aabbccdd", "ffd6000504aabbccdd", "9000", .bits(0x0A, 4)),
            ("a205aabbccdd", "ffd6000504aabbccdd", "6300", .bits(0, 4)),
            ("a205aabbccdd", "ffd6000504aabbccdd", "6d00", .error(.unsupported)),
        ] as [(String, String, String, RouteTests.Outcome)]
    )
    private func type2(request: String, command: String, answer: String, wanted: Outcome) throws {
        let (outcome, commands) = try Self.outcome(Type2StorageRoute(), Self.frame(request), [command: answer])
        #expect(outcome == wanted && commands == [command])
    }

    @Test("The reader's word on a block's length is taken, once")
    func length() throws {
        let (outcome, commands) = try Self.outcome(
            Type2StorageRoute(),
            Self.frame("3004"),
            ["ffb0000410": "6c04", "ffb0000404": "01020304 9000"]
        )
        #expect(outcome == .error(.transmission) && commands == ["ffb0000410", "ffb0000404"])
        let blocks = try Self.outcome(
            Type5StorageRoute(uid: []),
            Self.frame("022000"),
            ["ffb0000004": "6c08", "ffb0000008": "0102030405060708 9000"]
        )
        #expect(blocks.outcome == .answer("000102030405060708") && blocks.commands == ["ffb0000004", "ffb0000008"])
    }

    @Test(
        "A frame that is no page's READ or WRITE is not sent",
        arguments: ["30", "300400", "a204010203", "a20401020304ff", "", "1b01020304"]
    )
    func type2Others(_ hex: String) throws {
        let (outcome, commands) = try Self.outcome(Type2StorageRoute(), Self.frame(hex), [:])
        #expect(outcome == .error(.unsupported) && commands.isEmpty)
        let plain = try Self.outcome(Type2StorageRoute(), Frame([0x30, 4], checksum: .none), [:])
        #expect(plain.outcome == .error(.unsupported) && plain.commands.isEmpty)
        #expect(!Type2StorageRoute().carriesFrames && Type2StorageRoute().maximumFrameLength == 18)
    }

    // MARK: Type 5

    @Test(
        "A Type 5 tag's requests for blocks are the reader's commands, and its refusals are the tag's errors",
        arguments: [
            ("022005", ["ffb0000504": "01020304 9000"], .answer("0001020304")),
            ("02300501", ["ffb0010504": "01020304 9000"], .answer("0001020304")),
            ("02230501", ["ffb0000504": "0102 9000", "ffb0000604": "0304 9000"], .answer("0001020304")),
            ("02230501", ["ffb0000504": "0102 9000", "ffb0000604": "6a82"], .answer("0110")),
            ("022105aabb", ["ffd6000502aabb": "9000"], .answer("00")),
            ("02310501aabb", ["ffd6010502aabb": "9000"], .answer("00")),
            ("422105aabb", ["ffd6000502aabb": "9000"], .answer("00")),
            ("022005", ["ffb0000504": "6a82"], .answer("0110")), ("022005", ["ffb0000504": "6a83"], .answer("0110")),
            ("022005", ["ffb0000504": "6b00"], .answer("0110")), ("022005", ["ffb0000504": "6981"], .answer("0112")),
            ("022005", ["ffb0000504": "6982"], .answer("0112")), ("022005", ["ffb0000504": "6986"], .answer("0112")),
            ("022005", ["ffb0000504": "6300"], .answer("010f")),
            ("022005", ["ffb0000504": "6d00"], .error(.unsupported)),
            ("2220 0807060504030201 05", ["ffb0000504": "01020304 9000"], .answer("0001020304")),
        ] as [(String, [String: String], RouteTests.Outcome)]
    )
    private func type5(request: String, table: [String: String], wanted: Outcome) throws {
        let route = Type5StorageRoute(uid: [1, 2, 3, 4, 5, 6, 7, 8])
        let (outcome, commands) = try Self.outcome(route, Self.frame(request), table)
        #expect(outcome == wanted && Set(commands) == Set(table.keys))
    }

    @Test(
        "A Type 5 request with flags or a length that no reader's command has is not sent",
        arguments: [
            ("062005", .unsupported), ("0a2005", .unsupported), ("122005", .unsupported), ("422005", .unsupported),
            ("42230501", .unsupported), ("02200500", .unsupported), ("0220", .unsupported), ("0230 05", .unsupported),
            ("022305", .unsupported), ("0223050102", .unsupported), ("022105", .unsupported), ("0222 05", .unsupported),
            ("02", .unsupported), ("", .unsupported), ("2220 0807060504030209 05", .timeout),
            ("2220 08070605", .timeout),
            ("2220 0807060504030201", .unsupported),
        ] as [(String, LinkError.Code)]
    )
    func type5Others(_ hex: String, code: LinkError.Code) throws {
        let route = Type5StorageRoute(uid: [1, 2, 3, 4, 5, 6, 7, 8])
        let (outcome, commands) = try Self.outcome(route, Self.frame(hex), [:])
        #expect(outcome == .error(code) && commands.isEmpty)
        let plain = try Self.outcome(route, Frame([0x02, 0x20, 5], checksum: .none), [:])
        #expect(plain.outcome == .error(.unsupported) && plain.commands.isEmpty)
        #expect(!route.carriesFrames)
    }

    @Test("A block of 255 bytes is the longest that a reader's command writes")
    func type5Length() throws {
        let route = Type5StorageRoute(uid: [])
        let long = String(repeating: "07", count: 255)
        let written = try Self.outcome(route, Self.frame("022105" + long), ["ffd60005ff" + long: "9000"])
        #expect(written.outcome == .answer("00"))
        let (outcome, commands) = try Self.outcome(route, Self.frame("022105" + long + "07"), [:])
        #expect(outcome == .error(.frameTooLong) && commands.isEmpty)
    }

    @Test("A Type 5 route begins by a look at the first block, which tells whether the reader has the commands")
    func type5Begin() throws {
        for (answer, isThere) in [
            ("01020304 9000", true), ("6982", true), ("6e00", false), ("6d00", false), ("6881", false),
        ] {
            let (connection, service) = try Self.connection(["ffb0000004": answer])
            defer { connection.close(.leave) }
            do throws(LinkError) {
                try Type5StorageRoute(uid: []).begin(connection)
                #expect(isThere)
            } catch {
                #expect(!isThere && error.code == .unsupported)
            }
            #expect(service.commands == ["ffb0000004"])
        }
    }

    // MARK: Type 3

    private static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    private static let block = String(repeating: "ab", count: 16)

    /// A FeliCa command to the card with this IDm: its code, and the bytes after the IDm.
    private static func felica(_ code: UInt8, _ rest: String, idm: [UInt8] = idm) -> Frame {
        let body = [code] + idm + [UInt8](hex: rest)
        return Frame([UInt8(body.count + 1)] + body)
    }

    @Test("Blocks of a FeliCa service are read and written one by one, in either form of their numbers")
    func type3() throws {
        let route = Type3StorageRoute(idm: Self.idm)
        let chosen = ["ffa4000102" + "0b00": "9000"]
        let read = try Self.outcome(
            route,
            Self.felica(0x06, "01 0b00 02 8005 00 0601"),
            chosen.merging(["ffb0000510": Self.block + "9000", "ffb0010610": Self.block + "9000"]) { $1 }
        )
        #expect(read.outcome == .answer("2d07" + Self.idm.hex + "000002" + Self.block + Self.block))
        #expect(read.commands == ["ffa40001020b00", "ffb0000510", "ffb0010610"])
        let other = String(repeating: "cd", count: 16)
        let written = try Self.outcome(
            route,
            Self.felica(0x08, "01 0b00 02 8005 8007" + Self.block + other),
            chosen.merging(["ffd6000510" + Self.block: "9000", "ffd6000710" + other: "9000"]) { $1 }
        )
        #expect(written.outcome == .answer("0c09" + Self.idm.hex + "0000"))
        #expect(written.commands == ["ffa40001020b00", "ffd6000510" + Self.block, "ffd6000710" + other])
    }

    @Test("A FeliCa command has 15 blocks at most")
    func type3Length() throws {
        var table = ["ffa40001020b00": "9000"]
        for block in UInt8(0)..<15 { table["ffb000" + [block].hex + "10"] = Self.block + "9000" }
        let numbers = (UInt8(0)..<15).map { "80" + [$0].hex }.joined()
        let (outcome, commands) = try Self.outcome(
            Type3StorageRoute(idm: Self.idm),
            Self.felica(0x06, "01 0b00 0f" + numbers),
            table
        )
        #expect(outcome == .answer("fd07" + Self.idm.hex + "00000f" + String(repeating: Self.block, count: 15)))
        #expect(commands.count == 16)
    }

    @Test("A FeliCa block that fails is named by its bit, a service by its own status")
    func type3Errors() throws {
        let route = Type3StorageRoute(idm: Self.idm)
        let chosen = ["ffa40001020b00": "9000"]
        let head = "0c07" + Self.idm.hex
        func read(_ table: [String: String]) throws -> Outcome {
            try Self.outcome(route, Self.felica(0x06, "01 0b00 02 8005 8006"), table).outcome
        }
        #expect(try read(chosen) == .answer(head + "01a8"))
        #expect(try read(chosen.merging(["ffb0000510": Self.block + "9000"]) { $1 }) == .answer(head + "02a8"))
        #expect(try read(chosen.merging(["ffb0000510": "0102 9000"]) { $1 }) == .answer(head + "01a8"))
        // What a reader sends with an error is not a block's content.
        let torn = ["ffb0000510": Self.block + "6300", "ffb0000610": Self.block + "9000"]
        #expect(try read(chosen.merging(torn) { $1 }) == .answer(head + "01a8"))
        #expect(try read(["ffa40001020b00": "6a82"]) == .answer(head + "ffa6"))
        #expect(try read(["ffa40001020b00": "6d00"]) == .error(.unsupported))
        func write(_ rest: String, _ table: [String: String]) throws -> Outcome {
            try Self.outcome(route, Self.felica(0x08, rest), chosen.merging(table) { $1 }).outcome
        }
        let written = "0c09" + Self.idm.hex
        #expect(try write("01 0b00 01 8005" + Self.block, [:]) == .answer(written + "01a8"))
        #expect(
            try write("01 0b00 02 8005 8006" + Self.block + Self.block, ["ffd6000510" + Self.block: "9000"])
                == .answer(written + "02a8")
        )
        #expect(try write("01 0b00 01 8005" + Self.block.dropLast(2), [:]) == .answer(written + "ffa9"))
        #expect(try write("01 0b00 01 8005" + Self.block + "00", [:]) == .answer(written + "ffa9"))
        // The ninth block has the first bit again.
        let nine = (0..<9).map { "80" + [UInt8($0)].hex }.joined()
        let eight = Dictionary(
            uniqueKeysWithValues: (0..<8).map { ("ffb000" + [UInt8($0)].hex + "10", Self.block + "9000") }
        )
        let ninth = try Self.outcome(route, Self.felica(0x06, "01 0b00 09" + nine), chosen.merging(eight) { $1 })
        #expect(ninth.outcome == .answer(head + "01a8"))
    }

    @Test(
        "A FeliCa command of another kind is not sent",
        arguments: [
            "02 0b00 0b00 01 8005", "01 0b00 00 0000", "01 0b00 01 8105", "01 0b00 02 8005", "01 0b00 01 0005",
            "01 0b00 10" + String(repeating: "8001", count: 16), "01 0b00", "01 0b", "",
        ]
    )
    func type3Others(_ rest: String) throws {
        let route = Type3StorageRoute(idm: Self.idm)
        for frame in [
            Self.felica(0x06, rest), Self.felica(0x06, "01 0b00 01 8005", idm: [9, 2, 3, 4, 5, 6, 7, 8]),
            Self.felica(0x04, "01 0b00 01 8005"),
            Frame([0x09] + Self.felica(0x06, "01 0b00 01 8005").bytes.dropFirst()),
            Frame(Self.felica(0x06, "01 0b00 01 8005").bytes, checksum: .none), Frame([]), Frame([0x01]),
        ] {
            let (outcome, commands) = try Self.outcome(route, frame, [:])
            #expect(outcome == .error(.unsupported) && commands.isEmpty)
        }
        #expect(!route.carriesFrames)
    }

    // MARK: Traverse

    @Test("Traverse has the shortest of its waiting times that is long enough")
    func traverseTimes() throws {
        let times: [(Int64, String)] = [
            (1, "00"), (500, "00"), (501, "01"), (1000, "01"), (2000, "02"), (5000, "03"), (10000, "04"), (25000, "05"),
            (50000, "06"), (75000, "07"), (100_000, "08"), (250_000, "09"), (500_000, "0a"), (750_000, "0b"),
            (1_000_000, "0c"), (1_000_001, "0c"), (9_000_000, "0c"),
        ]
        for (microseconds, code) in times {
            let (outcome, commands) = try Self.outcome(
                TraverseRoute(),
                Self.frame("022000"),
                timeout: .microseconds(microseconds),
                ["fffd" + code + "010302200000": "0011 9000"]
            )
            #expect(outcome == .answer("0011") && commands == ["fffd" + code + "010302200000"])
        }
    }

    @Test(
        "Traverse's answers are the tag's, its silence, or that there is no Traverse",
        arguments: [
            ("00 9000", .answer("00")), ("9000", .error(.timeout)), ("6d00", .error(.unsupported)),
            ("6e00", .error(.unsupported)), ("6a81", .error(.unsupported)), ("6881", .error(.unsupported)),
            ("6b00", .error(.unsupported)), ("6300", .error(.timeout)), ("6401", .error(.timeout)),
        ] as [(String, RouteTests.Outcome)]
    )
    private func traverse(answer: String, wanted: Outcome) throws {
        let (outcome, _) = try Self.outcome(
            TraverseRoute(),
            Self.frame("0220 00"),
            timeout: .milliseconds(10),
            ["fffd04010302200000": answer]
        )
        #expect(outcome == wanted)
        let (connection, _) = try Self.connection(["fffd04010302200000": answer])
        defer { connection.close(.leave) }
        let begins = (try? TraverseRoute().begin(connection)) != nil
        #expect(begins == (wanted == .answer("00")))
    }

    @Test(
        "Traverse is there where the tag answers with its flags, an error or not",
        arguments: [("00", true), ("010f", true), ("02", false), ("ff", false)]
    )
    func traverseBegin(answer: String, isThere: Bool) throws {
        let (connection, _) = try Self.connection(["fffd04010302200000": answer + "9000"])
        defer { connection.close(.leave) }
        do throws(LinkError) {
            try TraverseRoute().begin(connection)
            #expect(isThere)
        } catch {
            #expect(!isThere && error.code == .unsupported)
        }
        TraverseRoute().end(connection)
    }

    @Test("Traverse takes 250 bytes at most, with their checksum")
    func traverseLength() throws {
        let route = TraverseRoute()
        #expect(route.carriesFrames && route.maximumFrameLength == 256)
        let long = String(repeating: "00", count: 250)
        #expect(
            try Self.outcome(route, Self.frame(long), ["fffd0501fa" + long + "00": "00 9000"]).outcome == .answer("00")
        )
        for frame in [
            Self.frame(long + "00"), Frame([]), Frame([2, 0x20, 0], checksum: .none), Frame([2], checksum: .crcB),
        ] {
            let (outcome, commands) = try Self.outcome(route, frame, [:])
            #expect(outcome == .error(.unsupported) && commands.isEmpty)
        }
    }
}
