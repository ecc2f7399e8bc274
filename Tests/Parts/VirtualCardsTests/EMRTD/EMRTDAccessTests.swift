// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Basic access control and secure messaging.
@Suite struct `An electronic travel document` {
    /// The document of ICAO 9303-11, appendix D, whose EF.COM is in D.4.
    private func exampleCard() throws -> EMRTDCard {
        let zone = try MachineReadableZone(
            "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C<3UTO6908061F9406236ZE184226B<<<<<14"
        )
        let contents = EMRTDContents(
            zone,
            files: [0x011E: hex("60145F0104303130365F36063034303030305C026175")]
        )
        return EMRTDCard(contents, randomBytes: hex("4608F91988702212 0B4F80323EB3191CB04970CB4052790B"))
    }

    @Test func `The worked example of ICAO 9303-11, appendix D, byte for byte`() throws {
        var card = try exampleCard()
        let exchanges = [
            ("00A4040C07A0000002471001", "9000"),
            ("0084000008", "4608F919887022129000"),
            (
                "0082000028 72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2 5F1448EEA8AD90A7 28",
                "46B9342A41396CD7386BF5803104D7CEDC122B9132139BAF2EEDC94EE178534F2F2D235D074D74499000"
            ),
            ("0CA4020C158709016375432908C044F68E08BF8B92D635FF24F800", "990290008E08FA855A5D4C50A8ED9000"),
            ("0CB000000D9701048E08ED6705417E96BA5500", "8709019FF0EC34F9922651990290008E08AD55CC17140B2DED9000"),
            (
                "0CB000040D9701128E082EA28A70F3C7B53500",
                "871901FB9235F4E4037F2327DCC8964F1F9B8C30F42C8E2FFF224A990290008E08C8B2787EAEA07D749000"
            ),
        ]
        for (command, answer) in exchanges {
            #expect(hexText(card.process(hex(command), tear: nil).bytes) == hexText(hex(answer)))
        }
    }

    @Test func `Nothing but EF.CardAccess and EF.ATR is read without authentication`() throws {
        var contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        contents.cardAccess = hex("31 00")
        var terminal = EMRTDTerminal(contents)
        #expect(terminal.plain("00 a4 02 0c 02 01 1c") == "90 00")
        #expect(terminal.plain("00 b0 00 00 00") == "31 00 90 00")
        #expect(terminal.plain("00 b0 9c 00 00") == "31 00 90 00")
        #expect(terminal.plain("00 b0 81 00 03") == "47 03 94 90 00")
        #expect(terminal.plain("00 84 00 00 08") == "69 85")
        #expect(terminal.plain("00 a4 04 0c 07 a0 00 00 02 47 20 01") == "6a 82")
        #expect(terminal.plain("00 a4 04 00 07 a0 00 00 02 47 10 01 00") == "6f 09 84 07 a0 00 00 02 47 10 01 90 00")
        for command in ["00 a4 02 0c 02 01 1e", "00 a4 02 0c 02 01 0f", "00 b0 9e 00 04", "00 b0 00 00 04"] {
            #expect(terminal.plain(command) == "69 82")
        }
        #expect(terminal.plain("0c b0 9e 00 0d 97 01 04 8e 08 00 00 00 00 00 00 00 00 00") == "69 82")
        #expect(terminal.plain("00 a4 00 0c 02 3f 00") == "90 00")
        #expect(terminal.plain("00 a4 02 0c 02 01 1c") == "90 00")
    }

