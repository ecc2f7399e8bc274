// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Protection of ICODE` {
    /// A field with one tag, and its UID in the order of the air interface.
    private struct Bench {
        let tag: VirtualType5Tag
        let script: LinkScript
        let uid: String

        init(_ product: Type5Product = .icodeSLIX2, change: (inout Type5Contents) -> Void = { _ in }) throws {
            var contents = Type5Contents(blank: product)
            contents.passwords[0x01] = 0x0403_0201
            contents.passwords[0x02] = 0x0807_0605
            contents.passwords[0x10] = 0x1413_1211
            if product == .icodeSLIX { contents.passwords = [0x10: 0x1413_1211] }
            change(&contents)
            tag = VirtualType5Tag(contents)
            script = try LinkScript(.nfcV, tag)
            uid = hexText(contents.uid.reversed())
        }

        /// Sends a command of NXP's to the tag by its UID.
        func send(_ command: String, _ parameters: String = "", flags: String = "22") async -> String {
            await script.send("\(flags) \(command) 04 \(uid) \(parameters)")
        }

        /// A password as it goes over the air: combined with a random number that is fetched first.
        func covered(_ password: String) async -> String {
            let random = hex(await script.send("02 b2 04")).dropFirst()
            return hexText(zip(hex(password), Array(random) + Array(random)).map { $0 ^ $1 })
        }

        func give(_ identifier: String, _ password: String) async -> String {
            await send("b3", "\(identifier) \(await covered(password))")
        }
    }

    @Test func `A password is given, changed, given again and locked, only with the address`() async throws {
        let bench = try Bench()
        #expect(await bench.script.send("02 b3 04 01 \(await bench.covered("01 02 03 04"))") == "01 0f")
        #expect(await bench.send("b5", "01") == "01 0f")
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.send("b4", "01 aa bb cc dd") == "00")
        #expect(await bench.send("b4", "01 00 00 00 00") == "01 0f")
        #expect(await bench.give("01", "aa bb cc dd") == "00")
        #expect(await bench.script.send("02 b5 04 01") == "01 0f")
        #expect(await bench.send("b5", "01") == "00")
        #expect(await bench.send("b5", "01") == "01 11")
        #expect(await bench.send("b4", "01 00 00 00 00") == "01 12")
        #expect(bench.tag.contents.passwords[0x01] == 0xDDCC_BBAA)
        bench.tag.losePower()
        #expect(await bench.send("b5", "01") == "01 0f")
    }

    @Test func `After a wrong password the tag is silent until it loses its power, and gives no access then`()
        async throws
    {
        let bench = try Bench()
        #expect(await bench.give("01", "01 02 03 05") == "timeout")
        #expect(await bench.script.send("26 01 00") == "timeout")
        #expect(await bench.send("b5", "01") == "timeout")
        bench.tag.losePower()
        #expect(await bench.script.send("26 01 00") == "00 00 \(bench.uid)")
        #expect(await bench.send("b5", "01") == "01 0f")
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.send("b5", "01") == "00")
    }

    @Test func `Pages are guarded by the read and the write password, each on its side of the pointer`() async throws {
        let bench = try Bench()
        #expect(await bench.send("b6", "28 21") == "01 0f")
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.send("b6", "28 21") == "01 0f")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.send("b6", "4f 21") == "01 10")
        // Read password for the lower page, write password for writing to the higher one.
        #expect(await bench.send("b6", "28 21") == "00")
        #expect(await bench.send("ab") == "00 28 21 00 7f 35 00 00")
        #expect(await bench.script.send("02 20 27") == "00 00 00 00 00")

        bench.tag.losePower()
        #expect(await bench.script.send("02 20 27") == "01 0f")
        #expect(await bench.script.send("02 20 28") == "00 00 00 00 00")
        #expect(await bench.script.send("02 23 26 02") == "01 0f")
        #expect(await bench.script.send("02 21 27 01 02 03 04") == "01 0f")
        #expect(await bench.script.send("02 21 28 01 02 03 04") == "01 0f")
        #expect(await bench.script.send("02 22 28") == "01 0f")
        #expect(await bench.script.send("02 20 4f") == "00 00 00 00 00")
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.script.send("02 21 27 01 02 03 04") == "00")
        #expect(await bench.script.send("02 21 28 01 02 03 04") == "01 0f")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.script.send("02 21 28 01 02 03 04") == "00")
        #expect(await bench.send("b7", "27") == "01 0f")
        #expect(await bench.send("b7", "28") == "00")
        #expect(await bench.send("b7", "28") == "01 11")
        #expect(await bench.send("b6", "00 00") == "01 12")
        #expect(await bench.send("ab") == "00 28 21 08 7f 35 00 00")
    }

    @Test func `Of the conditions of pages only those that there are stay`() async throws {
        let bench = try Bench()
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.send("b6", "28 ff") == "00")
        #expect(await bench.send("ab") == "00 28 33 00 7f 35 00 00")
    }

    @Test func `Passwords that are joined are needed together`() async throws {
        let bench = try Bench { $0.protection.condition = [.readHigh] }
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.script.send("02 20 00") == "00 e1 40 27 01")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.send("bb") == "00")
        bench.tag.losePower()
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.script.send("02 20 00") == "01 0f")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.script.send("02 20 00") == "00 e1 40 27 01")
    }

    @Test func `A private tag hears its password alone, with or without power in between`() async throws {
        let bench = try Bench()
        #expect(await bench.send("ba", await bench.covered("0f 0f 0f 0f")) == "00")
        bench.tag.losePower()
        for request in ["26 01 00", "02 20 00", "22 2b \(bench.uid)", "02 bd 04", "02 b3 04 01 00 00 00 00"] {
            #expect(await bench.script.send(request) == "timeout", "\(request)")
        }
        #expect(await bench.script.send("02 b3 04 04 \(await bench.covered("0f 0f 0f 0f"))") == "00")
        #expect(await bench.script.send("26 01 00") == "00 00 \(bench.uid)")
        bench.tag.losePower()
        #expect(await bench.script.send("26 01 00") == "00 00 \(bench.uid)")
        #expect(await bench.send("ba", await bench.covered("0f 0f 0f 0e")) == "timeout")
        #expect(await bench.script.send("26 01 00") == "timeout")
    }

    @Test func `A destroyed tag never answers again`() async throws {
        let bench = try Bench()
        // Without the address the password is not looked at, so the tag goes on answering.
        #expect(await bench.script.send("02 b9 04 \(await bench.covered("00 00 00 00"))") == "01 0f")
        #expect(await bench.script.send("26 01 00") == "00 00 \(bench.uid)")
        #expect(await bench.send("b9", await bench.covered("00 00 00 00")) == "timeout")
        bench.tag.losePower()
        #expect(await bench.script.send("26 01 00") == "00 00 \(bench.uid)")
        #expect(await bench.send("b9", await bench.covered("0f 0f 0f 0f")) == "00")
        bench.tag.losePower()
        #expect(await bench.script.send("26 01 00") == "timeout")
        #expect(await bench.script.send("02 b2 04") == "timeout")
        #expect(bench.tag.contents.protection.isDestroyed)
    }

    @Test func `A tag that is quiet for good stays so without power, until it is reset`() async throws {
        let bench = try Bench()
        #expect(await bench.script.send("02 bc 04") == "timeout")
        #expect(await bench.script.send("26 01 00") == "00 00 \(bench.uid)")
        #expect(await bench.send("bc") == "timeout")
        #expect(await bench.script.send("26 01 00") == "timeout")
        bench.tag.losePower()
        #expect(await bench.script.send("26 01 00") == "timeout")
        #expect(await bench.script.send("22 20 \(bench.uid) 00") == "00 e1 40 27 01")
        #expect(await bench.script.send("22 26 \(bench.uid)") == "00")
        bench.tag.losePower()
        #expect(await bench.script.send("26 01 00") == "00 00 \(bench.uid)")
    }

    @Test func `Counting and presetting the counter take their passwords`() async throws {
        let bench = try Bench()
        #expect(await bench.script.send("02 21 4f ff ff 00 00") == "01 0f")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.script.send("02 21 4f fe ff 00 01") == "00")
        #expect(await bench.script.send("02 20 4f") == "00 fe ff 00 01")
        #expect(await bench.script.send("02 21 4f 01 00 00 00") == "01 0f")
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.script.send("02 21 4f 01 00 00 00") == "00")
        #expect(await bench.script.send("02 21 4f 01 00 00 00") == "01 0f")
        #expect(await bench.script.send("02 20 4f") == "00 ff ff 00 01")
    }

    @Test func `An emulated tag may take every password for the right one`() async throws {
        let bench = try Bench { $0.protection.acceptsEveryPassword = true }
        #expect(await bench.give("02", "99 99 99 99") == "00")
        #expect(await bench.send("b4", "02 aa bb cc dd") == "00")
        #expect(bench.tag.contents.passwords[0x02] == 0xDDCC_BBAA)
    }

    @Test(arguments: [Type5Product.icodeSLIX, .icodeSLIX2])
    func `Surveillance is set, reset, protected and locked`(_ product: Type5Product) async throws {
        let bench = try Bench(product)
        let alarm = await bench.script.send("02 a5 04")
        let sequence =
            "2f b3 62 70 d5 a7 90 7f e8 b1 80 38 d2 81 49 76 82 da 9a 86 6f af 8b b0 f1 9c d1 12 a5 72 37 ef"
        #expect(alarm == "00 " + sequence)
        #expect(await bench.script.send("02 a3 04") == "00")
        #expect(await bench.script.send("02 a5 04") == "timeout")
        #expect(await bench.give("10", "11 12 13 14") == "00")
        #expect(await bench.script.send("02 a6 04") == "00")
        // With the option flag it is the family that is protected, and the answer does not wait.
        #expect(await bench.script.send("42 a6 04") == "00")
        bench.tag.losePower()
        for request in ["02 a2 04", "02 a4 04", "02 27 55", "02 28"] {
            #expect(await bench.script.send(request) == "01 0f", "\(request)")
        }
        #expect(await bench.script.send("02 29 55") == "00")
        #expect(await bench.give("10", "11 12 13 14") == "00")
        #expect(await bench.script.send("02 27 55") == "00")
        #expect(await bench.script.send("02 a2 04") == "00")
        #expect(await bench.script.send("02 a4 04") == "00")
        #expect(await bench.script.send("02 a3 04") == "01 12")
        #expect(await bench.script.send("02 a5 04") == alarm)
    }

    @Test func `SLIX2 answers selective surveillance by its identifier`() async throws {
        let bench = try Bench()
        #expect(await bench.script.send("42 a5 04 00") == "00 00 00")
        #expect(await bench.script.send("02 a7 04 34 12") == "00")
        #expect(await bench.script.send("42 a5 04 00") == "00 34 12")
        #expect(await bench.script.send("42 a5 04 08 34").hasPrefix("00 2f"))
        #expect(await bench.script.send("42 a5 04 10 34 12").hasPrefix("00 2f"))
        for request in ["42 a5 04 10 35 12", "42 a5 04", "42 a5 04 04 34", "02 a5 04 00"] {
            #expect(await bench.script.send(request) == "timeout", "\(request)")
        }
        // The password of surveillance is also for its identifier.
        #expect(await bench.give("10", "11 12 13 14") == "00")
        #expect(await bench.script.send("02 a6 04") == "00")
        bench.tag.losePower()
        #expect(await bench.script.send("02 a7 04 35 12") == "01 0f")
        #expect(await bench.script.send("42 a5 04 00") == "00 34 12")
    }

    @Test(arguments: [Type5Product.icodeSLIX, .icodeSLIX2])
    func `INVENTORY READ gives blocks, and the rest of the UID`(_ product: Type5Product) async throws {
        let bench = try Bench(product)
        let uid = hex(bench.uid)
        let blocks = hexText(bench.tag.contents.memory.prefix(8))
        #expect(await bench.script.send("26 a0 04 00 00 01") == "00 \(blocks)")
        #expect(await bench.script.send("26 a1 04 08 44 00 01") == "00 \(blocks)")
        #expect(await bench.script.send("66 a0 04 08 44 00 01") == "00 \(hexText(uid.dropFirst())) \(blocks)")
        // A mask of 12 bits: the byte that is known in part is there as a whole.
        #expect(await bench.script.send("66 a0 04 0c 44 03 00 01") == "00 \(hexText(uid.dropFirst())) \(blocks)")
        #expect(await bench.script.send("36 a0 04 55 00 00 01") == "timeout")
        #expect(await bench.script.send("26 a0 02 00 00 01") == "timeout")
        #expect(await bench.script.send("26 a0 04 00 00 f0") == "timeout")
        #expect(await bench.script.send("26 a0 04 00 00") == "timeout")
        // Sixteen slots: the first byte 44 names the fourth, and with the slot's bits a mask of four is a byte.
        #expect(await bench.script.send("46 a0 04 04 04 00 00") == "timeout")
        for _ in 1..<4 { #expect(await bench.script.sendEnd() == "timeout") }
        #expect(await bench.script.sendEnd() == "00 \(hexText(uid.dropFirst())) \(hexText(hex(blocks).prefix(4)))")
    }

    @Test func `The extended INVENTORY READ of SLIX2 chooses tags and what they tell`() async throws {
        let bench = try Bench { $0.isSurveillanceSet = false }
        let blocks = hexText(bench.tag.contents.memory.prefix(4))
        #expect(await bench.script.send("26 a0 04 88 12 44") == "00 \(bench.uid)")
        #expect(await bench.script.send("26 a0 04 88 02 44 00 00") == "00 \(bench.uid) \(blocks)")
        #expect(await bench.script.send("26 a0 04 80 11") == "timeout")
        // Without the option of the whole UID, and with block numbers where no blocks are wanted.
        #expect(await bench.script.send("26 a0 04 88 10 44") == "00 \(hexText(hex(bench.uid).dropFirst()))")
        #expect(await bench.script.send("26 a0 04 80 12 00 00") == "timeout")
        #expect(await bench.script.send("26 a0 04 80 32") == "00 \(bench.uid)")
        #expect(await bench.script.send("26 01 00") == "timeout")
        bench.tag.losePower()
        #expect(await bench.script.send("26 a0 04 80 72") == "00 \(bench.uid)")
        bench.tag.losePower()
        #expect(await bench.script.send("26 01 00") == "timeout")
        let armed = try Bench()
        #expect(await armed.script.send("26 a0 04 80 11") == "00 \(armed.uid)")
    }

    @Test func `A page with both passwords is written with the one for writing alone`() async throws {
        let bench = try Bench {
            $0.protection.pointer = 0x28
            $0.protection.condition = [.readHigh, .writeHigh]
        }
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.script.send("02 21 28 01 02 03 04") == "00")
        #expect(await bench.script.send("02 20 28") == "01 0f")
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.script.send("02 20 28") == "00 01 02 03 04")
    }

    @Test func `Protected blocks are not in an INVENTORY READ`() async throws {
        let bench = try Bench {
            $0.protection.pointer = 4
            $0.protection.condition = [.readHigh]
        }
        #expect(await bench.script.send("26 a0 04 00 03 00") == "00 00 00 00 00")
        #expect(await bench.script.send("26 a0 04 00 03 01") == "timeout")
        // The counter is a block of its own, which they do not guard.
        #expect(await bench.script.send("02 20 4e") == "01 0f")
        #expect(await bench.script.send("02 20 4f") == "00 00 00 00 00")
    }

    @Test func `The identifier of surveillance is locked with it`() async throws {
        let bench = try Bench()
        #expect(await bench.script.send("02 a7 04 34 12") == "00")
        #expect(await bench.script.send("02 a4 04") == "00")
        #expect(await bench.script.send("02 a7 04 35 12") == "01 12")
        #expect(await bench.script.send("42 a5 04 00") == "00 34 12")
    }

    @Test(arguments: [Type5Product.icodeSLIX, .icodeSLIX2])
    func `Protecting the surveillance leaves the family free, and the other way round`(_ product: Type5Product)
        async throws
    {
        for (flags, answers) in [("02", ["01 0f", "00"]), ("42", ["00", "01 0f"])] {
            let bench = try Bench(product)
            #expect(await bench.give("10", "11 12 13 14") == "00")
            #expect(await bench.script.send("\(flags) a6 04") == "00")
            bench.tag.losePower()
            #expect(await bench.script.send("02 a2 04") == answers[0], "\(flags)")
            #expect(await bench.script.send("02 27 55") == answers[1], "\(flags)")
        }
    }

    @Test func `NXP's system information shows each lock`() async throws {
        let bench = try Bench()
        for (lock, shown) in [("02 28", "01"), ("02 a4 04", "03"), ("02 2a", "07")] {
            #expect(await bench.script.send(lock) == "00")
            #expect(await bench.send("ab") == "00 00 00 \(shown) 7f 35 00 00")
        }
    }

    @Test func `SLIX has no selective surveillance, and gives its alarm with the option flag too`() async throws {
        let bench = try Bench(.icodeSLIX)
        let alarm = await bench.script.send("02 a5 04")
        #expect(alarm.hasPrefix("00 2f b3 62 70"))
        #expect(await bench.script.send("42 a5 04") == alarm)
        #expect(await bench.script.send("42 a5 04 00") == "timeout")
    }

    @Test(
        arguments: [
            "22 21 UID 05 01 02 03 04", "22 21 UID 4f 01 00 00 00", "22 21 UID 4f 05 00 00 01", "22 22 UID 05",
            "22 27 UID 55", "22 28 UID", "22 29 UID 55", "22 2a UID", "22 a3 04 UID", "22 a4 04 UID", "22 a6 04 UID",
            "62 a6 04 UID", "22 a7 04 UID 34 12", "22 b4 04 UID 01 aa bb cc dd", "22 b5 04 UID 01",
            "22 b6 04 UID 28 21", "22 b7 04 UID 00", "22 b9 04 UID PASSWORD", "22 ba 04 UID PASSWORD", "22 bb 04 UID",
        ],
        [true, false]
    ) func `A power cut leaves the old state or the new one`(request: String, isOld: Bool) async throws {
        let bench = try Bench()
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        #expect(await bench.give("10", "11 12 13 14") == "00")
        let password = await bench.covered("0f 0f 0f 0f")
        let before = bench.tag.contents
        let start = bench.script.link.statistics.tagWorkTime
        bench.script.field.arm(.tear(duringWrite: 1, leaving: isOld ? .old : .new))
        let command = request.replacing("UID", with: bench.uid).replacing("PASSWORD", with: password)
        #expect(await bench.script.send(command) == "timeout")
        #expect((bench.tag.contents == before) == isOld)
        // Each of them programs one block.
        let time = bench.script.link.statistics.tagWorkTime - start
        #expect(time >= .milliseconds(4) && time < .milliseconds(5))
    }

    @Test func `The protection of pages is changed by address or of the selected tag`() async throws {
        let bench = try Bench()
        #expect(await bench.give("01", "01 02 03 04") == "00")
        #expect(await bench.give("02", "05 06 07 08") == "00")
        for request in ["02 b6 04 28 21", "02 b7 04 00", "02 bb 04"] {
            #expect(await bench.script.send(request) == "01 0f", "\(request)")
        }
        #expect(await bench.script.send("22 25 \(bench.uid)") == "00")
        #expect(await bench.script.send("12 b6 04 28 21") == "00")
    }

    @Test func `The random number is forgotten without power`() async throws {
        let bench = try Bench()
        // Nothing covers a password before a number was fetched.
        #expect(await bench.script.send("02 b3 04 04 0f 0f 0f 0f") == "00")
        let first = await bench.script.send("02 b2 04")
        #expect(await bench.script.send("02 b2 04") != first)
        let password = await bench.covered("0f 0f 0f 0f")
        bench.tag.losePower()
        #expect(await bench.script.send("02 b3 04 04 \(password)") == "timeout")
    }

    @Test func `The block of the counter is there only where there is a counter`() {
        var slix2 = Type5Contents(blank: .icodeSLIX2)
        slix2.counter = 0x1234
        slix2.protection.isCounterProtected = true
        #expect(slix2.counterBlock == [0x34, 0x12, 0x00, 0x01])
        slix2.readCounterBlock([1, 2, 3])
        #expect(slix2.counter == 0x1234 && slix2.protection.isCounterProtected)
        slix2.readCounterBlock([1, 2, 3, 4, 0x78, 0x56, 0x00, 0xFE])
        #expect(slix2.counter == 0x5678 && !slix2.protection.isCounterProtected)
        var slix = Type5Contents(blank: .icodeSLIX)
        slix.counter = 0x1234
        #expect(slix.counterBlock.isEmpty)
        slix.readCounterBlock([0x78, 0x56, 0x00, 0x01])
        #expect(slix.counter == 0x1234 && !slix.protection.isCounterProtected)
    }
}
