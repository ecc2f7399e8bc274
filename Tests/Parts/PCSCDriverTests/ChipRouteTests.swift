// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver

/// Checks the ways through a reader's own chip and through transparent sessions, command by command.
struct ChipRouteTests {
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

    private static func code(
        _ route: some FrameRoute,
        _ frame: Frame,
        timeout: Airtime = .milliseconds(5),
        _ table: [String: String]
    ) throws -> (answer: Frame?, code: LinkError.Code?, commands: [String]) {
        let (connection, service) = try connection(table)
        defer { connection.close(.leave) }
        do throws(LinkError) {
            return (try route.exchange(frame, timeout: timeout, connection), nil, service.commands)
        } catch {
            return (nil, error.code, service.commands)
        }
    }

    private static let nfcA = PN53xRoute(technology: .nfcA, isType1: false)
    private static let read = "ff00000004d4423000"

    @Test("The chip's checksum of answers is turned off for NFC-A, whose ACKs have none, and on again")
    func framing() throws {
        for (technology, isType1, checks): (Technology, Bool, Bool) in [
            (.nfcA, false, true), (.nfcA, true, false), (.nfcB, false, false), (.nfcF, false, false),
        ] {
            let (connection, service) = try Self.connection(["ff00000005d408630300": "d509 9000"])
            let route = PN53xRoute(technology: technology, isType1: isType1)
            try route.begin(connection)
            route.end(connection)
            #expect(service.commands == (checks ? ["ff00000005d408630300", "ff00000005d408630380"] : []))
            connection.close(.leave)
        }
        #expect(Self.nfcA.maximumFrameLength == 250 && Self.nfcA.carriesFrames)
    }

    @Test("A Type 1 tag's frame goes by the chip's exchange of data, any other as it is")
    func commands() throws {
        let type1 = PN53xRoute(technology: .nfcA, isType1: true)
        let answer = try Self.code(
            type1,
            Frame([0x01, 8, 0, 1, 2, 3, 4], checksum: .crcB),
            ["ff0000000ad440010108000102" + "0304": "d54100 08aa 9000"]
        )
        #expect(answer.answer == Frame([0x08, 0xAA], checksum: .crcB))
        let nfcB = try Self.code(
            PN53xRoute(technology: .nfcB, isType1: false),
            Frame([0x05, 0, 0]),
            ["ff00000005d442050000": "d54300 50 9000"]
        )
        #expect(nfcB.answer == Frame([0x50]))
        for frame in [
            Frame([0x26], checksum: .none), Frame([]), Frame(bits: [0x26], validBitsInLastByte: 7),
            Frame([1], checksum: .crcB),
        ] {
            let refused = try Self.code(Self.nfcA, frame, [:])
            #expect(refused.code == .unsupported && refused.commands.isEmpty)
        }
        #expect(try Self.code(type1, Frame([0x30, 4]), [:]).code == .unsupported)
    }

    @Test("A frame of 253 bytes is the longest that fits a command to the chip")
    func length() throws {
        let longest = Frame([UInt8](repeating: 7, count: 253))
        let sent = try Self.code(Self.nfcA, longest, ["ff000000ffd442" + longest.bytes.hex: "d54300 0a 9000"])
        #expect(sent.answer?.nibble == 0x0A)
        let long = try Self.code(Self.nfcA, Frame(longest.bytes + [7]), [:])
        #expect(long.code == .frameTooLong && long.commands.isEmpty)
    }

    @Test("An answer of NFC-A is four bits, or bytes with the right checksum")
    func answers() throws {
        let checksum = CyclicRedundancyCheck.a([7]).littleEndianBytes.hex
        for (bytes, wanted) in [
            ("fa", Frame(bits: [0x0A], validBitsInLastByte: 4)), ("07" + checksum, Frame([7])), ("6363", nil),
            ("0102", nil), ("070000", nil),
        ] as [(String, Frame?)] {
            let found = try Self.code(Self.nfcA, Frame([0x30, 0]), [Self.read: "d54300" + bytes + "9000"])
            #expect(found.answer == wanted)
            #expect(found.code == (wanted == nil ? .transmission : nil))
        }
    }

    @Test("Each status of the chip, with any of its upper bits, is an error of the link")
    func status() throws {
        let codes: [UInt8: LinkError.Code] = [
            0x01: .timeout, 0x02: .transmission, 0x03: .transmission, 0x04: .transmission, 0x05: .transmission,
            0x06: .collision, 0x07: .frameTooLong, 0x09: .frameTooLong, 0x0A: .timeout, 0x0B: .transmission,
            0x0D: .readerUnavailable, 0x0E: .frameTooLong, 0x13: .transmission, 0x14: .transmission,
            0x25: .tagRemoved, 0x26: .tagRemoved, 0x27: .tagRemoved, 0x29: .tagRemoved, 0x2A: .tagRemoved,
            0x2B: .tagRemoved, 0x2D: .readerUnavailable, 0x3F: .transmission,
        ]
        for (status, code) in codes {
            for upper: UInt8 in [0, 0xC0] {
                let answer = "d543" + [status | upper].hex + "0a9000"
                #expect(try Self.code(Self.nfcA, Frame([0x30, 0]), [Self.read: answer]).code == code)
            }
        }
    }