    @Test func `A document without PACE has no EF.CardAccess`() throws {
        var terminal = EMRTDTerminal(try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        #expect(terminal.plain("00 a4 02 0c 02 01 1c") == "6a 82")
        #expect(terminal.plain("00 b0 9c 00 04") == "6a 82")
    }

    @Test func `An authentication that is wrong, late or too short is refused`() throws {
        let zeros = hexText([UInt8](repeating: 0, count: 40))
        var card = try exampleCard()
        func run(_ command: String) -> String { hexText(card.process(hex(command), tear: nil).bytes) }
        #expect(run(EMRTDTerminal.selectApplication) == "90 00")
        #expect(run("00 82 00 00 28 \(zeros) 28") == "69 85")
        #expect(run("00 84 00 00 08").hasSuffix("90 00"))
        #expect(run("00 82 00 00 28 \(zeros) 28") == "63 00")
        #expect(run("00 82 00 00 28 \(zeros) 28") == "69 85")
        #expect(run("00 82 00 00 08 00 00 00 00 00 00 00 00 28") == "67 00")
        #expect(run("00 82 00 00 28 \(zeros) 27") == "67 00")
        #expect(run("00 82 00 00 28 \(zeros) 29") == "69 85")
        // The example's proof is about another challenge.
        #expect(run("00 84 00 00 08").hasSuffix("90 00"))
        let proof = "72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2 5F1448EEA8AD90A7"
        #expect(run("00 82 00 00 28 \(proof) 28") == "63 00")
        // The right proof with another code.
        card = try exampleCard()
        #expect(run(EMRTDTerminal.selectApplication) == "90 00")
        #expect(run("00 84 00 00 08").hasSuffix("90 00"))
        #expect(run("00 82 00 00 28 \(proof.dropLast()) 6 28") == "63 00")
        #expect(run("00 84 00 00 07") == "67 00")
        #expect(run("00 88 00 00 08 00 00 00 00 00 00 00 00 00") == "6d 00")
        #expect(run("80 84 00 00 08") == "6e 00")
    }

    /// A protected READ BINARY of EF.COM with one thing wrong, and the status that it gets.
    @Test(
        arguments: [
            ("the code", "69 88"), ("no code", "69 87"), ("no object", "69 87"), ("no command", "67 00"),
            ("an unknown object", "69 88"),
            ("the header", "69 88"), ("a length of three bytes", "69 88"), ("a short code", "69 88"),
            ("a repeated command", "69 88"), ("the wrong data object", "69 88"),
        ]
    )
    func `A command that is protected wrongly ends the session`(fault: String, status: String) throws {
        var terminal = try EMRTDTerminal.open(EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        #expect(try terminal.read(0x1E).starts(with: [0x60]))
        let header = hex("0c b0 9e 00")
        var command = try terminal.protected(header, fault.contains("wrong data") ? [1] : [], length: [4])
        switch fault {
        case "the code": command[command.count - 2] ^= 1
        case "no code": command = header + [3, 0x97, 1, 4, 0]
        case "no object": command = header + [0]
        case "no command": command = header + [0, 0]
        case "an unknown object": command[5] = 0x96
        case "the header": command[3] = 1
        case "a length of three bytes": command = header + [15, 0x97, 3, 0, 0, 4] + command[8...]
        case "a short code": command = header + [6, 0x97, 1, 4, 0x8E, 1, 0, 0]
        case "a repeated command": #expect(terminal.plain(hexText(command)).hasSuffix("90 00"))
        case "the wrong data object": command[5] = 0x85
        default: Issue.record("unknown")
        }
        #expect(terminal.plain(hexText(command)) == status)
        // The session is over: what was right before is refused, until the reader authenticates again.
        #expect(try terminal.send("0c b0 9e 00", length: [4]).status == "69 82")
        try terminal.authenticate()
        #expect(try terminal.read(0x1E).starts(with: [0x60]))
    }

    @Test func `A plain command ends the session`() throws {
        var terminal = try EMRTDTerminal.open(EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        #expect(terminal.plain("00 b0 9e 00 04") == "69 82")
        #expect(try terminal.send("0c b0 9e 00", length: [4]).status == "69 82")
    }

    @Test func `So does the loss of power`() throws {
        var terminal = try EMRTDTerminal.open(EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        terminal.card.losePower()
        #expect(try terminal.send("0c b0 9e 00", length: [4]).status == "69 82")
        #expect(terminal.plain("00 84 00 00 08") == "69 85")
    }

    @Test func `Every session has other keys and challenges`() throws {
        var terminal = try EMRTDTerminal.open(EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        let first = terminal.encryption
        let challenge = terminal.plain("00 84 00 00 08")
        #expect(terminal.plain("00 84 00 00 08") != challenge)
        try terminal.authenticate()
        #expect(terminal.encryption != first)
    }
}
