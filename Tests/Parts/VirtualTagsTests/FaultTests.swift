// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Faults` {
    private func activated(_ product: Type2Product = .ntag213) async throws -> (Script, VirtualType2Tag) {
        let tag = VirtualType2Tag(product, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        return (script, tag)
    }

    private func page(_ index: Int, of tag: VirtualType2Tag) -> [UInt8] {
        Array(tag.contents.memory[(index * 4)..<(index * 4 + 4)])
    }

    @Test(arguments: 0..<4) func `A tag is lost at any exchange and gone from then on`(_ exchange: Int) async throws {
        let (script, tag) = try await activated()
        let calls = Counter()
        let observation = script.field.observePresence { calls.add() }
        script.field.arm(.loss(atExchange: exchange))
        for index in 0..<4 {
            let answer = await script.send("a2 0\(4 + index) 01 02 03 04")
            #expect(answer == (index < exchange ? "ACK" : "timeout"))
        }
        #expect(script.field.tags.isEmpty)
        #expect(calls.value == 1)
        #expect(page(4 + exchange, of: tag) != [1, 2, 3, 4])
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: 0...3) func `The power goes after the k-th write`(_ writes: Int) async throws {
        let (script, tag) = try await activated()
        script.field.arm(.tear(afterWrite: writes))
        for index in 0..<3 {
            _ = await script.send("30 00")
            let answer = await script.send("a2 0\(6 + index) 01 02 03 04")
            #expect(answer == (index + 1 < writes || (writes == 3 && index < 2) ? "ACK" : "timeout"))
        }
        for index in 0..<3 {
            #expect(page(6 + index, of: tag) == (index < writes ? [1, 2, 3, 4] : [0, 0, 0, 0]))
        }
        #expect(script.field.tags.isEmpty)
    }

    @Test func `In a weak field a tag is read, and resets at each write without being changed`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(.weakField)
        for _ in 0..<2 {
            #expect(await script.send("30 03").hasPrefix("e1 10 12 00"))
            #expect(await script.send("a2 04 01 02 03 04") == "timeout")
            #expect(await script.send("30 03") == "timeout")
            try await script.activate()
        }
        #expect(script.field.tags.count == 1)
        #expect(page(4, of: tag) != [1, 2, 3, 4])
        script.field.arm(FaultPlan())
        #expect(await script.send("a2 04 01 02 03 04") == "ACK")
        #expect(page(4, of: tag) == [1, 2, 3, 4])
    }

    @Test func `A refused write is not counted`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(.tear(afterWrite: 1))
        #expect(await script.send("a2 00 01 02 03 04") == "NAK 0")
        try await script.activate()
        #expect(await script.send("a2 06 01 02 03 04") == "timeout")
        #expect(page(6, of: tag) == [1, 2, 3, 4])
    }

    @Test func `A torn page of data has bits of both contents, by the seed`() async throws {
        var seen: Set<[UInt8]> = []
        for seed in UInt64(0)..<20 {
            let (script, tag) = try await activated()
            let plan = FaultPlan.tear(duringWrite: 1, leaving: .mixed(seed: seed))
            script.field.arm(plan)
            #expect(await script.send("a2 06 f0 f0 f0 f0") == "timeout")
            let left = page(6, of: tag)
            #expect(left.allSatisfy { $0 & 0x0F == 0 })
            seen.insert(left)

            let (again, copy) = try await activated()
            again.field.arm(plan)
            #expect(await again.send("a2 06 f0 f0 f0 f0") == "timeout")
            #expect(page(6, of: copy) == left)
        }
        #expect(seen.count > 10)
        #expect((0..<4).allSatisfy { index in Set(seen.map { $0[index] }).count > 2 })
    }

    @Test func `What is torn depends on the seed of the plan, too`() async throws {
        var seen: Set<[UInt8]> = []
        for seed in UInt64(0)..<10 {
            let (script, tag) = try await activated()
            script.field.arm(.tear(duringWrite: 1, leaving: .mixed(seed: .max)).seeded(seed))
            #expect(await script.send("a2 06 ff ff ff ff") == "timeout")
            seen.insert(page(6, of: tag))
        }
        #expect(seen.count > 5)
    }

    @Test func `A fault of an exchange and one of a write may meet, and neither is a change of tags`() async throws {
        let (script, _) = try await activated()
        let calls = Counter()
        let observation = script.field.observePresence { calls.add() }
        let slow = Fault(.delay(.milliseconds(3)), at: .write(1))
        script.field.arm(FaultPlan([Fault(.mute, at: .exchange(0)), slow, Fault(.tooShort(by: 15), at: .exchange(1))]))
        #expect(await script.send("30 00") == "timeout")
        #expect(await script.send("30 00") == "04")
        #expect(calls.value == 0)
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: ["02 00 00 10 00", "03 00 00 00 0f", "28 01 00 00 00"])
    func `Lock pages and page 3 are protected against tearing`(_ write: String) async throws {
        let index = Int(hex(write)[0])
        var seen: Set<[UInt8]> = []
        for seed in UInt64(0)..<20 {
            let (script, tag) = try await activated()
            let old = page(index, of: tag)
            script.field.arm(.tear(duringWrite: 1, leaving: .mixed(seed: seed)))
            #expect(await script.send("a2 \(write)") == "timeout")
            let new = zip(old, hex(write).dropFirst()).map { $0 | $1 }
            #expect([old, new].contains(page(index, of: tag)))
            seen.insert(page(index, of: tag))
        }
        #expect(seen.count == 2)
    }

    @Test func `A bit error is seen in bytes, and turns an acknowledgement into something else`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(FaultPlan([Fault(.bitError, at: .exchange(0)), Fault(.bitError, at: .exchange(1))], seed: 7))
        #expect(await script.send("30 00") == "transmission")
        #expect(await script.send("a2 06 01 02 03 04").hasPrefix("NAK"))
        #expect(page(6, of: tag) == [1, 2, 3, 4])
        #expect(await script.send("30 06").hasPrefix("01 02 03 04"))
    }

    @Test func `A muted tag has executed the command, a deaf one has not`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(.effect(.mute, atExchange: 0) + .effect(.deaf, atExchange: 1))
        #expect(await script.send("a2 06 01 02 03 04") == "timeout")
        #expect(await script.send("a2 07 01 02 03 04") == "timeout")
        #expect(await script.send("30 06").hasPrefix("01 02 03 04 00 00 00 00"))
        #expect(tag === script.field.tags.first)
    }

    @Test func `A refusal falls back as any other`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(.effect(.refusal(5), atExchange: 1))
        #expect(await script.send("30 00").hasPrefix("04"))
        #expect(await script.send("a2 06 01 02 03 04") == "NAK 5")
        #expect(await script.send("30 00") == "timeout")
        try await script.activate()
        #expect(page(6, of: tag) == [0, 0, 0, 0])
    }

    @Test func `A refusal at a write waits for it, and the next write goes through`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(FaultPlan([Fault(.refusal(5), at: .write(2))]))
        #expect(await script.send("a2 06 01 02 03 04") == "ACK")
        #expect(await script.send("30 00").hasPrefix("04"))
        #expect(await script.send("a2 07 01 02 03 04") == "NAK 5")
        #expect(page(7, of: tag) == [0, 0, 0, 0])
        try await script.activate()
        #expect(await script.send("a2 07 01 02 03 04") == "ACK")
    }

    @Test func `An answer may be too long or too short, with a right checksum`() async throws {
        let (script, _) = try await activated()
        script.field.arm(
            .effect(.tooLong(by: 2), atExchange: 0) + .effect(.tooShort(by: 15), atExchange: 1)
                + .effect(.tooShort(by: 16), atExchange: 2)
        )
        #expect(await script.send("30 00").count == 18 * 3 - 1)
        #expect(await script.send("30 00") == "04")
        #expect(await script.send("30 00") == "timeout")
    }

    @Test func `All effects of an exchange happen, in either order`() async throws {
        let (script, _) = try await activated()
        let slow = FaultPlan.effect(.delay(.milliseconds(3)), atExchange: 0)
        let short = FaultPlan.effect(.tooShort(by: 15), atExchange: 0)
        for plan in [slow + short, short + slow] {
            script.field.arm(plan)
            #expect(await script.exchange(Frame([0x30, 0x00]), timeout: .milliseconds(2)) == "timeout")
            script.field.arm(plan)
            #expect(await script.exchange(Frame([0x30, 0x00]), timeout: .milliseconds(3)) == "04")
        }
    }

    @Test func `A slow answer is heard when the reader waits for it`() async throws {
        let (script, _) = try await activated()
        let slow = FaultPlan.effect(.delay(.milliseconds(3)), atExchange: 0)
        script.field.arm(slow)
        #expect(await script.exchange(Frame([0x60]), timeout: .milliseconds(2)) == "timeout")
        script.field.arm(slow)
        #expect(await script.exchange(Frame([0x60]), timeout: .milliseconds(3)).hasPrefix("00 04"))
        #expect(script.link.statistics.tagWorkTime == .milliseconds(3))
    }

    @Test func `A tag is swapped for another, which has to be woken`() async throws {
        let (script, _) = try await activated()
        let other = VirtualType2Tag(.ntag215, uid: [0x04, 9, 9, 9, 9, 9, 9])
        script.field.arm(.effect(.swap(other), atExchange: 1))
        #expect(await script.send("30 00").hasPrefix("04 a1"))
        #expect(await script.send("30 00") == "timeout")
        #expect(script.field.tags.count == 1)
        try await script.activate(other.identifier)
        #expect(await script.send("30 00").hasPrefix("04 09"))
    }

    @Test func `Plans are enumerated`() {
        #expect(FaultPlan.everyLoss(inExchanges: 3).map(\.description) == (0..<3).map { "loss at exchange \($0)" })
        #expect(FaultPlan.everyTear(inWrites: 0).count == 1)
        #expect(FaultPlan.everyTear(inWrites: 2).count == 3)
        #expect(FaultPlan.everyTear(inWrites: 2, leaving: [.old, .mixed(seed: 1)]).count == 7)
        #expect(FaultPlan.every([.mute, .bitError], inExchanges: 5).count == 10)
        #expect(FaultPlan().isEmpty)
        let random = FaultPlan.random(seed: 3, of: [.mute, .deaf, .bitError], inExchanges: 100, count: 9)
        let same = FaultPlan.random(seed: 3, of: [.mute, .deaf, .bitError], inExchanges: 100, count: 9)
        #expect(random.description == same.description)
        #expect(random.faults.count == 9)
    }

    @Test func `What is to be called is called once, before its exchange, and may take the tag away`() async throws {
        let (script, tag) = try await activated()
        let calls = Counter()
        script.field.arm(
            FaultPlan([
                Fault(
                    .call { [field = script.field] in
                        calls.add()
                        field.remove(tag)
                    },
                    at: .exchange(1)
                )
            ])
        )
        #expect(await script.send("30 00").hasPrefix("04"))
        #expect(calls.value == 0)
        #expect(await script.send("30 00") == "timeout")
        script.field.bring(tag)
        try await script.activate()
        #expect(await script.send("30 00").hasPrefix("04"))
        #expect(calls.value == 1)
    }

    @Test func `An empty plan disarms`() async throws {
        let (script, _) = try await activated()
        script.field.arm(.loss(atExchange: 1))
        #expect(await script.send("30 00").hasPrefix("04"))
        script.field.arm(FaultPlan())
        #expect(await script.send("30 00").hasPrefix("04"))
    }

    @Test func `An effect on a write leaves what is read before it alone`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(FaultPlan([Fault(.mute, at: .write(1))]))
        #expect(await script.send("30 03").hasPrefix("e1 10 12 00"))
        #expect(await script.send("a2 06 01 02 03 04") == "timeout")
        #expect(page(6, of: tag) == [1, 2, 3, 4])
        #expect(await script.send("30 06").hasPrefix("01 02 03 04"))
    }

    @Test func `A tag that is lost at a write has been written`() async throws {
        let (script, tag) = try await activated()
        script.field.arm(FaultPlan([Fault(.loss, at: .write(1))]))
        #expect(await script.send("30 03").hasPrefix("e1 10 12 00"))
        #expect(await script.send("a2 06 01 02 03 04") == "timeout")
        #expect(page(6, of: tag) == [1, 2, 3, 4])
        #expect(script.field.tags.isEmpty)
    }

    @Test func `What is to be called waits for the carrier`() async throws {
        let (script, _) = try await activated()
        let calls = Counter()
        script.field.arm(FaultPlan([Fault(.call { calls.add() }, at: .exchange(0))]))
        try await script.field.setCarrier(false)
        #expect(await script.send("30 00") == "readerUnavailable")
        #expect(calls.value == 0)
        try await script.field.setCarrier(true)
        #expect(await script.send("30 00") == "timeout")
        #expect(calls.value == 1)
    }
}

extension `A write that was torn` {
    @Test func `A bit that does not change stays, and each other one is the old one or the new one`() {
        let same = Array(UInt8(0x51)...0x58)
        let (zeros, ones) = ([UInt8](repeating: 0x00, count: 8), [UInt8](repeating: 0xFF, count: 8))
        for seed in UInt64(0)..<32 {
            let tear = TornWrite.mixed(seed: seed)
            #expect(tear.remains(of: same, under: same, unit: 4) == same)
            let set = tear.remains(of: zeros, under: ones, unit: 4)
            #expect(tear.remains(of: ones, under: zeros, unit: 4) == set.map { ~$0 })
        }
    }
}
