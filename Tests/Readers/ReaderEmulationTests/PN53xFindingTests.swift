// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// How a PN532 finds tags and what it knows of them (PN532 user manual UM0701-02, 7.3.5 and 7.3.10 to 7.3.13).
struct PN53xFindingTests {
    private typealias Chip = HostScript<PN53xChip>

    @Test func `malformed InListPassiveTarget and InAutoPoll: syntax error`() async {
        await Chip.run(
            """
            + ntag
            4A -> syntax error; 4A 01 -> syntax error
            4A 00 00 -> syntax error; 4A 03 00 -> syntax error  # MaxTg is 1 or 2
            4A 01 05 -> syntax error                            # BrTy is 0 to 4
            4A 01 00 010203 -> syntax error; 4A 01 00 0102030405 -> syntax error
            4A 01 00 8904A1B2C3D4E580 -> syntax error           # no cascade tag 88
            4A 01 00 880102038904050607080910 -> syntax error   # none in the second level
            4A 01 01 -> syntax error                            # FeliCa needs a polling payload
            4A 01 01 00 FFFF 01 -> syntax error; 4A 01 01 01 FFFF 01 00 -> syntax error
            4A 01 03 -> syntax error                            # Type B needs an AFI
            60 -> syntax error; 60 01 01 -> syntax error
            60 00 01 00 -> syntax error                         # PollNr from 1
            60 01 00 00 -> syntax error; 60 01 10 00 -> syntax error    # Period 1 to 15
            """
        )
    }

    @Test func `InListPassiveTarget: each technology has its own target data and type in GetGeneralStatus`() async {
        await Chip.run(
            """
            32 05 FF 01 00 -> empty
            + ntag
            4A 01 00 -> 01 01 0044 00 07 04A1B2C3D4E580
            04 -> 00 00 01 01 00 00 00 00
            -; + classic
            4A 01 00 -> 01 01 0004 08 04 01020304
            -; + typeA
            4A 01 00 -> 01 01 .. .. 20 07 ..7 0578807002
            -; + felica
            4A 01 01 00 FFFF 00 00 -> 01 01 12 01 02FE010203040506 00F1000000014300
            4A 01 02 00 12FC 01 00 -> 01 01 14 01 02FE010203040506 00F1000000014300 12FC
            04 -> 00 00 01 01 01 01 10 00
            4A 01 01 00 0003 01 00 -> 00            # another system
            4A 01 01 00 FFFF 02 00 -> 01 01 14 01 02FE010203040506 00F1000000014300 0083
            00 06 -> 00                             # still there, although it was asked for its rates
            -
            00 06 -> 01
            + typeB
            4A 01 03 00 -> 01 01 50 01020304 21000000 008175 01 01
            4A 01 03 21 01 -> 01 01 50 01020304 21000000 008175 01 01
            4A 01 03 20 -> 01 01 50 01020304 21000000 008175 01 01
            4A 01 03 30 -> 00                       # another application family
            -; + topaz
            4A 01 04 -> 01 01 0C00 ..4
            04 -> 00 00 01 01 00 00 02 00
            4A 01 00 -> 00
            """
        )
        var chip = Chip.chip(["ten": NFCATag(NFCAContents(uid: [1, 2, 3, 4], atqa: 0x0301, sak: 0x08))])
        await chip.run(
            """
            + ten
            4A 01 00 -> 01 01 0301 08 04 01020304   # SENS_RES with its high byte first
            """
        )
    }

    @Test func `InListPassiveTarget with a UID: only that tag is listed, whole or by cascade levels`() async {
        let ten: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        let four = NFCATag(NFCAContents(uid: [1, 2, 3, 4], atqa: 0x0004, sak: 0x08))
        var chip = Chip.chip([
            "four": four, "ten": NFCATag(NFCAContents(uid: ten, atqa: 0x0084, sak: 0x40)),
        ])
        // In the second round all tags are halted.
        let round = """
            4A 01 00 8804A1B2C3D4E580 -> 01 01 0044 00 07 04A1B2C3D4E580
            40 01 30 00 -> 00 ..7 80 *
            4A 02 00 04A1B2C3D4E581 -> 01 01 0044 00 07 04A1B2C3D4E581
            40 01 30 00 -> 00 ..7 81 *
            52 00 -> 00
            4A 01 00 8804A1B2C3D4E582 -> 01 01 0044 00 07 04A1B2C3D4E582
            4A 01 00 01020304 -> 01 01 0004 08 04 01020304
            4A 01 00 88010203880405060708090A -> 01 01 0084 40 0A 0102030405060708090A
            4A 01 00 0102030405060708090A -> 01 01 0084 40 0A 0102030405060708090A

            """
        await chip.run("32 05 FF 01 00\n+ ntag ntag81 ntag82 four ten\n" + round + round)
        await chip.run(
            """
            4A 01 00 09090909 -> 00
            40 01 30 00 -> 27                       # no target is left
            4A 01 00 8804A1B2 -> 00                 # the start of a UID is another UID
            """
        )
    }

