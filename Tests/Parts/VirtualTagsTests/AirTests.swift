// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import Testing
import VirtualTags

@Suite struct `What is heard on the air` {
    private static func answer(
        of tags: Parrot...,
        to request: Frame = Frame([0x30]),
        timeout: Airtime = .milliseconds(10),
        limit: Int = 256,
        faults: FaultPlan = FaultPlan()
    ) -> Result<Frame, LinkError> {
        let field = VirtualField(maximumFrameLength: limit)
        for tag in tags { field.bring(tag) }
        field.arm(faults)
        return field.exchange(request, over: .nfcA, timeout: timeout).result
    }

    private static func collision(_ result: Result<Frame, LinkError>) -> LinkError.Collision? {
        guard case .failure(let error) = result, error.code == .collision else { return nil }
        return error.collision
    }

    private static func code(_ result: Result<Frame, LinkError>) -> LinkError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    private static func bits(_ bytes: [UInt8], _ valid: Int = 8) -> Parrot {
        Parrot(TagAnswer(Frame(bits: bytes, validBitsInLastByte: valid)))
    }

    @Test func `A longer answer that begins as another is the one that is heard`() throws {
        let raw = Frame([0x30], checksum: .none)
        for tags in [[Self.bits([1, 2]), Self.bits([1, 2, 3])], [Self.bits([1, 2, 3]), Self.bits([1, 2])]] {
            #expect(try Self.answer(of: tags[0], tags[1], to: raw).get().bytes == [1, 2, 3])
        }
        // Bits that are not sent do not collide.
        let part = try Self.answer(of: Self.bits([1, 0b0001], 4), Self.bits([1, 0b1111_0001]), to: raw).get()
        #expect(part.bytes == [1, 0b1111_0001] && part.validBitsInLastByte == 8)
    }

    @Test(
        arguments: [
            ([0x01], [0x00], 0, []), ([0x80], [0x00], 7, [0]), ([0xFF], [0x7F], 7, [0x7F]),
            ([1, 2], [1, 3], 8, [1]), ([0xFF, 0x0F], [0xFF, 0x07], 11, [0xFF, 0x07]),
            ([5, 6, 0], [5, 6, 0x10], 20, [5, 6, 0]),
        ] as [([UInt8], [UInt8], Int, [UInt8])]
    )
    func `A collision has its first bit, and all before it`(one: [UInt8], other: [UInt8], bit: Int, bits: [UInt8]) {
        for (one, other) in [(one, other), (other, one)] {
            let point = Self.collision(Self.answer(of: Self.bits(one), Self.bits(other)))
            #expect(point == LinkError.Collision(bitIndex: bit, bits: bits))
        }
    }

    @Test func `The last bit that both send may collide, and the next one may not`() {
        let raw = Frame([0x30], checksum: .none)
        let collides = Self.answer(of: Self.bits([0b1000], 4), Self.bits([0b0000], 4), to: raw)
        #expect(Self.collision(collides) == LinkError.Collision(bitIndex: 3, bits: [0]))
        let differs = Self.answer(of: Self.bits([0b1_0000], 5), Self.bits([0b0000], 4), to: raw)
        #expect((try? differs.get())?.bitCount == 5)
    }

    @Test func `Checksums are sent too, and may collide`() {
        // The same bytes, with and without a checksum; and others, which differ earlier.
        let plain = Parrot([1, 2])
        #expect((try? Self.answer(of: plain, Self.bits([1, 2])).get())?.bytes == [1, 2])
        let wrong = Self.bits([1, 2, 0, 0])
        #expect((Self.collision(Self.answer(of: plain, wrong))?.bitIndex ?? 0) >= 16)
    }

