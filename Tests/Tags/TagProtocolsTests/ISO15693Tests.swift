// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols  // requests and responses are internal

/// Requests, responses and system information of ISO/IEC 15693-3, 7 to 10.
struct ISO15693Tests {
    @Test func `ISO 15693 request: flags, command, maker's code, UID and parameters are in their order`() {
        let uid = bytes("e002240800112233")
        #expect(hex(ISO15693Command.readSingleBlock.request([5])) == "022005")
        #expect(hex(ISO15693Command.readSingleBlock.request(uid: uid, [5])) == "2220" + "33221100082402e0" + "05")
        #expect(hex(ISO15693Command.lockBlock.request(flags: [.highDataRate, .option, .select], [5])) == "522205")
        for code: UInt8 in [0xA0, 0xBD, 0xDF] {
            let command = ISO15693Command(rawValue: code)
            #expect(hex(command.request([0x02, 7])) == "02" + hex([code]) + "0207")
            let named = hex(command.request(uid: uid, [0x02, 7]))
            #expect(named == "22" + hex([code]) + "02" + "33221100082402e0" + "07")
        }
        for code: UInt8 in [0x9F, 0xE0] {
            let named = hex(ISO15693Command(rawValue: code).request(uid: uid, [0x02, 7]))
            #expect(named == "22" + hex([code]) + "33221100082402e0" + "0207")
        }
    }

    @Test func `ISO 15693 response: flags, then data or an error code; a checksum that the link left is removed`() {
        let content: [UInt8] = [0x00, 7]
        let checked = content + Technology.nfcV.checksum(content)
        let responses: [(Frame, ISO15693Response)] = [
            (Frame([0x00]), .success([])), (Frame([0x00, 1, 2]), .success([1, 2])),
            (Frame([0x01, 0x12]), .failure(ISO15693ErrorCode(rawValue: 0x12))),
            (Frame([0x01]), .failure(ISO15693ErrorCode(rawValue: 0x0F))),
            (Frame(checked, checksum: .none), .success([7])), (Frame(checked), .success(Array(checked.dropFirst()))),
            (Frame([0x00, 1, 2], checksum: .none), .success([1, 2])),
            // Two zeros are the checksum of no bytes.
            (Frame([0x00, 0x00], checksum: .none), .success([0])),
        ]
        for (frame, response) in responses { #expect(ISO15693Response(frame) == response, "\(frame)") }
        for frame in [Frame([]), Frame(bits: [0], validBitsInLastByte: 4)] {
            #expect(ISO15693Response(frame) == nil)
        }
    }

    @Test func `ISO 15693 system information: the fields that its flags announce, short and extended; a cut throws`()
        throws
    {
        for flags: UInt8 in 0..<16 {
            let head = hex([flags]) + "33221100082402e0" + (flags & 1 != 0 ? "11" : "") + (flags & 2 != 0 ? "22" : "")
            let end = flags & 8 != 0 ? "44" : ""
            for (size, count, isExtended) in [("7fe3", 128, false), ("ff0103", 512, true)] {
                let text = head + (flags & 4 != 0 ? size : "") + end
                let info = try ISO15693SystemInfo(bytes(text), isExtended: isExtended)
                #expect(info.uid == bytes("e002240800112233"))
                #expect(info.dsfid == (flags & 1 != 0 ? 0x11 : nil) && info.afi == (flags & 2 != 0 ? 0x22 : nil))
                #expect(info.blockCount == (flags & 4 != 0 ? count : nil))
                #expect(info.blockSize == (flags & 4 != 0 ? 4 : nil))
                #expect(info.icReference == (flags & 8 != 0 ? 0x44 : nil))
                for cut in 0..<bytes(text).count {
                    #expect(throws: TagError(.badAnswer, "")) {
                        try ISO15693SystemInfo(Array(bytes(text).prefix(cut)), isExtended: isExtended)
                    }
                }
            }
        }
    }
}
