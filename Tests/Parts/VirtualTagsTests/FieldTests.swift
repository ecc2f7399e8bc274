// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import TagScripts
import Testing
import VirtualTags

/// The virtual field: tags that come and go, its clock, its records, and what is heard on the air.
struct FieldTests {
    // MARK: Tags and power

    @Test func `Field presence: each change is observed once, until the observation is released`() throws {
        let field = VirtualField(technologies: [.nfcA])
        let link = try #require(field.link(for: .nfcA))
        #expect(field.link(for: .nfcA) === link && field.link(for: .nfcV) == nil && field.technologies == [.nfcA])
        let calls = Counter()
        var observation = field.observePresence { calls.add() }
        let tag = VirtualType2Tag(.ntag213)
        field.bring(tag)
        field.bring(tag)
        #expect(calls.value == 1 && field.tags.count == 1)
        field.remove(tag)
        field.remove(tag)
        #expect(calls.value == 2)
        field.bring(tag)
        field.bring(VirtualType2Tag(.ntag215))
        field.removeAll()
        #expect(calls.value == 5 && field.tags.isEmpty)
        withExtendedLifetime(observation) {}
        observation = nil
        field.bring(tag)
        #expect(calls.value == 5)
        // An observer may change the field.
        let other = VirtualField()
        let remover = other.observePresence { [weak other] in
            if other?.tags.count == 1 { other?.removeAll() }
        }
        other.bring(tag)
        #expect(other.tags.isEmpty)
        withExtendedLifetime(remover) {}
    }

    @Test func `Field power: a tag loses it when it comes, when it goes, and with the carrier`() async throws {
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
        // Without a carrier nothing is sent, and nothing costs time.
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await script.activate()
        try await script.field.setCarrier(false)
        let before = script.link.statistics
        #expect(await script.send("30 00") == "readerUnavailable")
        #expect(script.link.statistics == before)
        try await script.field.setCarrier(true)
        #expect(await script.send("30 00") == "timeout")
        try await script.activate(wake: 0x26)
    }

    @Test func `Field arrival: each tag that comes has a number of its own`() throws {
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
        field.removeAll()
        field.bring(other)
        #expect(Set([first, second, third, try #require(field.arrival(of: [2]))]).count == 4)
    }

    // MARK: Time and records

    @Test func `Field statistics: bytes, airtime and the tag's work are counted, and reported once an exchange`()
        async throws
    {
        let elapsed = Counter()
        let field = VirtualField(onElapsed: { elapsed.add(Int($0.carrierPeriods)) })
        let script = try Script(field: field, [VirtualType2Tag(.ntag213, uid: Script.uid)])
        try await script.activate()
        let start = script.link.statistics
        #expect(await script.send("30 03").hasPrefix("e1"))
        let read = script.link.statistics - start
        #expect(read.exchanges == 1 && read.bytesOnAir == 22)
        #expect(read.airtime.microseconds == 2061 && read.tagWorkTime == .zero)
        #expect(await script.send("a2 04 00 00 00 00") == "ACK")
        let write = script.link.statistics - start - read
        #expect(write.bytesOnAir == 9)
        #expect(write.airtime.microseconds == 909 && write.tagWorkTime == .microseconds(4100))
        #expect(script.field.link(for: .nfcV)?.statistics == .zero)
        #expect(await script.send("c2 ff") == "NAK 0")
        #expect(await script.send("c2 ff") == "timeout")
        let whole = script.link.statistics
        #expect(Int64(elapsed.value) == (whole.airtime + whole.tagWorkTime).carrierPeriods)
        // Silence costs the time-out.
        let empty = try Script()
        let frame = Frame(bits: [0x26], validBitsInLastByte: 7)
        #expect(await empty.exchange(frame, timeout: .milliseconds(5)) == "timeout")
        #expect(empty.link.statistics.airtime == .milliseconds(5) + FrameTiming(.nfcA).request(frame))
        // A write is done even when the reader does not wait for it.
        let tag = VirtualType2Tag(.ntag213, uid: Script.uid)
        let hasty = try Script(tag)
        try await hasty.activate()
        #expect(await hasty.exchange(Frame(hex("a2 04 01 02 03 04")), timeout: .milliseconds(4)) == "timeout")
        #expect(Array(tag.contents.memory[16..<20]) == [1, 2, 3, 4])
    }

