// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver  // routes are internal

/// The ways for frames through a reader: what each sends to the reader for a frame, and what it makes of the answers.
struct RouteTests {
    /// A connection to a card that answers by a table of commands, and 6A81 to all others.
    private static func connection(_ table: [String: String]) throws -> (CardConnection, ScriptedService) {
        let service = SampleCards.service(SampleCards.type2Answer, table: table)
        let connection = CardConnection(
            service: ServiceConnection(layer: service, limits: .usual),
            reader: SampleCards.name
        )
        try connection.open(isInUse: false)
        return (connection, service)
    }

    /// Checks rows of a frame, the exchanges with the reader in their order, and the answer or the error's code:
    ///
    ///     3004 : ffb0000410 = 000102030405060708090a0b0c0d0e0f 9000 : 000102030405060708090a0b0c0d0e0f
    ///
    /// An incomplete last byte has its number of bits behind a slash.
    private static func check(
        _ route: some FrameRoute,
        timeout: Airtime = .milliseconds(20),
        checksum: Frame.Checksum = .automatic,
        _ rows: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        for row in rows.split(separator: "\n").map({ $0.filter { $0 != " " } }) where !row.hasPrefix("#") {
            let columns = row.split(separator: ":", omittingEmptySubsequences: false)
            let exchanges = columns[1].split(separator: ",").map { $0.split(separator: "=").map(String.init) }
            let table = Dictionary(exchanges.map { ($0[0], $0[1]) }) { first, _ in first }
            let (connection, service) = try connection(table)
            defer { connection.close(.leave) }
            let outcome: String
            do throws(LinkError) {
                let frame = Frame([UInt8](hex: String(columns[0])), checksum: checksum)
                let answer = try route.exchange(frame, timeout: timeout, connection)
                let bits = answer.validBitsInLastByte
                outcome = answer.bytes.hex + (bits == 8 ? "" : "/\(bits)")
            } catch {
                outcome = "\(error.code)"
            }
            #expect(outcome == columns[2], "\(row)", sourceLocation: location)
            #expect(service.commands == exchanges.map { $0[0] }, "\(row)", sourceLocation: location)
        }
    }

    /// Expects that a route sends nothing for these frames, since the reader has no command for them.
    private static func refuses(_ route: some FrameRoute, _ frames: [String]) throws {
        try check(route, frames.map { "\($0) : : unsupported" }.joined(separator: "\n"))
    }

    /// Checks which answers to a route's first command let it begin, and what it has sent in the end.
    private static func begin(
        _ route: some FrameRoute,
        _ table: [String: String],
        at location: SourceLocation = #_sourceLocation
    ) throws -> (code: LinkError.Code?, commands: [String]) {
        let (connection, service) = try connection(table)
        defer { connection.close(.leave) }
        do throws(LinkError) {
            try route.begin(connection)
            return (nil, service.commands)
        } catch { return (error.code, service.commands) }
    }

    // MARK: Commands for storage cards (PC/SC part 3, 3.2.2)