    @Test(
        "What the reader itself says of its chip: silence, no way to it, or an answer that is kept until it is fetched"
    )
    func readerStatus() throws {
        for (answer, code): (String, LinkError.Code) in [
            ("6300", .timeout), ("6301", .timeout), ("6327", .timeout), ("637f", .timeout), ("6302", .unsupported),
            ("6d00", .unsupported), ("9000", .transmission), ("d59000", .transmission), ("d443000a9000", .transmission),
            ("d542000a9000", .transmission), ("d5439000", .transmission), ("d543009000", .timeout),
        ] {
            #expect(try Self.code(Self.nfcA, Frame([0x30, 0]), [Self.read: answer]).code == code, "\(answer)")
        }
        let fetched = try Self.code(
            Self.nfcA,
            Frame([0x30, 0]),
            [Self.read: "6105", "ffc0000005": "d543000a 9000"]
        )
        #expect(fetched.answer?.nibble == 0x0A && fetched.commands == [Self.read, "ffc0000005"])
        let gone = try Self.code(Self.nfcA, Frame([0x30, 0]), [Self.read: "6105", "ffc0000005": "6300"])
        #expect(gone.code == .timeout)
    }

    @Test(
        "A chip is known by its firmware",
        arguments: [
            ("d503 32010607 9000", "PN532 1.6"), ("d503 33020807 9000", "PN533 2.8"), ("d503 0402 9000", "PN531 4.2"),
            ("d503 320106 9000", nil), ("d503 9000", nil), ("d503 01 9000", nil), ("6a81", nil),
        ] as [(String, String?)]
    )
    func firmware(answer: String, name: String?) throws {
        let (connection, service) = try Self.connection(["ff00000002d402": answer])
        #expect(PN53xRoute.firmware(connection) == name)
        #expect(service.commands == [PN53xRoute.firmwareCommand.hex])
        let data = Array([UInt8](hex: answer).dropLast(2))
        #expect(PN53xRoute.firmware(in: data) == name)
        #expect(PN53xRoute.firmware(in: [0xD5, 0x05] + data.dropFirst(2)) == nil)
        connection.close(.leave)
    }

    // MARK: Transparent sessions

    private static let done = "c003009000"