    @Test func `A third tag can only move the collision to the front`() {
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let tags = [Self.bits([0b0001, 7]), Self.bits([0b0001, 6]), Self.bits([0b0101, 7])]
            let point = Self.collision(Self.answer(of: tags[order[0]], tags[order[1]], tags[order[2]]))
            #expect(point == LinkError.Collision(bitIndex: 2, bits: [0b01]))
        }
        // One that agrees with all before the collision.
        let later = Self.answer(of: Self.bits([1, 2]), Self.bits([1, 0]), Self.bits([1, 2, 9]))
        #expect(Self.collision(later) == LinkError.Collision(bitIndex: 9, bits: [1, 0]))
    }

    @Test func `Of three answers that agree the longest is heard, and two that agree collide with a third`() throws {
        let raw = Frame([0x30], checksum: .none)
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            func answer(_ bytes: [[UInt8]]) -> Result<Frame, LinkError> {
                let tags = order.map { Self.bits(bytes[$0]) }
                return Self.answer(of: tags[0], tags[1], tags[2], to: raw)
            }
            #expect(try answer([[5], [5, 6], [5, 6, 7]]).get().bytes == [5, 6, 7])
            #expect(Self.collision(answer([[5], [5], [4]])) == LinkError.Collision(bitIndex: 0, bits: []))
            #expect(Self.collision(answer([[1], [1, 2], [1, 3]])) == LinkError.Collision(bitIndex: 8, bits: [1]))
        }
    }

    @Test func `Answers in slots follow each other, and those in one slot are lost`() throws {
        func slot(_ number: Int, _ byte: UInt8) -> Parrot { Parrot([byte], slot: number) }
        #expect(try Self.answer(of: slot(3, 3), slot(0, 1), slot(15, 9)).get().bytes == [1, 3, 9])
        #expect(try Self.answer(of: slot(3, 3), slot(0, 1), slot(3, 4)).get().bytes == [1])
        #expect(try Self.answer(of: slot(3, 3), slot(3, 4), slot(0, 1)).get().bytes == [1])
        let none = Self.collision(Self.answer(of: slot(3, 3), slot(3, 4)))
        #expect(none == LinkError.Collision(bitIndex: 0, bits: []))
    }

    @Test func `A slot with three answers or more is lost like one with two, and several slots may be`() throws {
        func slot(_ number: Int, _ byte: UInt8) -> Parrot { Parrot([byte], slot: number) }
        let lost = LinkError.Collision(bitIndex: 0, bits: [])
        #expect(Self.collision(Self.answer(of: slot(3, 3), slot(3, 4), slot(3, 5))) == lost)
        #expect(Self.collision(Self.answer(of: slot(3, 3), slot(3, 4), slot(3, 5), slot(3, 6), slot(3, 7))) == lost)
        #expect(try Self.answer(of: slot(3, 3), slot(0, 1), slot(3, 4), slot(3, 5)).get().bytes == [1])
        #expect(try Self.answer(of: slot(3, 3), slot(3, 4), slot(3, 5), slot(7, 1)).get().bytes == [1])
        #expect(Self.collision(Self.answer(of: slot(3, 3), slot(0, 1), slot(3, 4), slot(0, 2))) == lost)
        #expect(try Self.answer(of: slot(3, 3), slot(0, 1), slot(3, 4), slot(0, 2), slot(1, 9)).get().bytes == [9])
    }

    @Test func `The slowest tag has to be waited for, to its last moment`() {
        let tags = (Parrot([1], workTime: .milliseconds(3)), Parrot([1], workTime: .milliseconds(5)))
        #expect((try? Self.answer(of: tags.0, tags.1, timeout: .milliseconds(5)).get())?.bytes == [1])
        #expect((try? Self.answer(of: tags.1, tags.0, timeout: .milliseconds(5)).get())?.bytes == [1])
        #expect(Self.code(Self.answer(of: tags.1, tags.0, timeout: .microseconds(4999))) == .timeout)
        // One that says nothing makes nobody wait.
        let silent = Parrot(TagAnswer(nil, workTime: .milliseconds(9)))
        #expect((try? Self.answer(of: silent, tags.0, timeout: .milliseconds(3)).get())?.bytes == [1])
    }

    @Test func `The length counts with the checksum that was sent`() {
        #expect((try? Self.answer(of: Parrot([1, 2, 3]), limit: 5).get())?.bytes == [1, 2, 3])
        #expect(Self.code(Self.answer(of: Parrot([1, 2, 3]), limit: 4)) == .frameTooLong)
        let raw = Frame([0x30], checksum: .none)
        #expect((try? Self.answer(of: Self.bits([1, 2, 3]), to: raw, limit: 3).get())?.bytes == [1, 2, 3])
        #expect(Self.code(Self.answer(of: Self.bits([1, 2, 3]), to: raw, limit: 2)) == .frameTooLong)
    }

    @Test func `A checksum is the reader's to check, or the caller's`() {
        let raw = Frame([0x30], checksum: .none)
        let whole = [1, 2] + CyclicRedundancyCheck.a([1, 2]).littleEndianBytes
        #expect((try? Self.answer(of: Parrot([1, 2]), to: raw).get()) == Frame(whole, checksum: .none))
        #expect((try? Self.answer(of: Self.bits(whole)).get()) == Frame([1, 2]))
        #expect(Self.code(Self.answer(of: Self.bits([1, 2, 3, 4]))) == .transmission)
        #expect(Self.code(Self.answer(of: Self.bits(Array(whole.suffix(2))))) == .transmission)
        // Less than a byte has no checksum.
        #expect((try? Self.answer(of: Self.bits([0x0A], 4)).get())?.nibble == 0x0A)
        let other = Frame([0x30], checksum: .crcB)
        let foreign = [1, 2] + CyclicRedundancyCheck.b([1, 2]).littleEndianBytes
        #expect((try? Self.answer(of: Self.bits(foreign), to: other).get()) == Frame([1, 2], checksum: .crcB))
        #expect(Self.code(Self.answer(of: Self.bits(whole), to: other)) == .transmission)
        #expect(Self.code(Self.answer(of: Parrot([1, 2]), to: other)) == .transmission)
    }

    @Test func `Of a frame the bytes are those whose checksum is right`() {
        let whole = [1] + CyclicRedundancyCheck.b([1]).littleEndianBytes
        #expect(Frame(whole, checksum: .none).payload(checkedBy: .nfcB) == [1])
        #expect(Frame(whole, checksum: .none).payload(checkedBy: .nfcV) == [1])
        #expect(Frame(whole, checksum: .none).payload(checkedBy: .nfcA) == nil)
        #expect(Frame([0, 0], checksum: .none).payload(checkedBy: .nfcA) == nil)
        #expect(Frame(bits: whole, validBitsInLastByte: 7).payload(checkedBy: .nfcB) == nil)
        for technology in Technology.allCases {
            #expect(Frame([7]).payload(checkedBy: technology) == [7])
            let isTheirs = technology == .nfcB || technology == .nfcV
            #expect(Frame([7], checksum: .crcB).payload(checkedBy: technology) == (isTheirs ? [7] : nil))
        }
    }

    @Test func `A bit error changes one bit of less than a byte, and damages more`() throws {
        var seen: Set<UInt8> = []
        for seed in UInt64(0)..<40 {
            let plan = FaultPlan([Fault(.bitError, at: .exchange(0))], seed: seed)
            let nibble = try #require(try Self.answer(of: Self.bits([0x0A], 4), faults: plan).get().nibble)
            #expect((nibble ^ 0x0A).nonzeroBitCount == 1)
            seen.insert(nibble)
        }
        #expect(seen == [0x0B, 0x08, 0x0E, 0x02])
        let plan = FaultPlan.effect(.bitError, atExchange: 0)
        #expect((try? Self.answer(of: Self.bits([0x0A], 7), faults: plan).get())?.bitCount == 7)
        #expect(Self.code(Self.answer(of: Self.bits([0x0A]), faults: plan)) == .transmission)
        // Also where the caller checks the checksum.
        let raw = Frame([0x30], checksum: .none)
        for bytes: [UInt8] in [[0x0A], [0x0A, 0x0B]] {
            #expect(Self.code(Self.answer(of: Self.bits(bytes), to: raw, faults: plan)) == .transmission)
        }
    }
}

