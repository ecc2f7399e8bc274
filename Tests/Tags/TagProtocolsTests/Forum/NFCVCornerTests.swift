// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Exact exchanges with tags of NFC-V that collide, are damaged or say more or less than they should (ISO/IEC 15693-3).
@Suite struct `NFC-V with odd partners` {
    typealias Step = ScriptedLink.Step

    private static let uid = "3322110008 2402e0"
    private static let eof = Step(request: Frame([], checksum: .none), result: .failure(LinkError(.timeout, "nobody")))
    private static func slot(_ code: LinkError.Code) -> Step {
        Step(request: Frame([], checksum: .none), result: .failure(LinkError(code, "scripted")))
    }

    private static func tags(family: UInt8? = nil, limit: Int = 16, _ steps: [Step]) async -> (
        found: [NFCVTarget], code: TagError.Code?, left: Int
    ) {
        let link = ScriptedLink(steps, technology: .nfcV)
        do throws(TagError) {
            return (
                try await NFCVInventory(link: link).findAll(applicationFamily: family, limit: limit), nil,
                link.remaining
            )
        } catch {
            return ([], error.code, link.remaining)
        }
    }

    @Test func `An inventory names the family, in one slot and in sixteen`() async {
        let found = await Self.tags(family: 7, [.exchange("36010700", "00 05" + Self.uid)])
        #expect(found.found == [NFCVTarget(uid: bytes("e002240800112233"), dsfid: 5)] && found.left == 0)
        let crowd = await Self.tags(
            family: 7,
            [.exchange("36010700", .collision), .exchange("16010700", "00 05" + Self.uid)]
                + [Step](repeating: Self.eof, count: 15)
        )
        #expect(crowd.found.count == 1 && crowd.left == 0)
        #expect(await Self.tags([.exchange("260100", .timeout)]).found.isEmpty)
    }