    @Test(
        "A transparent session names the technology and its layer",
        arguments: [
            (.nfcA, "0003"), (.nfcB, "0103"), (.nfcV, "0203"), (.nfcF, "0300"),
        ] as [(Technology, String)]
    )
    func beginning(technology: Technology, standard: String) throws {
        let switched = "ffc20002048f02" + standard + "00"
        let (connection, service) = try Self.connection([
            "ffc2000002810000": Self.done + "9000", switched: Self.done + "9000",
        ])
        try TransparentRoute(instruction: 0xC2, technology: technology).begin(connection)
        #expect(service.commands == ["ffc2000002810000", switched])
        connection.close(.leave)
        // A session that can't switch is ended again.
        let (other, refusing) = try Self.connection(["ffc2000002810000": Self.done + "9000"])
        #expect(throws: LinkError(.unsupported, "")) {
            try TransparentRoute(instruction: 0xC2, technology: technology).begin(other)
        }
        #expect(refusing.commands == ["ffc2000002810000", switched, "ffc2000002820000"])
        other.close(.leave)
        let (last, silent) = try Self.connection([:])
        #expect(throws: LinkError(.unsupported, "")) {
            try TransparentRoute(instruction: 0xC2, technology: technology).begin(last)
        }
        #expect(silent.commands == ["ffc2000002810000"])
        last.close(.leave)
    }

    private static func sent(_ bytes: String, microseconds: UInt32 = 10_000) -> String {
        let time = (0..<4).map { UInt8(truncatingIfNeeded: microseconds >> (8 * UInt32($0))) }
        let data = "5f4604" + time.hex + "95" + [UInt8(bytes.count / 2)].hex + bytes
        return "ffc20001" + [UInt8(data.count / 2)].hex + data + "00"
    }

    @Test(
        "A transparent exchange's answer is bytes, four bits, or an error",
        arguments: [
            (.nfcA, "970107", Frame(bits: [0x07], validBitsInLastByte: 4), nil),
            (.nfcA, "920104 9701fa", Frame(bits: [0x0A], validBitsInLastByte: 4), nil),
            (.nfcA, "920104 960108 9701fa", Frame(bits: [0x0A], validBitsInLastByte: 4), nil),
            // Of a longer object the first byte counts.
            (.nfcA, "92020400 960108 9701fa", Frame(bits: [0x0A], validBitsInLastByte: 4), nil),
            (.nfcA, "960108 9701fa", nil, .transmission), (.nfcA, "97020102", Frame([1, 2]), nil),
            (.nfcV, "920104 9701fa", Frame([0xFA]), nil), (.nfcV, "970107", Frame([7]), nil),
            (.nfcA, "960102 97020102", nil, .collision), (.nfcA, "960103 97020102", nil, .collision),
            (.nfcA, "960101 97020102", nil, .transmission), (.nfcA, "960104 97020102", nil, .transmission),
            (.nfcA, "960108 97020102", nil, .transmission), (.nfcA, "960110 97020102", Frame([1, 2]), nil),
            (.nfcA, "9700", nil, .timeout), (.nfcA, "", nil, .timeout), (.nfcA, "9702 01", nil, .transmission),
        ] as [(Technology, String, Frame?, LinkError.Code?)]
    )
    func exchange(technology: Technology, objects: String, wanted: Frame?, code: LinkError.Code?) throws {
        let route = TransparentRoute(instruction: 0xC2, technology: technology)
        let found = try Self.code(route, Frame([0x30, 0]), [Self.sent("3000"): Self.done + objects + "9000"])
        #expect(found.answer == wanted && found.code == code)
        #expect(found.commands == [Self.sent("3000")])
    }

    @Test(
        "A transparent exchange's own outcome is an error of the link",
        arguments: [
            ("c0030190 00", nil), ("c003016401", .timeout), ("c003016400", .transmission),
            ("c003016201", .transmission),
            ("c003016300", .transmission), ("c003016f00", .transmission), ("c003016a81", .unsupported),
            ("c003019001", .unsupported),
            ("c0029000", nil), ("", nil),
        ] as [(String, LinkError.Code?)]
    )
    func outcomes(object: String, code: LinkError.Code?) throws {
        let route = TransparentRoute(instruction: 0xC2, technology: .nfcV)
        let found = try Self.code(route, Frame([0x30, 0]), [Self.sent("3000"): object + "97020102 9000"])
        #expect(found.code == code && found.answer == (code == nil ? Frame([1, 2]) : nil))
    }

    @Test("A transparent session takes 127 bytes, with their checksum, and times of four bytes")
    func limits() throws {
        let route = TransparentRoute(instruction: 0xC2, technology: .nfcV)
        #expect(route.maximumFrameLength == 240 && TransparentRoute.instructions == [0xC2, 0x50])
        let long = [UInt8](repeating: 7, count: 127)
        #expect(
            try Self.code(route, Frame(long), [Self.sent(long.hex): Self.done + "970107 9000"]).answer == Frame([7])
        )
        let tooLong = try Self.code(route, Frame(long + [7]), [:])
        #expect(tooLong.code == .frameTooLong && tooLong.commands.isEmpty)
        for frame in [Frame([7], checksum: .none), Frame([7], checksum: .crcB), Frame([])] {
            let refused = try Self.code(route, frame, [:])
            #expect(refused.code == .unsupported && refused.commands.isEmpty)
        }
        #expect(try Self.code(route, Frame([7]), [Self.sent("07"): "6a81"]).code == .unsupported)
        let slow = try Self.code(
            route,
            Frame([7]),
            timeout: .milliseconds(70_000),
            [Self.sent("07", microseconds: 70_005_000): Self.done + "970107 9000"]
        )
        #expect(slow.answer == Frame([7]))
    }

    // MARK: Data objects

    @Test("Data objects have short and long lengths, and names of two bytes are passed over")
    func objects() {
        let long = [UInt8](repeating: 7, count: 200)
        #expect(DataObjects.parse([]) == [:])
        #expect(DataObjects.parse([0x92, 0x01, 0x04, 0x97, 0x00]) == [0x92: [4], 0x97: []])
        #expect(DataObjects.parse([0x97, 0x81, 200] + long) == [0x97: long])
        #expect(DataObjects.parse([0x97, 0x82, 0, 200] + long + [0x92, 1, 4]) == [0x97: long, 0x92: [4]])
        #expect(DataObjects.parse([0x5F, 0x46, 0x02, 1, 2, 0x97, 1, 9]) == [0x97: [9]])
        #expect(
            DataObjects.parse([0x97, 0x80] + [UInt8](repeating: 7, count: 128)) == [
                0x97: [UInt8](repeating: 7, count: 128)
            ]
        )
        for cut: [UInt8] in [
            [0x97], [0x5F], [0x5F, 0x46], [0x97, 1], [0x97, 0x81], [0x97, 0x82, 0], [0x97, 0x81, 2, 1],
            [0x97, 0x83, 0, 0, 1, 1],
        ] { #expect(DataObjects.parse(cut) == nil, "\(cut)") }
    }
}