    @Test func `Type 2 by storage commands: READ gives 16 bytes, WRITE 4; a status word is data, a NAK or an error`()
        throws
    {
        let route = Type2StorageRoute()
        let page0 = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
        try Self.check(
            route,
            """
            3004 : ffb0000410 = 000102030405060708090a0b0c0d0e0f 9000 : 000102030405060708090a0b0c0d0e0f
            3004 : ffb0000410 = 00010203 9000 : transmission
            3004 : ffb0000410 = 9000 : transmission
            3004 : ffb0000410 = 6300 : 00/4
            3004 : ffb0000410 = 6d00 : unsupported
            3004 : ffb0000410 = 6e00 : unsupported
            3004 : ffb0000410 = 6881 : unsupported
            # The reader's word on the length is taken, once.
            3004 : ffb0000410 = 6c04, ffb0000404 = 01020304 9000 : transmission
            # 6282 warns that the memory ended: READ continues with page 0.
            3004 : ffb0000410 = 000102030405060708090a0b0c0d0e0f 6282 : 000102030405060708090a0b0c0d0e0f
            302b : ffb0002b10 = 0001020304050607 6282, ffb0000010 = \(page0)9000 : 0001020304050607a0a1a2a3a4a5a6a7
            3004 : ffb0000410 = 6282 : 00/4
            # 6700 is a wrong length: page by page, to the last one.
            3004 : ffb0000410 = 6700, ffb0000404 = 00010203 9000, ffb0000504 = 04050607 9000, \
            ffb0000604 = 08090a0b 9000, ffb0000704 = 0c0d0e0f 9000 : 000102030405060708090a0b0c0d0e0f
            302c : ffb0002c10 = 6700, ffb0002c04 = 00010203 9000, ffb0002d04 = 6a82, ffb0000010 = \(page0)9000 : \
            00010203a0a1a2a3a4a5a6a7a8a9aaab
            3004 : ffb0000410 = 6700, ffb0000404 = 6700 : unsupported
            3004 : ffb0000410 = 6700, ffb0000404 = 6300 : 00/4
            a205aabbccdd : ffd6000504aabbccdd = 6700 : unsupported
            a205aabbccdd : ffd6000504aabbccdd = 9000 : 0a/4
            a205aabbccdd : ffd6000504aabbccdd = 6300 : 00/4
            a205aabbccdd : ffd6000504aabbccdd = 6d00 : unsupported
            """
        )
        try Self.refuses(route, ["", "30", "300400", "a204010203", "1b01020304"])
        try Self.check(route, checksum: .none, "3004 : : unsupported")
        #expect(!route.carriesFrames && route.maximumFrameLength == 18)
    }

    @Test func `MIFARE Classic by storage commands: a key is loaded and used, blocks are read, written and counted`()
        throws
    {
        let route = ClassicStorageRoute()
        let (key, block) = ("a0a1a2a3a4a5", "000102030405060708090a0b0c0d0e0f")
        try Self.check(
            route,
            """
            6004\(key)01020304 : ff82000006\(key) = 9000, ff860000050100046000 = 9000 : 0a/4
            6104\(key)01020304 : ff82000006\(key) = 9000, ff860000050100046100 = 6300 : timeout
            6004\(key)01020304 : ff82000006\(key) = 9000, ff860000050100046000 = 6d00 : unsupported
            6004\(key)01020304 : ff82000006\(key) = 6d00 : unsupported
            3004 : ffb0000410 = \(block)9000 : \(block)
            3004 : ffb0000410 = 6300 : 00/4
            a004\(block) : ffd6000410\(block) = 9000 : 0a/4
            a004\(block) : ffd6000410\(block) = 6300 : 00/4
            """
        )
        try Self.refuses(route, ["", "30", "300400", "c20400000000", "1b01020304"])
    }

    @Test
    func
        `Type 5 by storage commands: blocks are read and written one by one; status words become the tag's errors`()
        throws
    {
        let route = Type5StorageRoute(uid: [1, 2, 3, 4, 5, 6, 7, 8])
        let long = String(repeating: "07", count: 255)
        try Self.check(
            route,
            """
            022005 : ffb0000504 = 01020304 9000 : 0001020304
            022005 : ffb0000504 = 6c08, ffb0000508 = 0102030405060708 9000 : 000102030405060708
            02300501 : ffb0010504 = 01020304 9000 : 0001020304
            02230501 : ffb0000504 = 0102 9000, ffb0000604 = 0304 9000 : 0001020304
            02230501 : ffb0000504 = 0102 9000, ffb0000604 = 6a82 : 0110
            022105aabb : ffd6000502aabb = 9000 : 00
            02310501aabb : ffd6010502aabb = 9000 : 00
            422105aabb : ffd6000502aabb = 9000 : 00
            2220 0807060504030201 05 : ffb0000504 = 01020304 9000 : 0001020304
            022005 : ffb0000504 = 01020304 6282 : 0001020304
            022005 : ffb0000504 = 6282 : 010f
            022005 : ffb0000504 = 6700 : unsupported
            022005 : ffb0000504 = 6a82 : 0110
            022005 : ffb0000504 = 6b00 : 0110
            022005 : ffb0000504 = 6981 : 0112
            022005 : ffb0000504 = 6986 : 0112
            022005 : ffb0000504 = 6300 : 010f
            022005 : ffb0000504 = 6d00 : unsupported
            022105\(long) : ffd60005ff\(long) = 9000 : 00
            022105\(long)07 : : frameTooLong
            # Another tag's UID.
            2220 0807060504030209 05 : : timeout
            2220 08070605 : : timeout
            """
        )
        let flags = ["062005", "0a2005", "122005", "422005"]
        let lengths = ["", "0220", "02200500", "023005", "022305", "022105", "22200807060504030201"]
        try Self.refuses(route, flags + lengths)
        try Self.check(route, checksum: .none, "022005 : : unsupported")
        #expect(!route.carriesFrames)
        for (answer, code) in [
            ("01020304 9000", nil), ("6982", nil), ("6e00", .unsupported), ("6d00", .unsupported),
            ("6881", .unsupported),
        ] as [(String, LinkError.Code?)] {
            let found = try Self.begin(Type5StorageRoute(uid: []), ["ffb0000004": answer])
            #expect(found.code == code && found.commands == ["ffb0000004"], "\(answer)")
        }
    }

