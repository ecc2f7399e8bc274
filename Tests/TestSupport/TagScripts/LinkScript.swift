// SPDX-License-Identifier: Apache-2.0
package import TagLink
import Testing
package import VirtualTags

/// Sends frames to a virtual field over the link of any technology, written as hexadecimal text.
package struct LinkScript {
    package let field: VirtualField
    package let link: any FrameLink
    /// The checksum that ``send(_:)`` asks for.
    package var checksum = Frame.Checksum.automatic

    package init(_ technology: Technology, _ tags: any VirtualTag...) throws {
        field = VirtualField(maximumFrameLength: 2048)
        link = try #require(field.link(for: technology))
        for tag in tags { field.bring(tag) }
    }

    /// Sends bytes with their checksum; the answer as text, or the error's code.
    package func send(_ bytes: String, timeout: Airtime = .milliseconds(500)) async -> String {
        await exchange(Frame(hex(bytes), checksum: checksum), timeout: timeout)
    }

    /// Sends bytes without a checksum.
    package func sendRaw(_ bytes: String) async -> String {
        await exchange(Frame(hex(bytes), checksum: .none))
    }

    /// Sends the end of a frame alone, which opens the next slot of NFC-V, and checks the checksum of the answer.
    package func sendEnd() async -> String {
        let answer = await exchange(Frame([], checksum: .none))
        guard answer.contains(" ") else { return answer }
        let frame = Frame(hex(answer), checksum: .none)
        return frame.payload(checkedBy: .nfcV).map(hexText) ?? "wrong checksum"
    }

    package func exchange(_ frame: Frame, timeout: Airtime = .milliseconds(500)) async -> String {
        do {
            return hexText(try await link.transceive(frame, timeout: timeout).bytes)
        } catch {
            return error.code.description
        }
    }

    /// Activates an NFC-A tag with a 7-byte UID, up to its SAK.
    package func activateA(_ uid: [UInt8] = VirtualType4Tag.defaultUID) async {
        _ = await exchange(Frame(bits: [0x52], validBitsInLastByte: 7))
        let first = [0x88] + uid[0..<3]
        let second = Array(uid[3..<7])
        _ = await exchange(Frame([0x93, 0x70] + first + [first.reduce(0, ^)]))
        #expect(await exchange(Frame([0x95, 0x70] + second + [second.reduce(0, ^)])) == "20")
    }
}
