// SPDX-License-Identifier: Apache-2.0
package import TagLink
import Testing
package import VirtualTags

/// Sends raw frames to a virtual field, written as hexadecimal text.
package struct Script {
    package static let uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]

    package let field: VirtualField
    package let link: any FrameLink

    package init(_ tags: any VirtualTag...) throws {
        try self.init(field: VirtualField(maximumFrameLength: 1024), tags)
    }

    package init(field: VirtualField, _ tags: [any VirtualTag] = []) throws {
        self.field = field
        link = try #require(field.link(for: .nfcA))
        for tag in tags { field.bring(tag) }
    }

    /// Sends bytes with CRC_A and gives the answer as text: hexadecimal bytes, `ACK`, `NAK n`, or the error's code.
    package func send(_ bytes: String) async -> String {
        await exchange(Frame(hex(bytes)))
    }

    /// Sends bytes as they are.
    package func sendRaw(_ bytes: String) async -> String {
        await exchange(Frame(hex(bytes), checksum: .none))
    }

    /// Sends a short frame of 7 bits.
    package func sendShort(_ command: UInt8) async -> String {
        await exchange(Frame(bits: [command], validBitsInLastByte: 7))
    }

    /// Wakes and selects the tag with a 7-byte UID.
    package func activate(_ uid: [UInt8] = Script.uid, wake: UInt8 = 0x52) async throws {
        #expect(await sendShort(wake) == "44 00")
        try await select(uid)
    }

    package func select(_ uid: [UInt8] = Script.uid) async throws {
        let first = [0x88] + uid[0..<3]
        let second = Array(uid[3..<7])
        #expect(await exchange(Frame([0x93, 0x70] + first + [first.reduce(0, ^)])) == "04")
        #expect(await exchange(Frame([0x95, 0x70] + second + [second.reduce(0, ^)])) == "00")
    }

    /// Wakes and selects a tag with a UID of 4 or 7 bytes, and expects its answers.
    package func activate(_ uid: [UInt8], atqa: UInt16, sak: UInt8) async throws {
        #expect(await sendShort(0x52) == hexText([UInt8(atqa & 0xFF), UInt8(atqa >> 8)]))
        var rest = uid[...]
        for command: UInt8 in [0x93, 0x95] {
            let part = rest.count > 4 ? [0x88] + rest.prefix(3) : Array(rest)
            let answer = await exchange(Frame([command, 0x70] + part + [part.reduce(0, ^)]))
            #expect(answer == (rest.count > 4 ? hexText([sak | 0x04]) : hexText([sak])))
            guard rest.count > 4 else { return }
            rest = rest.dropFirst(3)
        }
    }

    package func exchange(_ frame: Frame, timeout: Airtime = .milliseconds(10)) async -> String {
        do {
            let answer = try await link.transceive(frame, timeout: timeout)
            switch answer.nibble {
            case nil: return hexText(answer.bytes)
            case 0x0A: return "ACK"
            case let code?: return "NAK \(code)"
            }
        } catch {
            return error.code.description
        }
    }
}