    @Test func `FeliCa by storage commands: one service, blocks one by one; status words become FeliCa status flags`()
        throws
    {
        let (idm, block) = ("0102030405060708", String(repeating: "ab", count: 16))
        let other = String(repeating: "cd", count: 16)
        let chosen = "ffa40001020b00 = 9000"
        /// The blocks with these numbers, read well.
        func reads(_ numbers: Range<UInt8>) -> String {
            numbers.map { "ffb000\([$0].hex)10 = \(block)9000" }.joined(separator: ", ")
        }
        func frame(_ code: String, _ rest: String, idm: String = idm) -> String {
            let body = (code + idm + rest).filter { $0 != " " }
            return [UInt8(body.count / 2 + 1)].hex + body
        }
        let fifteen = (UInt8(0)..<15).map { "80" + [$0].hex }.joined()
        let (read, written) = ("07\(idm)", "0c09\(idm)")
        let two = frame("06", "01 0b00 02 8005 8006")
        try Self.check(
            Type3StorageRoute(idm: [1, 2, 3, 4, 5, 6, 7, 8]),
            """
            \(frame("06", "01 0b00 02 8005 00 0601")) : \(chosen), \(reads(5..<6)), ffb0010610 = \(block)9000 : \
            2d\(read)000002\(block)\(block)
            \(frame("06", "01 0b00 0f" + fifteen)) : \(chosen), \(reads(0..<15)) : \
            fd\(read)00000f\(String(repeating: block, count: 15))
            \(frame("08", "01 0b00 02 8005 8007 \(block) \(other)")) : \(chosen), ffd6000510\(block) = 9000, \
            ffd6000710\(other) = 9000 : \(written)0000
            # The failing block is named by its bit, and a service by its own status.
            \(two) : \(chosen), ffb0000510 = 6a81 : 0c\(read)01a8
            \(two) : \(chosen), \(reads(5..<6)), ffb0000610 = 6a81 : 0c\(read)02a8
            \(two) : \(chosen), ffb0000510 = 0102 9000 : 0c\(read)01a8
            \(two) : \(chosen), ffb0000510 = \(block)6282, ffb0000610 = \(block)9000 : \
            2d\(read)000002\(block)\(block)
            \(two) : \(chosen), ffb0000510 = 6700 : unsupported
            \(two) : ffa40001020b00 = 6a82 : 0c\(read)ffa6
            \(two) : ffa40001020b00 = 6d00 : unsupported
            \(frame("06", "01 0b00 09" + fifteen.prefix(36))) : \(chosen), \(reads(0..<8)), ffb0000810 = 6a81 : \
            0c\(read)01a8
            \(frame("08", "01 0b00 02 8005 8006" + block + block)) : \(chosen), ffd6000510\(block) = 9000, \
            ffd6000610\(block) = 6a81 : \(written)02a8
            # A block that lacks a byte.
            \(frame("08", "01 0b00 01 8005" + block.dropLast(2))) : \(chosen) : \(written)ffa9
            """
        )
        // More services or blocks than a reader's commands take, another card or command, and wrong lengths.
        let others = [
            frame("06", "02 0b00 0b00 01 8005"), frame("06", "01 0b00 01 8105"), frame("06", "01 0b00 01 0005"),
            frame("06", "01 0b00 10" + String(repeating: "8001", count: 16)), frame("06", "01 0b00 02 8005"),
            frame("06", "01 0b00 01 8005", idm: "0902030405060708"), frame("04", "01 0b00 01 8005"),
            frame("06", "01 0b00"), frame("06", ""), "09\(frame("06", "01 0b00 01 8005").dropFirst(2))", "",
        ]
        try Self.refuses(Type3StorageRoute(idm: [1, 2, 3, 4, 5, 6, 7, 8]), others)
    }

