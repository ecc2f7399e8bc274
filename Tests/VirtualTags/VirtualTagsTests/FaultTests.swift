// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

/// Faults that a field plays on its tags.
struct FaultTests {
    @Test func `Fault of a Type 2 tag: each effect has its answer to the reader and its trace in the memory`()
        async throws
    {
        try await play(
            """
            == Loss at an exchange: the tag is gone from then on, and that exchange did not happen
            arm exchange 2 loss; a2 04 01*4 -> ACK; a2 05 01*4 -> ACK; a2 06 01*4 -> -; 30 00 -> -; page 06 -> 00*4
            tags -> 0; bring; wake
            == Loss at a write: the tag has been written
            arm write 1 loss; 30 03 -> e1 10 12 00 ..; a2 06 01*4 -> -; page 06 -> 01*4; tags -> 0
            == Mute: the command is executed, and its answer lost
            arm exchange 0 mute; a2 06 01*4 -> -; page 06 -> 01*4; 30 06 -> 01*4 ..; tags -> 1; arm write 1 mute
            30 03 -> e1 ..; a2 07 01*4 -> -; page 07 -> 01*4; 30 06 -> 01*8 ..
            == Deaf: the command is not executed
            arm exchange 0 deaf; a2 06 01*4 -> -; page 06 -> 00*4; 30 06 -> #16
            == Refusal at an exchange, and at a write that it waits for
            arm exchange 1 refuse 05; 30 00 -> 04 ..; a2 06 01*4 -> NAK 5; 30 00 -> -; wake; page 06 -> 00*4
            arm write 2 refuse 05; a2 06 01*4 -> ACK; 30 00 -> 04 ..; a2 07 01*4 -> NAK 5; page 07 -> 00*4; wake
            a2 07 01*4 -> ACK
            == A refused write is not counted
            arm write 1 tear new; a2 00 01*4 -> NAK 0; wake; a2 06 01*4 -> -; page 06 -> 01*4
            == Bit error: damaged bytes, and an acknowledgement that is another code
            arm exchange 0 bits + exchange 1 bits; 30 00 -> transmission; a2 06 01*4 -> ! ACK; page 06 -> 01*4
            30 06 -> 01*4 ..
            == Too long and too short answers, with a right checksum
            arm exchange 0 longer 2 + exchange 1 shorter 15 + exchange 2 shorter 16; 30 00 -> #18; 30 00 -> 04
            30 00 -> -
            == Two faults of one exchange, and one of a write that never comes
            arm exchange 0 mute + write 1 slower 3 + exchange 1 shorter 15; 30 00 -> -; 30 00 -> 04
            == Weak field: reading works, and each write resets the tag unchanged
            arm write 1 brownout; 30 03 -> e1 10 12 00 ..; a2 04 01*4 -> -; 30 03 -> -; wake; a2 04 01*4 -> -; wake
            page 04 -> 01 03 a0 0c; tags -> 1; arm none; a2 04 01*4 -> ACK
            == An empty plan disarms
            arm exchange 1 loss; 30 00 -> 04 ..; arm none; 30 00 -> 04 ..
            == After the k-th write: its page is new, and the tag gone
            arm write 2 tear new; a2 06 01*4 -> ACK; 30 00 -> 04 ..; a2 07 01*4 -> -; a2 08 01*4 -> -; page 07 -> 01*4
            page 08 -> 00*4; tags -> 0
            """,
            on: type2
        )
    }