    @Test func `Field recording: every exchange in words, up to its limit`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        #expect(script.field.stopRecording().isEmpty)
        script.field.startRecording()
        try await script.activate(wake: 0x26)
        #expect(await script.send("a2 04 0f 10 00 00") == "ACK")
        #expect(await script.send("ff") == "NAK 0")
        #expect(await script.send("30 00") == "timeout")
        let records = script.field.stopRecording()
        #expect(
            records.map(\.description) == [
                "26' -> 44 00", "93 70 88 04 a1 b2 9f -> 04", "95 70 c3 d4 e5 80 72 -> 00", "a2 04 0f 10 00 00 -> 0a'",
                "ff -> 00'", "30 00 -> timeout",
            ]
        )
        #expect(records[3].elapsed.microseconds == 909 + 4100 && records[3].response?.nibble == 0x0A)
        for (limit, count) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (-1, 0)] {
            script.field.startRecording(limit: limit)
            for _ in 0..<3 { _ = await script.send("30 00") }
            #expect(script.field.stopRecording().count == count, "\(limit)")
        }
    }

    @Test func `Field callbacks: the link's exchanges are reported, and one without the technology costs nothing`()
        async
    {
        let elapsed = Mutex<[Airtime]>([])
        let records = Mutex<[ExchangeRecord]>([])
        let box = Mutex<VirtualField?>(nil)
        let field = VirtualField(
            technologies: [.nfcA],
            onElapsed: { time in
                // The clock may look at the field.
                box.withLock { _ = $0?.tags }
                elapsed.withLock { $0.append(time) }
            },
            onExchange: { record in records.withLock { $0.append(record) } }
        )
        box.withLock { $0 = field }
        defer { box.withLock { $0 = nil } }
        field.bring(Parrot([5]))
        let missing = field.exchange(Frame([0]), over: .nfcV, timeout: .milliseconds(5))
        #expect(code(missing.result) == .unsupported && missing.elapsed == .zero)
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

    @Test func `Field link: a cancelled task sends nothing`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await script.sendShort(0x26)
        }
        task.cancel()
        #expect(await task.value == "cancelled")
        #expect(script.link.statistics == .zero)
    }

    @Test func `Field threads: tags may come and go while frames are sent`() async throws {
        let script = try Script()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<500 { _ = await script.sendShort(0x52) }
            }
            for _ in 0..<2 {
                group.addTask {
                    let tag = VirtualType2Tag(.ntag213)
                    for _ in 0..<200 {
                        script.field.bring(tag)
                        _ = tag.contents.memory.count
                        script.field.remove(tag)
                    }
                }
            }
        }
        #expect(script.link.statistics.exchanges == 500 && script.field.tags.isEmpty)
    }

    // MARK: On the air

    private func answer(
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

    private func collision(_ result: Result<Frame, LinkError>) -> LinkError.Collision? {
        guard case .failure(let error) = result, error.code == .collision else { return nil }
        return error.collision
    }

    private func code(_ result: Result<Frame, LinkError>) -> LinkError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    private func bytes(_ result: Result<Frame, LinkError>) -> [UInt8]? { try? result.get().bytes }

    private func bits(_ bytes: [UInt8], _ valid: Int = 8) -> Parrot {
        Parrot(TagAnswer(Frame(bits: bytes, validBitsInLastByte: valid)))
    }

    private let raw = Frame([0x30], checksum: .none)

    @Test func `Air collision: the first bit that differs, and all before it`() {
        let rows: [([UInt8], [UInt8], Int, [UInt8])] = [
            ([0x01], [0x00], 0, []), ([0x80], [0x00], 7, [0]), ([0xFF], [0x7F], 7, [0x7F]), ([1, 2], [1, 3], 8, [1]),
            ([0xFF, 0x0F], [0xFF, 0x07], 11, [0xFF, 0x07]), ([5, 6, 0], [5, 6, 0x10], 20, [5, 6, 0]),
        ]
        for (one, other, bit, before) in rows {
            let point = LinkError.Collision(bitIndex: bit, bits: before)
            #expect(collision(answer(of: bits(one), bits(other))) == point, "\(one)")
            #expect(collision(answer(of: bits(other), bits(one))) == point, "\(one)")
        }
        // Bits that only one tag sends do not collide, and the last one that both send may.
        let last = answer(of: bits([0b1000], 4), bits([0b0000], 4), to: raw)
        #expect(collision(last) == LinkError.Collision(bitIndex: 3, bits: [0]))
        #expect((try? answer(of: bits([0b1_0000], 5), bits([0b0000], 4), to: raw).get())?.bitCount == 5)
        #expect(bytes(answer(of: bits([1, 0b0001], 4), bits([1, 0b1111_0001]), to: raw)) == [1, 0b1111_0001])
        // Checksums are sent too, and may collide.
        #expect(bytes(answer(of: Parrot([1, 2]), bits([1, 2]))) == [1, 2])
        #expect((collision(answer(of: Parrot([1, 2]), bits([1, 2, 0, 0])))?.bitIndex ?? 0) >= 16)
    }

    @Test func `Air with three tags: the longest of equal answers is heard, and any other collides`() {
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            func heard(_ answers: [[UInt8]]) -> Result<Frame, LinkError> {
                let tags = order.map { bits(answers[$0]) }
                return answer(of: tags[0], tags[1], tags[2], to: raw)
            }
            #expect(bytes(heard([[5], [5, 6], [5, 6, 7]])) == [5, 6, 7])
            #expect(collision(heard([[5], [5], [4]])) == LinkError.Collision(bitIndex: 0, bits: []))
            #expect(collision(heard([[1], [1, 2], [1, 3]])) == LinkError.Collision(bitIndex: 8, bits: [1]))
            let early = heard([[0b0001, 7], [0b0001, 6], [0b0101, 7]])
            #expect(collision(early) == LinkError.Collision(bitIndex: 2, bits: [0b01]))
        }
        let later = answer(of: bits([1, 2]), bits([1, 0]), bits([1, 2, 9]))
        #expect(collision(later) == LinkError.Collision(bitIndex: 9, bits: [1, 0]))
    }

    @Test func `Air slots: answers follow each other, and those in one slot are lost`() {
        // The tags as slot and byte; the bytes that are heard, none for a collision.
        let rows: [([(Int, UInt8)], [UInt8])] = [
            ([(3, 3), (0, 1), (15, 9)], [1, 3, 9]), ([(3, 3), (0, 1), (3, 4)], [1]), ([(3, 3), (3, 4), (0, 1)], [1]),
            ([(3, 3), (3, 4)], []), ([(3, 3), (3, 4), (3, 5)], []), ([(3, 3), (0, 1), (3, 4), (3, 5)], [1]),
            ([(3, 3), (3, 4), (3, 5), (7, 1)], [1]), ([(3, 3), (0, 1), (3, 4), (0, 2)], []),
            ([(3, 3), (0, 1), (3, 4), (0, 2), (1, 9)], [9]), ([(3, 3), (3, 4), (3, 5), (3, 6), (3, 7)], []),
        ]
        for (tags, heard) in rows {
            let field = VirtualField()
            for (slot, byte) in tags { field.bring(Parrot([byte], slot: slot)) }
            let result = field.exchange(Frame([0x30]), over: .nfcA, timeout: .milliseconds(10)).result
            if heard.isEmpty {
                #expect(collision(result) == LinkError.Collision(bitIndex: 0, bits: []), "\(tags)")
            } else {
                #expect(bytes(result) == heard, "\(tags)")
            }
        }
    }

    @Test func `Air time and length: the slowest tag has to be waited for, and the checksum counts`() {
        let tags = (Parrot([1], workTime: .milliseconds(3)), Parrot([1], workTime: .milliseconds(5)))
        #expect(bytes(answer(of: tags.0, tags.1, timeout: .milliseconds(5))) == [1])
        #expect(bytes(answer(of: tags.1, tags.0, timeout: .milliseconds(5))) == [1])
        #expect(code(answer(of: tags.1, tags.0, timeout: .microseconds(4999))) == .timeout)
        let silent = Parrot(TagAnswer(nil, workTime: .milliseconds(9)))
        #expect(
            bytes(answer(of: silent, tags.0, timeout: .milliseconds(3))) == [1],
            "One that is silent delays nobody."
        )
        #expect(bytes(answer(of: Parrot([1, 2, 3]), limit: 5)) == [1, 2, 3])
        #expect(code(answer(of: Parrot([1, 2, 3]), limit: 4)) == .frameTooLong)
        #expect(bytes(answer(of: bits([1, 2, 3]), to: raw, limit: 3)) == [1, 2, 3])
        #expect(code(answer(of: bits([1, 2, 3]), to: raw, limit: 2)) == .frameTooLong)
    }

    @Test func `Air checksum: the reader checks it, or the caller does`() {
        let whole = [1, 2] + CyclicRedundancyCheck.a([1, 2]).littleEndianBytes
        #expect((try? answer(of: Parrot([1, 2]), to: raw).get()) == Frame(whole, checksum: .none))
        #expect((try? answer(of: bits(whole)).get()) == Frame([1, 2]))
        #expect(code(answer(of: bits([1, 2, 3, 4]))) == .transmission)
        #expect(code(answer(of: bits(Array(whole.suffix(2))))) == .transmission)
        #expect((try? answer(of: bits([0x0A], 4)).get())?.nibble == 0x0A, "Less than a byte has no checksum.")
        let other = Frame([0x30], checksum: .crcB)
        let foreign = [1, 2] + CyclicRedundancyCheck.b([1, 2]).littleEndianBytes
        #expect((try? answer(of: bits(foreign), to: other).get()) == Frame([1, 2], checksum: .crcB))
        #expect(code(answer(of: bits(whole), to: other)) == .transmission)
        #expect(code(answer(of: Parrot([1, 2]), to: other)) == .transmission)
        let checked = [1] + CyclicRedundancyCheck.b([1]).littleEndianBytes
        for technology in Technology.allCases {
            let isB = technology == .nfcB || technology == .nfcV
            #expect(Frame(checked, checksum: .none).payload(checkedBy: technology) == (isB ? [1] : nil))
            #expect(Frame([7], checksum: .crcB).payload(checkedBy: technology) == (isB ? [7] : nil))
            #expect(Frame([7]).payload(checkedBy: technology) == [7])
        }
        #expect(Frame([0, 0], checksum: .none).payload(checkedBy: .nfcA) == nil)
        #expect(Frame(bits: checked, validBitsInLastByte: 7).payload(checkedBy: .nfcB) == nil)
    }

    @Test func `Air bit error: one bit of less than a byte changes, and more is damaged`() throws {
        var seen: Set<UInt8> = []
        for seed in UInt64(0)..<40 {
            let plan = FaultPlan([Fault(.bitError, at: .exchange(0))], seed: seed)
            seen.insert(try #require(try answer(of: bits([0x0A], 4), faults: plan).get().nibble))
        }
        #expect(seen == [0x0B, 0x08, 0x0E, 0x02])
        let plan = FaultPlan.effect(.bitError, atExchange: 0)
        #expect((try? answer(of: bits([0x0A], 7), faults: plan).get())?.bitCount == 7)
        #expect(code(answer(of: bits([0x0A]), faults: plan)) == .transmission)
        for bytes: [UInt8] in [[0x0A], [0x0A, 0x0B]] {
            #expect(code(answer(of: bits(bytes), to: raw, faults: plan)) == .transmission)
        }
    }
}