    // MARK: Traverse (HID OMNIKEY)

    @Test func `Traverse: sent with the shortest sufficient waiting time; more than 250 bytes are unsupported`() throws
    {
        let route = TraverseRoute()
        let times: [(Int64, String)] = [
            (500, "00"), (501, "01"), (1000, "01"), (2000, "02"), (5000, "03"), (10_000, "04"),
            (25_000, "05"), (50_000, "06"), (75_000, "07"), (100_000, "08"), (250_000, "09"), (500_000, "0a"),
            (750_000, "0b"), (750_001, "0c"), (9_000_000, "0c"),
        ]
        for (microseconds, code) in times {
            let row = "022000 : fffd\(code)010302200000 = 0011 9000 : 0011"
            try Self.check(route, timeout: .microseconds(microseconds), row)
        }
        let long = String(repeating: "00", count: 250)
        try Self.check(
            route,
            """
            \(long) : fffd0501fa\(long)00 = 00 9000 : 00
            \(long)00 : : unsupported
             : : unsupported
            """
        )
        for checksum in [Frame.Checksum.none, .crcB] {
            try Self.check(route, checksum: checksum, "022000 : : unsupported")
        }
        #expect(route.carriesFrames && route.maximumFrameLength == 256)
    }

    @Test func `Traverse: each status of an answer is the tag's answer, a timeout, or unsupported`() throws {
        for (answer, outcome, begins) in [
            ("009000", "00", true), ("010f9000", "010f", true), ("029000", "02", false), ("ff9000", "ff", false),
            ("9000", "timeout", false), ("6d00", "unsupported", false), ("6a81", "unsupported", false),
            ("6b00", "unsupported", false), ("6401", "timeout", false),
        ] {
            let command = "fffd04010302200000"
            try Self.check(
                TraverseRoute(),
                timeout: .milliseconds(10),
                "022000 : \(command) = \(answer) : \(outcome)"
            )
            #expect((try Self.begin(TraverseRoute(), [command: answer]).code == nil) == begins, "\(answer)")
        }
    }

    // MARK: A PN53x inside (ACR122U API 2.04; UM0701-02, 7.1)

    private static let chip = PN53xRoute(technology: .nfcA, isType1: false)
    private static let read = "ff00000004d4423000"

    @Test func `PN53x: frames by InCommunicateThru, a Type 1 tag's by InDataExchange, up to 253 bytes`() throws {
        let longest = String(repeating: "07", count: 253)
        try Self.check(
            Self.chip,
            """
            \(longest) : ff000000ffd442\(longest) = d54300 0a 9000 : 0a/4
            \(longest)07 : : frameTooLong
             : : unsupported
            """
        )
        for checksum in [Frame.Checksum.none, .crcB] {
            try Self.check(Self.chip, checksum: checksum, "26 : : unsupported")
        }
        let type1 = PN53xRoute(technology: .nfcA, isType1: true)
        try Self.check(
            type1,
            checksum: .crcB,
            "01080001020304 : ff0000000ad44001 01080001020304 = d54100 08aa 9000 : 08aa"
        )
        try Self.check(type1, "3004 : : unsupported")
        let nfcB = PN53xRoute(technology: .nfcB, isType1: false)
        try Self.check(nfcB, "050000 : ff00000005d442050000 = d54300 50 9000 : 50")
        #expect(Self.chip.maximumFrameLength == 250 && Self.chip.carriesFrames)
        // Answers of NFC-A may have four bits without a checksum, so the chip does not check it meanwhile.
        for (route, isOff) in [
            (Self.chip, true), (type1, false), (nfcB, false), (PN53xRoute(technology: .nfcF, isType1: false), false),
        ] {
            let (connection, service) = try Self.connection(["ff00000005d408630300": "d509 9000"])
            try route.begin(connection)
            route.end(connection)
            #expect(service.commands == (isOff ? ["ff00000005d408630300", "ff00000005d408630380"] : []))
            connection.close(.leave)
        }
    }

