// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards

/// Checks what data group 2 takes from the picture that it holds.
@Suite struct `The portrait of a travel document` {
    /// A picture with a table before its frame, and nothing in it.
    private static func picture(marker: UInt8, width: UInt16, height: UInt16, components: UInt8) -> [UInt8] {
        let table: [UInt8] = [0xFF, 0xC4, 0x00, 0x03, 0x00]
        let size = [UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF)]
        return [0xFF, 0xD8] + table + [0xFF, marker, 0x00, 0x11, 0x08] + size + [components, 0xFF, 0xD9]
    }

    private func contents(_ portrait: [UInt8]) throws -> EMRTDContents {
        try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), portrait: portrait, signer: .test)
    }

    @Test(arguments: [
        (UInt8(0xC0), UInt8(1), "03"), (0xC0, 3, "01"), (0xC2, 3, "01"), (0xC2, 1, "03"), (0xCF, 3, "01"),
    ]) func `Its size and its colours are those of its frame, behind any table`(
        marker: UInt8,
        components: UInt8,
        space: String
    ) throws {
        let portrait = Self.picture(marker: marker, width: 0x0123, height: 0x0456, components: components)
        let group = try #require(try contents(portrait).files[0x0102])
        let start = try #require(group.indices.first { group[$0...].starts(with: Array("FAC\0".utf8)) })
        #expect(hexText(group[(start + 34)..<(start + 46)]) == "01 00 01 23 04 56 \(space) 00 00 00 00 00")
        #expect(Array(group[(start + 46)...]) == portrait)
    }

    private static let whole = picture(marker: 0xC0, width: 9, height: 9, components: 1)

    private static let refused: [[UInt8]] = [
        picture(marker: 0xC0, width: 0, height: 9, components: 1),
        picture(marker: 0xC0, width: 9, height: 0, components: 1),
        // An extension and a table are no frames.
        picture(marker: 0xC8, width: 9, height: 9, components: 1),
        picture(marker: 0xCC, width: 9, height: 9, components: 1),
        // Without its end, and with something behind it.
        Array(whole.dropLast(2)), whole + [0x00],
        // What is behind the table is no marker.
        Array(whole[..<7]) + [0x00] + Array(whole[7...]),
    ]

    @Test func `The whole picture is taken`() throws {
        #expect(try contents(Self.whole).files[0x0102]?.suffix(Self.whole.count).elementsEqual(Self.whole) == true)
    }

    @Test(arguments: refused.indices) func `What is no whole picture is refused`(index: Int) {
        let error = #expect(throws: EMRTDError.self) { try contents(Self.refused[index]) }
        #expect(error?.code == .unsuitableContents)
    }
}