    private func activated() async throws -> (Script, VirtualType2Tag) {
        let tag = VirtualType2Tag(.ntag213, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        return (script, tag)
    }

    @Test func `Fault delay: a time-out as long as the delay gets the answer, a shorter one does not`() async throws {
        let (script, _) = try await activated()
        for (timeout, count) in [(2, 0), (3, 16)] {
            script.field.arm(.effect(.delay(.milliseconds(3)), atExchange: 0))
            let answer = await script.exchange(Frame([0x30, 0x00]), timeout: .milliseconds(Int64(timeout)))
            #expect(count == 0 ? answer == "timeout" : hex(answer).count == count, "\(timeout) ms")
        }
    }

    @Test func `Fault swap: another tag answers from its exchange on; fault call: happens once, before its exchange`()
        async throws
    {
        let field = VirtualField()
        let (one, other) = (Parrot([1]), Parrot([2]))
        field.bring(one)
        let changes = Counter()
        let observation = field.observePresence { changes.add() }
        field.arm(.effect(.swap(other), atExchange: 1))
        for byte: UInt8 in [1, 2, 2] {
            let answer = field.exchange(Frame([0]), over: .nfcA, timeout: .milliseconds(5)).result
            #expect((try? answer.get())?.bytes == [byte])
        }
        #expect(one.powerLosses == 2 && other.powerLosses == 1 && changes.value == 1)
        #expect(field.tags.count == 1 && field.tags.first === other)
        withExtendedLifetime(observation) {}

        let (script, tag) = try await activated()
        let calls = Counter()
        let call = Fault.Effect.call { [field = script.field] in
            calls.add()
            field.remove(tag)
        }
        script.field.arm(FaultPlan([Fault(call, at: .exchange(1))]))
        #expect(await script.send("30 00").hasPrefix("04"))
        #expect(calls.value == 0)
        #expect(await script.send("30 00") == "timeout")
        #expect(calls.value == 1)
    }

    @Test(arguments: ["06 f0 f0 f0 f0", "02 00 00 10 00", "03 00 00 00 0f", "28 01 00 00 00"])
    func `Torn Type 2 page: user data mixes old and new bits by the seed, lock and OTP pages are old or new`(
        write: String
    ) async throws {
        var outcomes: Set<[UInt8]> = []
        for seed in UInt64(0)..<20 {
            let (script, tag) = try await activated()
            let start = Int(hex(write)[0]) * 4
            let old = Array(tag.contents.memory[start..<start + 4])
            script.field.arm(.tear(duringWrite: 1, leaving: .mixed(seed: seed)))
            #expect(await script.send("a2 \(write)") == "timeout")
            let left = Array(tag.contents.memory[start..<start + 4])
            let isWhole = left == old || left == zip(old, hex(write).dropFirst()).map { $0 | $1 }
            #expect(start == 24 ? left.allSatisfy { $0 & 0x0F == 0 } : isWhole, "\(hexText(left))")
            outcomes.insert(left)
        }
        #expect(write.hasPrefix("06") ? outcomes.count > 10 : outcomes.count == 2)
    }

    @Test
    func `Torn write: units before the torn one are new, those after it old; a protected unit is never a mixture`() {
        func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
        let (old, new) = (bytes(0x00, 16), bytes(0xFF, 16))
        #expect(TornWrite.old.remains(of: old, under: new, unit: 4) == old)
        #expect(TornWrite.new.remains(of: old, under: new, unit: 4) == new)
        var seen: (units: Set<Int>, protected: Set<[UInt8]>) = ([], [])
        for seed in UInt64(0)..<64 {
            let tear = TornWrite.mixed(seed: seed)
            let rest = tear.remains(of: old, under: new, unit: 4)
            let whole = rest.prefix { $0 == 0xFF }.count / 4
            #expect(rest.count == 16 && rest.dropFirst((whole + 1) * 4).allSatisfy { $0 == 0 })
            #expect(rest == tear.remains(of: old, under: new, unit: 4))
            seen.units.insert(whole)
            seen.protected.insert(tear.remains(of: bytes(0, 8), under: bytes(0xFF, 8), unit: 4, isProtected: true))
        }
        #expect(seen.units == [0, 1, 2, 3])
        #expect(seen.protected == [bytes(0, 8), bytes(0xFF, 4) + bytes(0, 4), bytes(0xFF, 8)])
    }

    @Test func `Fault plans: have the effects and places that were asked for, and the same for the same seed`() {
        func words(_ plans: [FaultPlan]) -> [String] {
            plans.map { $0.description.replacing("VirtualTags.TornWrite", with: "") }
        }
        let (old, new) = ("powerCut(.old) at write", "powerCut(.new) at write")
        #expect(
            words([-1, 0, 1, 2].map { .tear(afterWrite: $0) }) == ["\(old) 1", "\(old) 1", "\(new) 1", "\(new) 2"]
        )
        #expect(words(FaultPlan.everyLoss(inExchanges: 3)) == (0..<3).map { "loss at exchange \($0)" })
        #expect(words(FaultPlan.everyTear(inWrites: 2)) == ["\(old) 1", "\(new) 1", "\(new) 2"])
        let more = words(FaultPlan.everyTear(inWrites: 2, leaving: [.old]))
        #expect(more == ["\(old) 1", "\(new) 1", "\(new) 2", "\(old) 1", "\(old) 2"])
        let four = ["mute at exchange 0", "deaf at exchange 0", "mute at exchange 1", "deaf at exchange 1"]
        #expect(words(FaultPlan.every([.mute, .deaf], inExchanges: 2)) == four)
        let plans = [5, 5, 6].map { FaultPlan.random(seed: $0, of: [.mute, .deaf], inExchanges: 2, count: 60) }
        #expect(plans[0].faults.count == 60 && Set(plans[0].faults.map(\.description)) == Set(four))
        #expect(words([plans[0]]) == words([plans[1]]) && words([plans[0]]) != words([plans[2]]))
        #expect(FaultPlan.random(seed: 5, of: [], inExchanges: 9, count: 3).isEmpty)
    }

    @Test func `Fault counters: writes and exchanges are counted from the moment when faults are armed`() {
        let field = VirtualField()
        field.bring(Parrot(TagAnswer(Frame([1]), isWrite: true)))
        func exchange(_ count: Int, _ technology: Technology = .nfcA) {
            for _ in 0..<count { _ = field.exchange(Frame([0]), over: technology, timeout: .milliseconds(5)) }
        }
        exchange(2)
        #expect(field.writeCount == 2 && field.countsSinceArmed == nil)
        field.arm(.loss(atExchange: 9))
        #expect(field.countsSinceArmed?.exchanges == 0 && field.countsSinceArmed?.writes == 0)
        exchange(3)
        exchange(1, .nfcV)
        #expect(field.writeCount == 5 && field.countsSinceArmed?.exchanges == 4 && field.countsSinceArmed?.writes == 3)
        field.arm(FaultPlan())
        #expect(field.countsSinceArmed == nil && field.writeCount == 5)
    }

    @Test func `Random numbers: those of SplitMix64's reference code`() {
        var zero = SplitMix64(seed: 0)
        #expect([zero.next(), zero.next()] == [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4])
        var other = SplitMix64(seed: 1_234_567)
        #expect([other.next(), other.next()] == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973])
        var bytes = SplitMix64(seed: 0)
        #expect(bytes.bytes(2) == [0x7B, 0xA1] && bytes.bytes(0).isEmpty)
        var named = SplitMix64(identifier: [0x12, 0xD6, 0x87])
        #expect(named.next() == 6_457_827_717_110_365_317)
    }
}