    @Test func `PN53x: four bits, or bytes with the right CRC_A, are the answer; all else is an error of the link`()
        throws
    {
        let checksum = CyclicRedundancyCheck.a([7]).littleEndianBytes.hex
        // Also what the reader says itself, and an answer that it keeps until it is fetched.
        let rows: [(String, [String])] = [
            ("0a/4", ["d54300 fa 9000", "6105, ffc0000005 = d543000a 9000"]), ("07", ["d54300 07\(checksum) 9000"]),
            ("transmission", ["d54300 6363 9000", "d54300 0102 9000", "d54300 070000 9000"]),
            ("transmission", ["9000", "d443000a 9000", "d542000a 9000"]), ("unsupported", ["6302", "6d00"]),
            ("timeout", ["6300", "6301", "d54300 9000", "6105, ffc0000005 = 6300"]), ("tagRemoved", ["90"]),
        ]
        for (outcome, answers) in rows {
            for answer in answers { try Self.check(Self.chip, "3000 : \(Self.read) = \(answer) : \(outcome)") }
        }
    }

    @Test func `PN53x: each status of the chip, with any upper bits, is an error of the link`() throws {
        let codes: [(LinkError.Code, [UInt8])] = [
            (.timeout, [0x01, 0x0A, 0x14]), (.transmission, [0x02, 0x03, 0x04, 0x05, 0x0B, 0x13, 0x23, 0x3F]),
            (.collision, [0x06]), (.frameTooLong, [0x07, 0x09, 0x0E]), (.readerUnavailable, [0x0D, 0x2D]),
            (.tagRemoved, [0x27, 0x29, 0x2A, 0x2B]), (.unsupported, [0x10, 0x12, 0x25, 0x26]),
        ]
        for (code, statuses) in codes {
            for status in statuses.flatMap({ [$0, $0 | 0xC0] }) {
                try Self.check(Self.chip, "3000 : \(Self.read) = d543 \([status].hex) 0a 9000 : \(code)")
            }
        }
    }

    @Test func `PN53x: a valid GetFirmwareVersion answer names chip and version, any other answer gives no name`()
        throws
    {
        for (answer, name) in [
            ("d503 32010607 9000", "PN532 1.6"), ("d503 33020807 9000", "PN533 2.8"), ("d503 0402 9000", "PN531 4.2"),
            ("d503 320106 9000", nil), ("d503 9000", nil), ("d505 32010607 9000", nil), ("6a81", nil),
        ] as [(String, String?)] {
            let (connection, service) = try Self.connection(["ff00000002d402": answer])
            defer { connection.close(.leave) }
            #expect(PN53xRoute.firmware(connection) == name, "\(answer)")
            #expect(service.commands == ["ff00000002d402"])
        }
    }

    // MARK: Transparent sessions (PC/SC part 3, amendment 1)