    @Test func `A damaged answer to an inventory is asked for three times, then the slots are opened`() async {
        for damage in [
            Step.exchange("260100", .transmission), .exchange("260100", "00 05" + Self.uid + "00"),
            .exchange("260100", "01 0f"), .exchange("260100", ""),
        ] {
            #expect(await Self.tags([damage, damage, .exchange("260100", "00 05" + Self.uid)]).found.count == 1)
            let slots = await Self.tags(
                [damage, damage, damage, .exchange("060100", "00 05" + Self.uid)]
                    + [Step](repeating: Self.eof, count: 15)
            )
            #expect(slots.found.count == 1 && slots.left == 0)
        }
        #expect(await Self.tags([.exchange("260100", .cancelled)]).code == .cancelled)
        #expect(
            await Self.tags([
                .exchange("260100", .collision), .exchange("060100", .timeout), Self.slot(.readerUnavailable),
            ]).code == .readerUnavailable
        )
    }

    @Test func `A tag that answers in two slots is one tag`() async {
        let again = Step(request: Frame([], checksum: .none), result: .success(Frame(bytes("00 05" + Self.uid))))
        let other = Step(
            request: Frame([], checksum: .none),
            result: .success(Frame(bytes("00 05 34" + Self.uid.dropFirst(2))))
        )
        let found = await Self.tags(
            [.exchange("260100", .collision), .exchange("060100", "00 05" + Self.uid), again, other]
                + [Step](repeating: Self.eof, count: 13)
        )
        #expect(found.found.map(\.uid.last) == [0x33, 0x34] && found.left == 0)
    }

    @Test func `A mask grows by four bits, the later ones in the upper half of its bytes`() async {
        let all = [Step](repeating: Self.eof, count: 15)
        func slots(_ request: String, _ collides: Int) -> [Step] {
            var steps = [Step.exchange(request, collides == 0 ? .collision : .timeout)] + all
            if collides > 0 { steps[collides] = Self.slot(.transmission) }
            return steps
        }
        let found = await Self.tags(
            [.exchange("260100", .collision)] + slots("060100", 3) + slots("06010403", 5) + slots("06010853", 0)
                + [.exchange("06010c5300", "00 00" + Self.uid)] + all
        )
        #expect(found.found.count == 1 && found.left == 0)
        let limited = await Self.tags(
            limit: 1,
            [.exchange("260100", .collision), .exchange("060100", "00 00" + Self.uid)]
        )
        #expect(limited.found.count == 1 && limited.left == 0)
    }

    @Test func `A response has flags, then data or an error code`() throws {
        #expect(try ISO15693Response(Frame([0x00])) == .success([]))
        #expect(try ISO15693Response(Frame([0x00, 1, 2])) == .success([1, 2]))
        #expect(try ISO15693Response(Frame([0x01, 0x12])) == .failure(ISO15693ErrorCode(rawValue: 0x12)))
        #expect(try ISO15693Response(Frame([0x01])) == .failure(ISO15693ErrorCode(rawValue: 0x0F)))
        // An answer in a slot may come with its checksum, and what only looks like one stays.
        let bytes: [UInt8] = [0x00, 7]
        let checked = bytes + CyclicRedundancyCheck.b(bytes).littleEndianBytes
        #expect(try ISO15693Response(Frame(checked, checksum: .none)) == .success([7]))
        #expect(try ISO15693Response(Frame(checked)) == .success(Array(checked.dropFirst())))
        #expect(try ISO15693Response(Frame([0x00, 1, 2], checksum: .none)) == .success([1, 2]))
        // Two zeros are the checksum of no bytes.
        #expect(try ISO15693Response(Frame([0x00, 0x00], checksum: .none)) == .success([0]))
        #expect(throws: TagError(.badAnswer, "")) { try ISO15693Response(Frame([])) }
        #expect(throws: TagError(.badAnswer, "")) { try ISO15693Response(Frame(bits: [0], validBitsInLastByte: 4)) }
        let words: [UInt8: String] = [
            0x01: "not supported", 0x02: "not recognised", 0x03: "option", 0x0F: "unknown", 0x10: "not available",
            0x11: "locked already",
            0x12: "is locked", 0x13: "not programmed", 0x14: "not locked", 0x15: "protected", 0xA0: "code a0",
        ]
        for (code, word) in words { #expect(ISO15693ErrorCode(rawValue: code).description.contains(word)) }
    }

    @Test func `A request's flags, address and parameters are in their order`() {
        let uid = bytes("e002240800112233")
        #expect(hex(ISO15693Request.make(.readSingleBlock, [5])) == "022005")
        #expect(hex(ISO15693Request.make(.readSingleBlock, uid: uid, [5])) == "22203322110008240" + "2e005")
        #expect(hex(ISO15693Request.make(.writeAFI, flags: [.highDataRate, .option, .select], [5])) == "522705")
        for (bit, flag): (UInt8, ISO15693RequestFlags) in [
            (0x01, .dualSubCarriers), (0x02, .highDataRate), (0x04, .inventory), (0x08, .protocolExtension),
            (0x10, .select),
            (0x20, .address), (0x40, .option),
        ] { #expect(flag.rawValue == bit) }
    }

    @Test func `Commands have the codes of the standard`() {
        let codes: [(ISO15693Command, UInt8)] = [
            (.inventory, 0x01), (.stayQuiet, 0x02), (.readSingleBlock, 0x20), (.writeSingleBlock, 0x21),
            (.lockBlock, 0x22), (.readMultipleBlocks, 0x23), (.writeMultipleBlocks, 0x24), (.select, 0x25),
            (.resetToReady, 0x26), (.writeAFI, 0x27), (.lockAFI, 0x28), (.writeDSFID, 0x29), (.lockDSFID, 0x2A),
            (.getSystemInformation, 0x2B), (.getMultipleBlockSecurityStatus, 0x2C), (.fastReadMultipleBlocks, 0x2D),
            (.extendedReadSingleBlock, 0x30), (.extendedWriteSingleBlock, 0x31), (.extendedLockBlock, 0x32),
            (.extendedReadMultipleBlocks, 0x33), (.extendedWriteMultipleBlocks, 0x34), (.authenticate, 0x35),
            (.keyUpdate, 0x36), (.challenge, 0x39), (.readBuffer, 0x3A), (.extendedGetSystemInformation, 0x3B),
            (.extendedGetMultipleBlockSecurityStatus, 0x3C),
        ]
        for (command, code) in codes { #expect(command.rawValue == code) }
    }

    @Test func `A maker's own command has the maker's code before its address`() {
        let uid = bytes("e002240800112233")
        let backwards = "33221100082402e0"
        for code: UInt8 in [0xA0, 0xBD, 0xDF] {
            let command = ISO15693Command(rawValue: code)
            #expect(hex(ISO15693Request.make(command, [0x02, 7])) == "02" + hex([code]) + "0207")
            #expect(
                hex(ISO15693Request.make(command, uid: uid, [0x02, 7]))
                    == "22" + hex([code]) + "02" + backwards + "07"
            )
        }
        for code: UInt8 in [0x9F, 0xE0] {
            #expect(
                hex(ISO15693Request.make(.init(rawValue: code), uid: uid, [0x02, 7]))
                    == "22" + hex([code]) + backwards + "0207"
            )
        }
    }

    @Test func `System information has what its flags say, in either form`() throws {
        for flags: UInt8 in 0..<16 {
            var text = hex([flags]) + Self.uid
            if flags & 1 != 0 { text += "11" }
            if flags & 2 != 0 { text += "22" }
            let short = text + (flags & 4 != 0 ? "7fe3" : "") + (flags & 8 != 0 ? "44" : "")
            let info = try ISO15693SystemInfo(bytes(short))
            #expect(info.dsfid == (flags & 1 != 0 ? 0x11 : nil) && info.afi == (flags & 2 != 0 ? 0x22 : nil))
            #expect(info.blockCount == (flags & 4 != 0 ? 128 : nil) && info.blockSize == (flags & 4 != 0 ? 4 : nil))
            #expect(info.icReference == (flags & 8 != 0 ? 0x44 : nil))
            let long = text + (flags & 4 != 0 ? "ff011f" : "") + (flags & 8 != 0 ? "44" : "")
            let extended = try ISO15693SystemInfo(bytes(long), isExtended: true)
            #expect(
                extended.blockCount == (flags & 4 != 0 ? 512 : nil) && extended.blockSize == (flags & 4 != 0 ? 32 : nil)
            )
            #expect(extended.icReference == info.icReference)
        }
    }
}