@Suite struct `The power of tags in a field` {
    @Test func `It is lost when a tag comes, when it goes, and with the carrier`() {
        let field = VirtualField()
        let (one, other) = (Parrot(nil), Parrot(nil, identifier: [2]))
        field.bring(one)
        field.bring(one)
        #expect(one.powerLosses == 1)
        field.bring(other)
        field.remove(one)
        field.remove(one)
        #expect(one.powerLosses == 2 && other.powerLosses == 1)
        field.switchCarrier(true)
        #expect(other.powerLosses == 1)
        field.switchCarrier(false)
        field.switchCarrier(false)
        #expect(other.powerLosses == 2)
        field.removeAll()
        field.removeAll()
        #expect(other.powerLosses == 3 && field.tags.isEmpty)
    }

    @Test func `A swap takes it from the tag that goes and from the one that comes, and is a change`() {
        let field = VirtualField()
        let (one, other) = (Parrot([1]), Parrot([2]))
        field.bring(one)
        let changes = Mutex(0)
        let observation = field.observePresence { changes.withLock { $0 += 1 } }
        field.arm(.effect(.swap(other), atExchange: 1))
        for byte: UInt8 in [1, 2, 2] {
            let answer = field.exchange(Frame([0]), over: .nfcA, timeout: .milliseconds(5)).result
            #expect((try? answer.get())?.bytes == [byte])
        }
        #expect(one.powerLosses == 2 && other.powerLosses == 1 && changes.withLock { $0 } == 1)
        #expect(field.tags.count == 1 && field.tags.first === other)
        withExtendedLifetime(observation) {}
    }

