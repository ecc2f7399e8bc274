// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Type 5 tags` {
    private let uid = "44 33 22 11 10 01 04 e0"

    @Test func `Every product's UID is of the product's form`() {
        for product in Type5Product.all {
            let uid = VirtualType5Tag(product).identifier
            #expect(uid.count == 8)
            #expect(uid.starts(with: product.uidPrefix), "\(product)")
        }
        #expect(Type5Contents.defaultUID(.icodeSLIX)[3] & 0x18 == 0x10)
        #expect(Type5Contents.defaultUID(.icodeSLIX2)[3] & 0x18 == 0x08)
    }

    @Test(arguments: [
        (Type5Product.icodeSLIX, "e1 40 0d 01"), (.icodeSLIX2, "e1 40 27 01"), (.st25tv512, "e1 40 07 01"),
        (.st25tv02K, "e1 40 1f 01"), (.st25dv04K, "e1 40 3f 01"),
    ])
    func `The capability container covers the memory`(product: Type5Product, container: String) async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(product))
        #expect(await script.send("02 20 00") == "00 \(container)")
        #expect(await script.send("02 20 01") == "00 03 00 fe 00")
    }

    @Test func `Large products have a container of eight bytes`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.st25dv64K))
        #expect(await script.send("02 23 00 01") == "00 e2 40 00 01 00 00 03 ff")
        #expect(await script.send("02 30 ff 07") == "00 00 00 00 00")
        #expect(await script.send("02 30 00 08") == "01 10")
        #expect(await script.send("02 20 ff") == "00 00 00 00 00")
    }

    @Test func `Requests are for all tags, for the addressed one, or for the selected one`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("22 20 \(uid) 00") == "00 e1 40 0d 01")
        #expect(await script.send("22 20 45 33 22 11 10 01 04 e0 00") == "timeout")
        #expect(await script.send("12 20 00") == "timeout")
        #expect(await script.send("22 25 \(uid)") == "00")
        #expect(await script.send("12 20 00") == "00 e1 40 0d 01")
        #expect(await script.send("32 20 \(uid) 00") == "timeout")
        #expect(await script.send("22 25 45 33 22 11 10 01 04 e0") == "timeout")
        #expect(await script.send("12 20 00") == "timeout")
        #expect(await script.send("02 25") == "timeout")
    }

    @Test func `A quiet tag answers addressed requests alone, until it is reset`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("22 02 \(uid)") == "timeout")
        #expect(await script.send("02 20 00") == "timeout")
        #expect(await script.send("26 01 00") == "timeout")
        #expect(await script.send("22 20 \(uid) 00") == "00 e1 40 0d 01")
        #expect(await script.send("22 26 \(uid)") == "00")
        #expect(await script.send("26 01 00") == "00 00 \(uid)")
    }

    @Test func `Inventory keeps to the mask and the family`() async throws {
        let tag = VirtualType5Tag(.icodeSLIX)
        let script = try LinkScript(.nfcV, tag)
        #expect(await script.send("26 01 08 44") == "00 00 \(uid)")
        #expect(await script.send("26 01 08 45") == "timeout")
        #expect(await script.send("26 01 04 04") == "00 00 \(uid)")
        #expect(await script.send("26 01 40 \(uid)") == "00 00 \(uid)")
        #expect(await script.send("26 01 41 \(uid) 00") == "timeout")
        #expect(await script.send("26 01 08") == "timeout")
        #expect(await script.send("36 01 21 00") == "timeout")
        #expect(await script.send("22 27 \(uid) 21") == "00")
        for (family, isMeant) in [("21", true), ("20", true), ("01", true), ("00", true), ("22", false), ("10", false)]
        {
            #expect(await script.send("36 01 \(family) 00").hasPrefix("00 00") == isMeant, "\(family)")
        }
    }

    @Test func `In sixteen slots each tag answers in its own`() async throws {
        let other = "51 33 22 11 10 01 04 e0"
        let script = try LinkScript(
            .nfcV,
            VirtualType5Tag(.icodeSLIX),
            VirtualType5Tag(.icodeSLIX, uid: Array(hex(other).reversed()))
        )
        #expect(await script.send("26 01 00") == "collision")
        var answers = [await script.send("06 01 00")]
        for _ in 1..<16 { answers.append(await script.sendEnd()) }
        #expect(answers[4] == "00 00 \(uid)")
        #expect(answers[1] == "00 00 \(other)")
        #expect(answers.filter { $0 == "timeout" }.count == 14)
        #expect(await script.sendEnd() == "timeout")
        // With a mask of four bits the next four say the slot; another request ends the inventory.
        #expect(await script.send("06 01 04 04") == "timeout")
        for _ in 1..<4 { #expect(await script.sendEnd() == "timeout") }
        #expect(await script.sendEnd() == "00 00 \(uid)")
        #expect(await script.send("06 01 04 04") == "timeout")
        _ = await script.send("22 20 \(uid) 00")
        #expect(await script.sendEnd() == "timeout")
    }

    @Test func `A tag of the first slot answers the request itself`() async throws {
        let first = "50 33 22 11 10 01 04 e0"
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX, uid: Array(hex(first).reversed())))
        #expect(await script.send("06 01 00") == "00 00 \(first)")
        #expect(await script.sendEnd() == "timeout")
        #expect(await script.send("06 01 04 00") == "timeout")
        for slot in 1...5 { #expect(await script.sendEnd() == (slot == 5 ? "00 00 \(first)" : "timeout")) }
    }

    @Test func `The option flag adds security to reads, and holds writes back until the end of a frame`() async throws {
        let tag = VirtualType5Tag(.icodeSLIX)
        let script = try LinkScript(.nfcV, tag)
        #expect(await script.send("02 22 02") == "00")
        #expect(await script.send("42 20 02") == "00 01 00 00 00 00")
        #expect(await script.send("42 23 01 01") == "00 00 03 00 fe 00 01 00 00 00 00")
        #expect(await script.send("42 21 03 01 02 03 04") == "timeout")
        #expect(Array(tag.contents.memory[12..<16]) == [1, 2, 3, 4])
        #expect(await script.sendEnd() == "00")
        #expect(await script.sendEnd() == "timeout")
        #expect(await script.send("42 21 02 01 02 03 04") == "01 12")
    }

    @Test func `What is held back is forgotten with the next command, whomever that is for`() async throws {
        let (one, other) = (VirtualType5Tag(.icodeSLIX), VirtualType5Tag(.icodeSLIX2))
        let script = try LinkScript(.nfcV, one, other)
        let second = hexText(other.identifier.reversed())
        #expect(await script.send("62 21 \(uid) 03 01 02 03 04") == "timeout")
        #expect(await script.send("22 20 \(second) 02") == "00 00 00 00 00")
        #expect(await script.sendEnd() == "timeout")
        // Of two that hold an answer back, the one that was asked last gives its answer.
        #expect(await script.send("62 21 \(uid) 1b 01 02 03 04") == "timeout")
        #expect(await script.send("62 21 \(second) 02 05 06 07 08") == "timeout")
        #expect(await script.sendEnd() == "00")
        #expect(await script.sendEnd() == "timeout")
    }

    @Test(arguments: [
        ("20 1c", "10"), ("20", "02"), ("20 00 00", "02"), ("21 1c 00 00 00 00", "10"), ("21 00 00 00 00", "02"),
        ("23 00 1c", "10"), ("24 00 00 00 00 00 00", "01"), ("30 00 00", "01"), ("2c 1b 01", "10"), ("22 1c", "10"),
        ("27", "02"), ("2b 00", "02"), ("3b 00", "01"), ("7f", "01"), ("a7 04 00 00", "01"),
        ("ab 04", "01"), ("bd 04", "01"), ("b6 04 00 00", "01"), ("b9 04 00 00 00 00", "01"),
        ("ba 04 00 00 00 00", "01"),
        ("a6 04", "0f"), ("b5 04 10", "0f"), ("b4 04 10 00 00 00 00", "0f"), ("b2 04 00", "02"), ("b3 04 10", "02"),
    ])
    func `Refusals of ICODE SLIX`(command: String, error: String) async throws {
        let tag = VirtualType5Tag(.icodeSLIX)
        let script = try LinkScript(.nfcV, tag)
        let before = tag.contents
        #expect(await script.send("02 \(command)") == "01 \(error)")
        #expect(tag.contents == before)
    }

    @Test(arguments: [("9f", "01 01"), ("a0", "timeout"), ("df", "timeout"), ("e0", "01 01")])
    func `Commands A0 to DF are for the tags of a manufacturer, and others have no such code`(
        command: String,
        answer: String
    ) async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("02 \(command) 02") == answer)
    }

    @Test func `Locks of blocks and identifiers are for good`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("02 22 05") == "00")
        #expect(await script.send("02 22 05") == "01 11")
        #expect(await script.send("02 21 05 00 00 00 00") == "01 12")
        #expect(await script.send("02 2c 04 02") == "00 00 01 00")
        #expect(await script.send("02 29 ab") == "00")
        #expect(await script.send("02 2a") == "00")
        #expect(await script.send("02 2a") == "01 11")
        #expect(await script.send("02 29 00") == "01 12")
        #expect(await script.send("02 28") == "00")
        #expect(await script.send("02 27 00") == "01 12")
        #expect(await script.send("02 2b") == "00 0f \(uid) ab 00 1b 03 01")
    }

    @Test func `SLIX2 has a counter, a signature, and system information of its own`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX2))
        #expect(await script.send("02 20 4f") == "00 00 00 00 00")
        #expect(await script.send("02 21 4f 01 00 00 00") == "00")
        #expect(await script.send("02 21 4f 01 00 00 00") == "00")
        #expect(await script.send("02 20 4f") == "00 02 00 00 00")
        #expect(await script.send("02 21 4f 05 01 00 00") == "01 0f")
        #expect(await script.send("02 20 4f") == "00 02 00 00 00")
        #expect(await script.send("02 22 4f") == "01 10")
        #expect(await script.send("02 ab 04") == "00 00 00 00 7f 35 00 00")
        #expect(await script.send("02 bd 04") == "00" + String(repeating: " 00", count: 32))
        #expect(await script.send("02 ab 02") == "timeout")
    }

    @Test func `A password is given under a random number, and a wrong one mutes the tag`() async throws {
        let tag = VirtualType5Tag(.icodeSLIX2)
        let script = try LinkScript(.nfcV, tag)
        #expect(await script.send("02 b4 04 04 11 22 33 44") == "01 0f")
        let random = hex(await script.send("02 b2 04"))
        let mask = Array(random[1...2])
        let masked = zip([0x0F, 0x0F, 0x0F, 0x0F], mask + mask).map { UInt8($0) ^ $1 }
        #expect(await script.send("02 b3 04 04 \(hexText(masked))") == "00")
        let slix2 = "44 33 22 11 08 01 04 e0"
        #expect(await script.send("02 b4 04 04 11 22 33 44") == "01 0f")
        #expect(await script.send("22 b4 04 \(slix2) 04 11 22 33 44") == "00")
        #expect(tag.contents.passwords[0x04] == 0x4433_2211)
        #expect(await script.send("02 b3 04 20 00 00 00 00") == "01 0f")
        #expect(await script.send("02 b3 04 04 00 00 00 00") == "timeout")
        #expect(await script.send("26 01 00") == "timeout")
        tag.losePower()
        #expect(await script.send("26 01 00").hasPrefix("00 00"))
    }

    @Test func `ST25DV writes four blocks at once, locks its container alone, and reports its configuration`()
        async throws
    {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.st25dv04K))
        #expect(await script.send("02 24 10 01 01 02 03 04 05 06 07 08") == "00")
        #expect(await script.send("02 33 10 00 01 00") == "00 01 02 03 04 05 06 07 08")
        #expect(await script.send("02 24 10 04" + String(repeating: " 00", count: 20)) == "01 0f")
        #expect(await script.send("02 34 7f 00 01 00" + String(repeating: " 00", count: 8)) == "01 10")
        #expect(await script.send("02 22 02") == "01 10")
        #expect(await script.send("02 a0 02 0c") == "00 00")
        #expect(await script.send("02 22 00") == "00")
        #expect(await script.send("02 a0 02 0c") == "00 01")
        #expect(await script.send("02 a0 02 05") == "00 0f")
        #expect(await script.send("02 a0 02 10") == "01 10")
        #expect(await script.send("02 a1 02 00 00") == "01 12")
        #expect(await script.send("02 3c 00 00 01 00") == "00 01 00")
    }

    @Test func `System information of small and of large products`() async throws {
        let small = try LinkScript(.nfcV, VirtualType5Tag(.st25dv04K))
        #expect(await small.send("02 2b") == "00 0f 44 33 22 11 00 24 02 e0 00 00 7f 03 24")
        #expect(await small.send("02 3b 0f") == "00 0f 44 33 22 11 00 24 02 e0 00 00 7f 00 03 24")
        let large = try LinkScript(.nfcV, VirtualType5Tag(.st25dv64K))
        #expect(await large.send("02 2b") == "00 0b 44 33 22 11 00 26 02 e0 00 00 26")
        #expect(await large.send("02 3b 14") == "00 14 44 33 22 11 00 26 02 e0 ff 07 03")
    }

    @Test func `A generic tag keeps to its limit of blocks and its block size`() async throws {
        let product = Type5Product.generic(blockCount: 64, blockSize: 8, readLimit: 32)
        let script = try LinkScript(.nfcV, VirtualType5Tag(product))
        #expect(await script.send("02 20 00") == "00 e1 40 3f 01 03 00 fe 00")
        #expect(hex(await script.send("02 23 00 1f")).count == 1 + 256)
        #expect(await script.send("02 23 00 20") == "01 0f")
        #expect(await script.send("02 21 01 01 02 03 04") == "01 02")
    }

    @Test(arguments: [16, 256, 257, 2048]) func `A generic tag with more than 256 blocks has the extended commands`(
        count: Int
    ) async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(Type5Product.generic(blockCount: count)))
        let first = await script.send("02 20 00")
        #expect(first.hasPrefix("00 ") && hex(first).count == 5)
        #expect((await script.send("02 30 00 00") == first) == (count > 256))
    }

    @Test func `Damaged frames, later protocols and foreign commands are not answered`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.sendRaw("02 20 00 00 00") == "timeout")
        for request in ["0a 20 00", "02", "02 b2 02", "26 20 00", "22 20 01"] {
            #expect(await script.send(request) == "timeout", "\(request)")
        }
    }

    @Test func `Faults refuse with their code, and tear blocks`() async throws {
        let tag = VirtualType5Tag(.icodeSLIX)
        let script = try LinkScript(.nfcV, tag)
        script.field.arm(
            FaultPlan([
                Fault(.refusal(0x13), at: .write(1)), Fault(.powerCut(.old), at: .write(2)),
                Fault(.refusal(0x0F), at: .exchange(0)),
            ])
        )
        #expect(await script.send("02 20 00") == "01 0f")
        #expect(await script.send("02 21 04 ff ff ff ff") == "01 13")
        #expect(await script.send("02 21 04 ff ff ff ff") == "timeout")
        #expect(Array(tag.contents.memory[16..<20]) == [0, 0, 0, 0])
    }

    @Test func `A write takes its programming time in steps of 4096 carrier periods`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.st25tv02K))
        _ = await script.send("02 21 04 ff ff ff ff")
        let time = script.link.statistics.tagWorkTime
        #expect(time >= .milliseconds(5))
        #expect(time.carrierPeriods % 4096 == 0)
        #expect(time < .milliseconds(6))
    }

    @Test func `Up to four blocks are written at once, and each takes its time`() async throws {
        for count in 1...4 {
            let tag = VirtualType5Tag(.st25dv04K)
            let script = try LinkScript(.nfcV, tag)
            let data = [UInt8](repeating: 0x77, count: 4 * count)
            #expect(await script.send("02 24 10 \(hexText([UInt8(count - 1)])) \(hexText(data))") == "00")
            #expect(Array(tag.contents.memory[64..<(64 + 4 * count)]) == data)
            let time = script.link.statistics.tagWorkTime
            let least = Airtime.milliseconds(5) * count
            #expect(time >= least && time < least + Airtime(carrierPeriods: 4096))
        }
    }

    @Test func `An answer that waits is forgotten at the next command, and without power`() async throws {
        let tag = VirtualType5Tag(.icodeSLIX)
        let script = try LinkScript(.nfcV, tag)
        #expect(await script.send("42 21 03 01 02 03 04") == "timeout")
        #expect(await script.sendEnd() == "00")
        #expect(await script.send("42 21 03 01 02 03 04") == "timeout")
        #expect(await script.send("02 20 03") == "00 01 02 03 04")
        #expect(await script.sendEnd() == "timeout")
        #expect(await script.send("42 21 03 01 02 03 04") == "timeout")
        tag.losePower()
        #expect(await script.sendEnd() == "timeout")
    }

    @Test func `Without power, an inventory is over, and INITIATE is forgotten`() async throws {
        let slix = VirtualType5Tag(.icodeSLIX)
        let slots = try LinkScript(.nfcV, slix)
        #expect(await slots.send("06 01 00") == "timeout")
        for _ in 1..<4 { #expect(await slots.sendEnd() == "timeout") }
        #expect(await slots.sendEnd() == "00 00 \(uid)")
        #expect(await slots.send("06 01 00") == "timeout")
        slix.losePower()
        for _ in 0..<15 { #expect(await slots.sendEnd() == "timeout") }

        let tag = VirtualType5Tag(.st25tv02K)
        let script = try LinkScript(.nfcV, tag)
        let own = hexText(tag.identifier.reversed())
        #expect(await script.send("02 d2 02") == "00 00 \(own)")
        #expect(await script.send("26 d1 02 00") == "00 00 \(own)")
        tag.losePower()
        #expect(await script.send("26 d1 02 00") == "timeout")
    }

    @Test func `STAY QUIET without a UID changes nothing`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("02 02") == "timeout")
        #expect(await script.send("02 20 00") == "00 e1 40 0d 01")
        #expect(await script.send("22 02 \(uid)") == "timeout")
        #expect(await script.send("02 20 00") == "timeout")
    }

    @Test func `System information at 256 blocks, at 257, and without a size`() async throws {
        let generic = "44 33 22 11 00 00 00 e0"
        let small = try LinkScript(.nfcV, VirtualType5Tag(Type5Product.generic(blockCount: 256)))
        #expect(await small.send("02 2b") == "00 0f \(generic) 00 00 ff 03 00")
        let large = try LinkScript(.nfcV, VirtualType5Tag(Type5Product.generic(blockCount: 257)))
        #expect(await large.send("02 2b") == "00 0b \(generic) 00 00 00")
        #expect(await large.send("02 3b 3f") == "00 3f \(generic) 00 00 00 01 03 00 ff 3f 3f 00")
        // The list of features is only there with two-byte addresses.
        let other = try LinkScript(.nfcV, VirtualType5Tag(.st25dv04K))
        #expect(await other.send("02 3b 10") == "00 00 44 33 22 11 00 24 02 e0")
    }

    @Test func `An inventory with bytes behind its mask is not answered`() async throws {
        let script = try LinkScript(.nfcV, VirtualType5Tag(.icodeSLIX))
        #expect(await script.send("26 01 00") == "00 00 \(uid)")
        #expect(await script.send("26 01 00 00") == "timeout")
    }
}
