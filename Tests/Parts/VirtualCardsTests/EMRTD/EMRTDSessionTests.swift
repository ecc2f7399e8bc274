// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualCards

/// Checks what a session with a travel document keeps, and which protected commands it refuses.
@Suite struct `A session with a travel document` {
    private func open() throws -> EMRTDTerminal {
        try EMRTDTerminal.open(EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
    }

    @Test(arguments: ["04 a0 00 00 02 47 10 01", "00 3f 00"])
    func `Selecting the application or the card leaves no file selected`(selection: String) throws {
        var terminal = try open()
        #expect(try terminal.send("0c b0 9e 00", length: [1]).data == [0x60])
        #expect(try terminal.send("0c b0 00 00", length: [1]).data == [0x60])
        let name = Array(hex(selection).dropFirst())
        #expect(try terminal.send("0c a4 \(selection.prefix(2)) 0c", name).status == "90 00")
        #expect(try terminal.send("0c b0 00 00", length: [1]).status == "69 86")
    }

    /// What is before the enciphered identifier of a file, the plain bytes with their padding, and the status.
    @Test(arguments: [
        (UInt8(0x01), "01 1e 80 00 00 00 00 00", "90 00"), (0x02, "01 1e 80 00 00 00 00 00", "69 88"),
        (0x00, "01 1e 80 00 00 00 00 00", "69 88"), (0x01, "01 1e 00 00 00 00 00 00", "69 88"),
        (0x01, "00 00 00 00 00 00 00 00", "69 88"), (0x01, "01 1e 80 00 00 00 00 00 00 00 00 00 00 00 00 00", "69 88"),
    ]) func `Data are enciphered with ISO padding, and say so`(indicator: UInt8, padded: String, status: String)
        throws
    {
        var terminal = try open()
        terminal.counter += 1
        let header = hex("0c a4 02 0c")
        let enciphered = try terminal.encrypt(hex(padded))
        let object = [0x87, UInt8(enciphered.count + 1), indicator] + enciphered
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: terminal.counter >> (56 - 8 * $0)) }
        let code = try terminal.code(counter + header + [0x80, 0, 0, 0] + object)
        let body = object + [0x8E, 0x08] + code
        let answer = terminal.plain(hexText(header + [UInt8(body.count)] + body + [0]))
        #expect(String(answer.suffix(5)) == status)
    }

    @Test func `A zone may have any kind of line ends and spaces between its lines`() throws {
        let lines = EMRTDTerminal.zone.split(separator: "\n").map(String.init)
        for separator in ["", " ", "\t", "\r", "\r\n", "\n\n"] {
            let zone = try MachineReadableZone(lines.joined(separator: separator) + separator)
            #expect(zone.lines == lines, "\(separator.utf8.map { $0 })")
        }
    }
}