    @Test func `Each arrival of a tag has a number of its own`() throws {
        let field = VirtualField()
        let (one, other) = (Parrot(nil), Parrot(nil, identifier: [2]))
        #expect(field.arrival(of: [1]) == nil)
        field.bring(one)
        field.bring(other)
        let (first, second) = try (#require(field.arrival(of: [1])), #require(field.arrival(of: [2])))
        #expect(first != second && field.arrival(of: [3]) == nil)
        field.bring(one)
        #expect(field.arrival(of: [1]) == first)
        field.remove(one)
        #expect(field.arrival(of: [1]) == nil && field.arrival(of: [2]) == second)
        field.bring(one)
        let third = try #require(field.arrival(of: [1]))
        #expect(third != first && third != second)
        field.removeAll()
        field.bring(other)
        #expect(![first, second, third].contains(try #require(field.arrival(of: [2]))))
    }

    @Test func `An exchange in a technology that is not there costs nothing, and others are told of their own`() async {
        let elapsed = Mutex<[Airtime]>([])
        let records = Mutex<[ExchangeRecord]>([])
        let field = VirtualField(
            name: "mine",
            technologies: [.nfcA],
            onElapsed: { time in elapsed.withLock { $0.append(time) } },
            onExchange: { record in records.withLock { $0.append(record) } }
        )
        field.bring(Parrot([5]))
        #expect(field.name == "mine")
        let missing = field.exchange(Frame([0]), over: .nfcV, timeout: .milliseconds(5))
        guard case .failure(let error) = missing.result else { return #expect(Bool(false)) }
        #expect(error.code == .unsupported && missing.elapsed == .zero)
        // The caller has the time of an exchange that it makes here.
        #expect(field.exchange(Frame([0]), over: .nfcA, timeout: .milliseconds(5)).elapsed > .zero)
        #expect(elapsed.withLock { $0.isEmpty } && records.withLock { $0.isEmpty })
        #expect((try? await field.link(for: .nfcA)?.transceive(Frame([0]), timeout: .milliseconds(5)))?.bytes == [5])
        let record = records.withLock { $0 }
        #expect(record.count == 1 && elapsed.withLock { $0 } == record.map(\.elapsed))
        #expect(record.first?.technology == .nfcA && record.first?.request == Frame([0]))
        #expect(record.first?.response == Frame([5]))
        field.switchCarrier(false)
        _ = try? await field.link(for: .nfcA)?.transceive(Frame([0]), timeout: .milliseconds(5))
        #expect(records.withLock { $0.count } == 2 && elapsed.withLock { $0.count } == 1)
    }

    @Test func `Writes and exchanges are counted from where faults are armed, writes also from the start`() {
        let field = VirtualField()
        field.bring(Parrot(TagAnswer(Frame([1]), isWrite: true)))
        func exchange(_ count: Int) {
            for _ in 0..<count { _ = field.exchange(Frame([0]), over: .nfcA, timeout: .milliseconds(5)) }
        }
        exchange(2)
        #expect(field.writeCount == 2 && field.countsSinceArmed == nil)
        field.arm(.loss(atExchange: 9))
        #expect(field.countsSinceArmed?.exchanges == 0 && field.countsSinceArmed?.writes == 0)
        exchange(3)
        #expect(field.writeCount == 5 && field.countsSinceArmed?.exchanges == 3 && field.countsSinceArmed?.writes == 3)
        _ = field.exchange(Frame([0]), over: .nfcV, timeout: .milliseconds(5))
        #expect(field.writeCount == 5 && field.countsSinceArmed?.exchanges == 4 && field.countsSinceArmed?.writes == 3)
        field.arm(FaultPlan())
        #expect(field.countsSinceArmed == nil && field.writeCount == 5)
    }

    @Test func `A recording has no more than its limit`() {
        let field = VirtualField()
        for (limit, count) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (-1, 0)] {
            field.startRecording(limit: limit)
            for _ in 0..<3 { _ = field.exchange(Frame([0]), over: .nfcA, timeout: .milliseconds(5)) }
            #expect(field.stopRecording().count == count, "\(limit)")
        }
    }
}

@Suite struct `Plans of faults` {
    @Test func `They are written in words, in their order`() {
        #expect(FaultPlan().description == "no fault")
        let plan =
            FaultPlan.loss(atExchange: 3) + .tear(duringWrite: 2, leaving: .old) + .weakField
            + .effect(.call {}, atExchange: 0)
        #expect(
            plan.description
                == "loss at exchange 3, powerCut(VirtualTags.TornWrite.old) at write 2, brownOut at every write, call at exchange 0"
        )
        #expect(FaultPlan.effect(.swap(Parrot(nil)), atExchange: 1).description == "swap at exchange 1")
        #expect(!plan.isEmpty && plan.seed == 0 && plan.seeded(7).seed == 7)
        #expect((plan.seeded(7) + FaultPlan(seed: 9)).seed == 7 && plan.seeded(7).description == plan.description)
    }