    @Test func `InListPassiveTarget of two tags: both are listed, and each answers to its number`() async {
        await Chip.run(
            """
            + ntag ntag81 ntag82
            4A 01 00 -> 01 01 ..11
            04 -> 00 00 01 01 00 00 00 00
            4A 02 00 -> 02 01 0044 00 07 04A1B2C3D4E5 $a 02 0044 00 07 04A1B2C3D4E5 $b
            04 -> 00 00 02 01 00 00 00 02 00 00 00 00
            40 01 30 00 -> 00 ..7 $a *
            40 02 30 00 -> 00 ..7 $b *
            40 01 30 00 -> 00 ..7 $a *
            """
        )
    }

    @Test func `InListPassiveTarget without a tag: waits for one, unless MxRtyPassiveActivation ends it`() async {
        await Chip.run(
            """
            + ntag
            4A 01 04 -> waiting
            32 05 00 01 02 -> empty
            4A 01 04 -> 00
            -
            4A 01 00 -> 00
            """
        )
    }

    @Test func `SetParameters without automatic RATS: a card is listed without ATS, and the host starts ISO-DEP`() async
    {
        var contents = Type2Contents(blank: .ntag213, uid: SampleTag.ntagUID)
        contents.sak = 0x20
        var chip = Chip.chip(["silent": VirtualType2Tag(contents)])
        await chip.run(
            """
            32 05 FF 01 00
            + silent                                # its SAK promises ISO-DEP, but it does not answer RATS
            4A 01 00 -> 00
            12 04 -> empty
            4A 01 00 -> 01 01 0044 20 07 04A1B2C3D4E580
            -; + typeA
            4A 01 00 -> 01 01 .. .. 20 07 ..7
            42 E0 80 -> 00 0578807002
            """
        )
    }

    // MARK: InAutoPoll

    @Test func `InAutoPoll: each type finds its own tags only`() async {
        let types = ["00", "01", "02", "03", "04", "05", "10", "11", "12", "20", "23", "40"]
        for (tag, own) in [
            ("ntag", "00 10"), ("typeA", "00 20"), ("typeB", "03 23"), ("felica", "01 02 11 12"), ("topaz", "04"),
        ] {
            for type in types {
                var chip = Chip.chip()
                let isFound = own.split(separator: " ").contains(Substring(type))
                await chip.run("+ \(tag)\n60 01 01 \(type) -> " + (isFound ? "01 \(type) .. 01 *" : "00"), tag)
            }
        }
    }

    @Test func `InAutoPoll: ends at the first of up to 15 types that has a tag; PollNr FF waits for a tag without end`()
        async
    {
        let fourteen = String(repeating: "23", count: 14)
        await Chip.run(
            """
            + ntag ntag81
            60 01 0F 23 10 00 -> 01 10 0C 01 0044 00 07 ..7
            04 -> 00 00 01 01 00 00 00 00
            -; + ntag
            60 02 01 \(fourteen) 00 -> 01 00 *
            60 02 01 \(fourteen) 23 00 -> 00
            60 FF 01 23 -> waiting
            60 01 01 20 10 -> 01 10 *               # is no ISO-DEP card, and is found by the next type
            -; + typeA
            60 01 01 10 20 -> 01 20 *
            """
        )
    }

    // MARK: Targets

    @Test func `InDeselect, InRelease, InSelect: a target is put to sleep once and known until released`() async {
        await Chip.run(
            """
            + ntag ntag81; 4A 02 00
            44 -> syntax error; 52 01 01 -> syntax error; 54 -> syntax error
            44 03 -> 27; 52 03 -> 27; 54 03 -> 27; 54 00 -> 27
            54 02 -> 00 | nothing                   # the last one listed is selected
            54 01 -> 00
            54 01 -> 00 | nothing
            44 00 -> 00 | 5000
            44 00 -> 00 | nothing
            40 02 30 00 -> 00 ..16                  # selected again by itself
            40 01 30 00 -> 00 ..16
            52 01 -> 00 | 5000
            40 01 30 00 -> 27; 54 01 -> 27
            00 06 -> 00                             # the first one that is still known
            04 -> 00 00 01 02 00 00 00 00
            40 02 30 00 -> 00 ..16
            52 00 -> 00 | 5000
            00 06 -> 27
            04 -> 00 00 00 00
            """
        )
        await Chip.run(
            """
            + typeA; 4A 01 00
            44 01 -> 00 | C2                        # S(DESELECT)
            """
        )
    }

    @Test func `a target that left the field: exchanges time out, and Diagnose reports it until it is listed again`()
        async
    {
        await Chip.run(
            """
            + ntag ntag81; 4A 02 00
            40 01 30 00 -> 00 ..16
            -
            00 06 -> 01
            54 02 -> 01
            40 02 30 00 -> 01
            + ntag; 4A 01 00
            00 06 -> 00
            """
        )
    }

    @Test func `a card that was deselected or had no power: the next exchange selects it again`() async {
        for (tag, list, command, answer) in [
            ("typeA", "00", "00A4040007D276000085010100", "9000"), ("topaz", "04", "01 08", "08 E1"),
            ("felica", "01 00 FFFF 00 00", "06 00FFFF0000", "12 01 ..16"), ("ntag", "00", "30 00", "..16"),
        ] {
            var chip = Chip.chip()
            await chip.run("+ \(tag)\n4A 01 \(list)")
            for ending in ["44 01", "32 01 00\n32 01 01", "44 00\n54 01"] {
                await chip.run(ending + "\n40 01 \(command) -> 00 \(answer)", "\(tag) \(ending)")
            }
        }
    }
}