    @Test func `transparent session: begins and switches to the technology; a failed switch ends it with unsupported`()
        throws
    {
        let (done, open) = ("c003009000 9000", "ffc2000002810000")
        for (technology, standard) in [(.nfcA, "0003"), (.nfcB, "0103"), (.nfcV, "0203"), (.nfcF, "0300")]
            as [(Technology, String)]
        {
            let route = TransparentRoute(instruction: 0xC2, technology: technology)
            let change = "ffc20002048f02\(standard)00"
            #expect(try Self.begin(route, [open: done, change: done]) == (nil, [open, change]))
            #expect(try Self.begin(route, [open: done]) == (.unsupported, [open, change, "ffc2000002820000"]))
            #expect(try Self.begin(route, [:]) == (.unsupported, [open]))
        }
        #expect(TransparentRoute.instructions == [0xC2, 0x50])
    }

    /// The command for a frame, with its timer of 4 bytes.
    private static func transparent(_ frame: String, microseconds: UInt32 = 25_000) -> String {
        let time = (0..<4).map { UInt8(truncatingIfNeeded: microseconds >> (8 * UInt32($0))) }
        let data = "5f4604\(time.hex)95\([UInt8(frame.count / 2)].hex)\(frame)"
        return "ffc20001\([UInt8(data.count / 2)].hex)\(data)00"
    }

    @Test func `transparent exchange: data objects and statuses of the answer become a frame or a link error`() throws {
        for (technology, objects, outcome) in [
            (.nfcA, "970107", "07/4"), (.nfcA, "920104 9701fa", "0a/4"), (.nfcA, "920104 960108 9701fa", "0a/4"),
            (.nfcA, "92020400 960108 9701fa", "0a/4"), (.nfcA, "960108 9701fa", "transmission"),
            (.nfcA, "97020102", "0102"), (.nfcV, "920104 9701fa", "fa"), (.nfcV, "970107", "07"),
            (.nfcA, "960102 97020102", "collision"), (.nfcA, "960103 97020102", "collision"),
            (.nfcA, "960101 97020102", "transmission"), (.nfcA, "960104 97020102", "transmission"),
            (.nfcA, "960108 97020102", "transmission"), (.nfcA, "960110 97020102", "0102"), (.nfcA, "9700", "timeout"),
            (.nfcA, "", "timeout"), (.nfcA, "9702 01", "transmission"),
            // Lengths of two and three bytes, one that is reserved, and a tag of two bytes before the answer.
            (.nfcV, "97810101", "01"), (.nfcV, "9782000101", "01"), (.nfcV, "978400000001 01", "transmission"),
            (.nfcV, "5f46020102 970109", "09"), (.nfcV, "5f46", "transmission"),
        ] as [(Technology, String, String)] {
            let route = TransparentRoute(instruction: 0xC2, technology: technology)
            try Self.check(route, "3000 : \(Self.transparent("3000")) = c003009000 \(objects) 9000 : \(outcome)")
        }
        for (object, outcome) in [
            ("c003019000", "0102"), ("c003016401", "timeout"), ("c003016400", "transmission"),
            ("c003016201", "transmission"), ("c003016300", "transmission"), ("c003016f00", "transmission"),
            ("c003016a81", "unsupported"), ("c003019001", "unsupported"), ("c0029000", "0102"), ("", "0102"),
        ] {
            let route = TransparentRoute(instruction: 0xC2, technology: .nfcV)
            try Self.check(route, "3000 : \(Self.transparent("3000")) = \(object) 97020102 9000 : \(outcome)")
        }
    }

    @Test func `transparent exchange: 127 bytes at most, automatic checksum only, a timer of up to four bytes`() throws
    {
        let route = TransparentRoute(instruction: 0xC2, technology: .nfcV)
        let long = String(repeating: "07", count: 127)
        try Self.check(
            route,
            """
            \(long) : \(Self.transparent(long)) = c003009000 970107 9000 : 07
            \(long)07 : : frameTooLong
             : : unsupported
            07 : \(Self.transparent("07")) = 6a81 : unsupported
            """
        )
        for checksum in [Frame.Checksum.none, .crcB] { try Self.check(route, checksum: checksum, "07 : : unsupported") }
        // The reader's own 5 ms are added.
        let slow = Self.transparent("07", microseconds: 70_005_000)
        try Self.check(route, timeout: .milliseconds(70_000), "07 : \(slow) = c003009000 970107 9000 : 07")
        #expect(route.maximumFrameLength == 240)
    }

}