    @Test func `A power cut before the first write leaves the old bytes of it`() {
        let old = "powerCut(VirtualTags.TornWrite.old) at write 1"
        let new = "powerCut(VirtualTags.TornWrite.new) at write "
        #expect([-1, 0, 1, 2].map { FaultPlan.tear(afterWrite: $0).description } == [old, old, new + "1", new + "2"])
        #expect(FaultPlan.everyTear(inWrites: 2).map(\.description) == [old, new + "1", new + "2"])
        #expect(
            FaultPlan.everyTear(inWrites: 2, leaving: [.old]).map(\.description).suffix(2)
                == [old, "powerCut(VirtualTags.TornWrite.old) at write 2"]
        )
        #expect(
            FaultPlan.every([.mute, .deaf], inExchanges: 2).map(\.description)
                == ["mute at exchange 0", "deaf at exchange 0", "mute at exchange 1", "deaf at exchange 1"]
        )
    }

    @Test func `Random ones have their seed, and none where there is nothing to choose from`() {
        for plan in [
            FaultPlan.random(seed: 5, of: [], inExchanges: 9, count: 3),
            .random(seed: 5, of: [.mute], inExchanges: 0, count: 3),
            .random(seed: 5, of: [.mute], inExchanges: -1, count: 3),
            .random(seed: 5, of: [.mute], inExchanges: 9, count: 0),
            .random(seed: 5, of: [.mute], inExchanges: 9, count: -3),
        ] { #expect(plan.isEmpty && plan.seed == 5) }
        let plan = FaultPlan.random(seed: 5, of: [.mute, .deaf], inExchanges: 2, count: 60)
        #expect(plan.seed == 5)
        #expect(
            Set(plan.faults.map(\.description))
                == ["mute at exchange 0", "deaf at exchange 0", "mute at exchange 1", "deaf at exchange 1"]
        )
        #expect(
            FaultPlan.random(seed: 6, of: [.mute, .deaf], inExchanges: 2, count: 60).description != plan.description
        )
    }
}

@Suite struct `A write that was torn` {
    @Test func `Whole units are the new ones before it, and the old ones after it`() {
        let old = [UInt8](repeating: 0x00, count: 16)
        let new = [UInt8](repeating: 0xFF, count: 16)
        #expect(TornWrite.old.remains(of: old, under: new, unit: 4) == old)
        #expect(TornWrite.new.remains(of: old, under: new, unit: 4) == new)
        var seen: Set<Int> = []
        for seed in UInt64(0)..<64 {
            let rest = TornWrite.mixed(seed: seed).remains(of: old, under: new, unit: 4)
            let whole = rest.prefix { $0 == 0xFF }.count / 4
            #expect(rest.count == 16 && rest.dropFirst((whole + 1) * 4).allSatisfy { $0 == 0 })
            #expect(rest == TornWrite.mixed(seed: seed).remains(of: old, under: new, unit: 4))
            seen.insert(whole)
        }
        #expect(seen == [0, 1, 2, 3])
    }

    @Test func `Of a unit that is protected there is all or nothing`() {
        let old = [UInt8](repeating: 0x00, count: 8)
        let new = [UInt8](repeating: 0xFF, count: 8)
        var seen: Set<[UInt8]> = []
        for seed in UInt64(0)..<64 {
            seen.insert(TornWrite.mixed(seed: seed).remains(of: old, under: new, unit: 4, isProtected: true))
        }
        #expect(seen == [old, Array(new[..<4] + old[4...]), new])
    }

    @Test func `The last unit may be shorter, and there may be none`() {
        let old = [UInt8](repeating: 0x00, count: 5)
        let new = [UInt8](repeating: 0xFF, count: 5)
        var lasts: Set<UInt8> = []
        for seed in UInt64(0)..<64 {
            let rest = TornWrite.mixed(seed: seed).remains(of: old, under: new, unit: 4)
            #expect(rest.count == 5)
            lasts.insert(rest[4])
        }
        #expect(lasts.count > 2)
        #expect(TornWrite.mixed(seed: 1).remains(of: [], under: [], unit: 4).isEmpty)
    }

    @Test func `Numbers are those of SplitMix64`() {
        // From the generator's reference code, with the seeds 0 and 1234567.
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
