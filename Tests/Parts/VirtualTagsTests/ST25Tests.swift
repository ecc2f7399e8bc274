// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Configuration of ST25TV` {
    /// A password as it goes over the air: combined with a random number that is fetched first.
    private func covered(_ password: String, _ script: LinkScript) async -> String {
        let random = Array(hex(await script.send("02 b4 02")).dropFirst())
        return hexText(zip(0..., hex(password)).map { $0.1 ^ random[$0.0 & 1] })
    }

    private func present(_ identifier: String, _ password: String, _ script: LinkScript) async -> String {
        await script.send("02 b3 02 \(identifier) \(await covered(password, script))")
    }

    private func make(change: (inout Type5Contents) -> Void = { _ in }) throws -> (LinkScript, VirtualType5Tag) {
        var contents = Type5Contents(blank: .st25tv02K)
        contents.settings.passwords = [[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3], [4, 4, 4, 4]]
        change(&contents)
        let tag = VirtualType5Tag(contents)
        return (try LinkScript(.nfcV, tag), tag)
    }

    @Test func `Registers are read by all, and written in a session until they are locked`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 a0 02 00") == "00 00")
        #expect(await script.send("02 a0 02 04") == "00 00 00")
        #expect(await script.send("02 a0 02 05") == "00 01")
        #expect(await script.send("02 a0 02 08") == "01 10")
        #expect(await script.send("02 a1 02 00 01") == "01 12")
        #expect(await present("03", "04 04 04 05", script) == "01 0f")
        #expect(await script.send("02 a1 02 00 01") == "01 12")
        #expect(await present("03", "04 04 04 04", script) == "00")
        #expect(await script.send("02 a1 02 05 00") == "01 10")
        #expect(await script.send("02 a1 02 00 ff") == "00")
        #expect(await script.send("02 a0 02 00") == "00 07")
        #expect(await script.send("02 a1 02 06 01") == "00")
        #expect(await script.send("02 a1 02 00 00") == "01 12")
    }

    @Test func `One area has a password of 64 bits, two have one each, and block 0 none`() async throws {
        let (script, tag) = try make { $0.settings.registers[0] = 0x02 }
        #expect(await script.send("02 20 00") == "00 e1 40 1f 01")
        #expect(await script.send("02 20 01") == "01 15")
        #expect(await script.send("02 23 00 01") == "01 15")
        #expect(await script.send("02 21 3f 00 00 00 00") == "01 12")
        #expect(await present("01", "02 02 02 02", script) == "01 02")
        #expect(await present("01", "02 02 02 02 03 03 03 03", script) == "00")
        #expect(await script.send("02 23 00 3f").hasPrefix("00 e1 40 1f 01 03 00 fe"))
        #expect(await script.send("02 21 3f 00 00 00 00") == "00")
        #expect(await script.send("02 b1 02 02 09 09 09 09") == "00")
        #expect(tag.contents.settings.passwords[2] == [9, 9, 9, 9])

        let (other, _) = try make {
            $0.settings.registers[0] = 0x05
            $0.settings.registers[1] = 0x03
        }
        #expect(await other.send("02 20 1f") == "00 00 00 00 00")
        #expect(await other.send("02 21 1f 01 02 03 04") == "01 12")
        #expect(await other.send("02 20 20") == "01 15")
        #expect(await present("01", "02 02 02 02", other) == "00")
        #expect(await other.send("02 21 1f 01 02 03 04") == "00")
        #expect(await other.send("02 20 20") == "01 15")
        #expect(await present("02", "03 03 03 03", other) == "00")
        #expect(await other.send("02 20 20") == "00 00 00 00 00")
        #expect(await other.send("02 21 20 01 02 03 04") == "01 12")
        #expect(await other.send("02 b1 02 01 00 00 00 00") == "01 12")
    }

    @Test func `A killed tag never answers again`() async throws {
        let (script, tag) = try make()
        #expect(await script.send("02 a6 02 00 \(await covered("01 01 01 00", script))") == "01 0f")
        #expect(await script.send("42 a6 02 00 \(await covered("01 01 01 01", script))") == "01 03")
        #expect(await script.send("02 b2 02 00 01") == "00")
        #expect(await script.send("02 b2 02 00 01") == "01 11")
        #expect(await present("00", "01 01 01 01", script) == "00")
        #expect(await script.send("02 b1 02 00 00 00 00 00") == "01 12")
        #expect(await script.send("02 a6 02 00 \(await covered("01 01 01 01", script))") == "00")
        tag.losePower()
        #expect(await script.send("26 01 00") == "timeout")
    }

    @Test func `An untraceable tag is silent until its password is given`() async throws {
        let (script, tag) = try make()
        #expect(await script.send("02 ba 02 00 \(await covered("01 01 01 01", script))") == "00")
        tag.losePower()
        #expect(await script.send("26 01 00") == "timeout")
        #expect(await script.send("02 20 00") == "timeout")
        #expect(await present("00", "01 01 01 01", script) == "00")
        #expect(await script.send("02 20 00") == "00 e1 40 1f 01")
    }

    @Test func `The counter counts once while there is power, and is reset by its register`() async throws {
        let (script, tag) = try make { $0.settings.registers[3] = 0x01 }
        for _ in 0..<2 { #expect(await script.send("02 21 05 01 02 03 04") == "00") }
        tag.losePower()
        #expect(await script.send("02 21 05 01 02 03 04") == "00")
        #expect(await script.send("02 a0 02 04") == "00 02 00")
        #expect(await present("03", "04 04 04 04", script) == "00")
        #expect(await script.send("02 a1 02 03 03") == "00")
        #expect(await script.send("02 a0 02 04") == "00 00 00")
        #expect(await script.send("02 a0 02 03") == "00 00")
    }

    @Test func `Surveillance sends its telegram or its identifier`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 a5 02") == "timeout")
        #expect(await script.send("02 a2 02") == "00")
        #expect(await script.send("02 21 f8 41 42 43 44") == "00")
        #expect(await script.send("02 20 f8") == "01 10")
        #expect(await script.send("02 a8 02 03") == "00")
        #expect(await script.send("02 a5 02") == "00 41 42 43 44")
        #expect(await script.send("02 a7 02 34 12") == "00")
        #expect(await script.send("42 a5 02") == "00 34 12")
        #expect(await script.send("02 a4 02") == "00")
        for request in ["02 a3 02", "02 a7 02 00 00", "02 21 f8 00 00 00 00"] {
            #expect(await script.send(request) == "01 12", "\(request)")
        }
        #expect(await script.send("02 a5 02") == "00 41 42 43 44")
    }

    @Test func `A surveillance bit that is reset makes the tag silent again`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 a2 02") == "00")
        #expect(await script.send("02 a5 02").hasPrefix("00 "))
        #expect(await script.send("02 a3 02") == "00")
        #expect(await script.send("02 a5 02") == "timeout")
    }

    @Test func `The telegram has the blocks F8 to FF`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 a2 02") == "00")
        for index in UInt8(0)..<8 {
            let data = hexText([UInt8](repeating: index + 1, count: 4))
            #expect(await script.send("02 21 \(hexText([0xF8 + index])) \(data)") == "00", "block \(index)")
        }
        #expect(await script.send("02 21 f7 01 02 03 04") == "01 10")
        let telegram = (UInt8(1)...8).flatMap { [UInt8](repeating: $0, count: 4) }
        #expect(await script.send("02 a5 02") == "00 \(hexText(telegram))")
    }

    @Test(arguments: [("00", 32), ("01", 16), ("02", 8), ("03", 4), ("04", 32), ("fe", 8)])
    func `The lowest two bits choose the length of the telegram`(parameter: String, length: Int) async throws {
        let (script, _) = try make()
        #expect(await script.send("02 a2 02") == "00")
        #expect(await script.send("02 a8 02 \(parameter)") == "00")
        #expect(hex(await script.send("02 a5 02")).count == 1 + length)
    }

    @Test func `Fast reads, INITIATE and INVENTORY READ`() async throws {
        let (script, tag) = try make()
        let uid = hexText(tag.identifier.reversed())
        #expect(await script.send("02 c0 02 00") == "00 e1 40 1f 01")
        #expect(await script.send("42 c3 02 00 01") == "00 00 e1 40 1f 01 00 03 00 fe 00")
        #expect(await script.send("02 c4 02 00 00") == "01 01")
        #expect(await script.send("26 d1 02 00") == "timeout")
        #expect(await script.send("02 d2 02") == "00 00 \(uid)")
        #expect(await script.send("26 d1 02 00") == "00 00 \(uid)")
        #expect(await script.send("26 d3 02 00 00 00") == "00 e1 40 1f 01")
    }

    @Test func `A wrong password ends the session, and that of an area opens no other one`() async throws {
        let (script, tag) = try make { $0.settings.registers[2] = 0x01 }
        let requests = ["02 a2 02", "02 a3 02", "02 a7 02 34 12", "02 a8 02 01", "02 21 f8 41 42 43 44", "02 a4 02"]
        let before = tag.contents
        for (identifier, password, answer) in [
            ("01", "02 02 02 02 03 03 03 03", "00"), ("03", "00 00 00 00", "01 0f"),
        ] {
            #expect(await present("03", "04 04 04 04", script) == "00")
            #expect(await present(identifier, password, script) == answer)
            for request in requests { #expect(await script.send(request) == "01 12", "\(request)") }
            #expect(await script.send("02 a1 02 00 01") == "01 12")
            #expect(tag.contents == before)
        }
        #expect(await present("03", "04 04 04 04", script) == "00")
        for request in requests { #expect(await script.send(request) == "00", "\(request)") }
    }

    @Test func `Each register keeps its own bits`() async throws {
        let (script, _) = try make()
        #expect(await present("03", "04 04 04 04", script) == "00")
        let registers = [
            ("00", "ff", "07"), ("01", "ff", "03"), ("02", "ff", "01"), ("03", "fd", "01"), ("06", "fe", "00"),
        ]
        for (pointer, value, kept) in registers {
            #expect(await script.send("02 a1 02 \(pointer) \(value)") == "00", "\(pointer)")
            #expect(await script.send("02 a0 02 \(pointer)") == "00 \(kept)", "\(pointer)")
        }
        for pointer in ["04", "05", "07", "08"] {
            #expect(await script.send("02 a1 02 \(pointer) 00") == "01 10", "\(pointer)")
        }
    }

    @Test func `KILL and its relatives take the right parameters alone`() async throws {
        let (script, tag) = try make()
        let before = tag.contents
        let password = await covered("01 01 01 01", script)
        for request in ["a6 02 01 \(password)", "ba 02 01 \(password)", "b2 02 00 00", "b2 02 01 01", "b2 02 00"] {
            #expect(await script.send("02 \(request)") == "01 02", "\(request)")
        }
        #expect(tag.contents == before)
    }

    @Test func `The counter stays at its end`() async throws {
        let (script, tag) = try make {
            $0.settings.registers[3] = 0x01
            $0.counter = 0xFFFE
        }
        for _ in 0..<2 {
            #expect(await script.send("02 21 05 01 02 03 04") == "00")
            #expect(await script.send("02 a0 02 04") == "00 ff ff")
            tag.losePower()
        }
    }

    @Test(
        arguments: [
            "a1 02 00 07", "a2 02", "a4 02", "a6 02 00 PASSWORD", "a7 02 34 12", "a8 02 01", "b1 02 03 09 09 09 09",
            "b2 02 00 01", "ba 02 00 PASSWORD", "21 05 01 02 03 04", "21 f8 41 42 43 44", "22 05", "29 55", "2a",
        ],
        [true, false]
    ) func `A power cut leaves the old state or the new one`(request: String, isOld: Bool) async throws {
        let (script, tag) = try make { $0.settings.registers[3] = 0x01 }
        #expect(await present("03", "04 04 04 04", script) == "00")
        let password = await covered("01 01 01 01", script)
        let before = tag.contents
        let start = script.link.statistics.tagWorkTime
        script.field.arm(.tear(duringWrite: 1, leaving: isOld ? .old : .new))
        #expect(await script.send("02 " + request.replacing("PASSWORD", with: password)) == "timeout")
        #expect((tag.contents == before) == isOld)
        // Each of them programs one block.
        let time = script.link.statistics.tagWorkTime - start
        #expect(time >= .milliseconds(5) && time < .milliseconds(6))
    }

    @Test func `A write that is refused does not count, and none does while the counter is off`() async throws {
        let (script, _) = try make {
            $0.settings.registers[0] = 0x01
            $0.settings.registers[3] = 0x01
        }
        #expect(await script.send("02 21 05 01 02 03 04") == "01 12")
        #expect(await script.send("02 a0 02 04") == "00 00 00")
        #expect(await script.send("02 21 00 01 02 03 04") == "00")
        #expect(await script.send("02 a0 02 04") == "00 01 00")
        let (off, _) = try make()
        #expect(await off.send("02 21 05 01 02 03 04") == "00")
        #expect(await off.send("02 a0 02 04") == "00 00 00")
    }

    @Test func `There are four passwords, and that for KILL is changed in its own session`() async throws {
        let (script, tag) = try make()
        #expect(await present("04", "01 01 01 01", script) == "01 10")
        #expect(await script.send("02 b1 02 04 09 09 09 09") == "01 10")
        #expect(await script.send("02 b1 02 00 09 09 09 09") == "01 12")
        #expect(await present("00", "01 01 01 01", script) == "00")
        #expect(await script.send("02 b1 02 00 09 09 09 09") == "00")
        #expect(tag.contents.settings.passwords == [[9, 9, 9, 9], [2, 2, 2, 2], [3, 3, 3, 3], [4, 4, 4, 4]])
    }

    @Test func `A new tag has no identifier of surveillance`() async throws {
        let (script, _) = try make()
        #expect(await script.send("02 a2 02") == "00")
        #expect(await script.send("42 a5 02") == "00 00 00")
    }

    @Test(arguments: [("c2", "c1"), ("c2", "d1"), ("d2", "c1")])
    func `INITIATE opens the inventory of initiated tags until the power goes, fast or not`(
        initiate: String,
        inventory: String
    ) async throws {
        let (script, tag) = try make()
        let uid = hexText(tag.identifier.reversed())
        #expect(await script.send("02 \(initiate) 02 00") == "01 02")
        #expect(await script.send("26 \(inventory) 02 00") == "timeout")
        #expect(await script.send("02 \(initiate) 02") == "00 00 \(uid)")
        #expect(await script.send("26 \(inventory) 02 00") == "00 00 \(uid)")
        #expect(await script.send("26 \(inventory) 04 00") == "timeout")
        tag.losePower()
        #expect(await script.send("26 \(inventory) 02 00") == "timeout")
    }

    @Test(arguments: ["d3", "d4"]) func `INVENTORY READ gives blocks, and the UID with the option flag`(
        command: String
    ) async throws {
        let (script, tag) = try make()
        let uid = hexText(tag.identifier.reversed())
        #expect(await script.send("26 \(command) 02 00 00 01") == "00 e1 40 1f 01 03 00 fe 00")
        #expect(await script.send("66 \(command) 02 00 00 00") == "00 \(uid) e1 40 1f 01")
        // There are no further options, as ICODE SLIX2 has them.
        #expect(await script.send("26 \(command) 02 80 12") == "timeout")
        #expect(await script.send("26 \(command) 02 00 40 00") == "timeout")
    }

    @Test func `The counter stays at FFFF`() async throws {
        let (script, tag) = try make {
            $0.settings.registers[3] = 0x01
            $0.counter = 0xFFFE
        }
        for _ in 0..<2 {
            #expect(await script.send("02 21 05 01 02 03 04") == "00")
            #expect(await script.send("02 a0 02 04") == "00 ff ff")
            tag.losePower()
        }
    }
}
