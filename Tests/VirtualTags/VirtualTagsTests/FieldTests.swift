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
        // An observer may look at the field.
        var observation = field.observePresence { [weak field] in calls.add(field?.tags.count ?? 0) }
        let tag = VirtualType2Tag(.ntag213)
        // Each change of the field, and the tags that all observations have seen so far.
        let steps: [(change: () -> Void, seen: Int)] = [
            ({ field.bring(tag) }, 1), ({ field.bring(tag) }, 1), ({ field.bring(VirtualType2Tag(.ntag215)) }, 3),
            ({ field.remove(tag) }, 4), ({ field.remove(tag) }, 4), ({ field.removeAll() }, 4),
        ]
        for (index, step) in steps.enumerated() {
            step.change()
            #expect(calls.value == step.seen, "step \(index)")
        }
        withExtendedLifetime(observation) {}
        observation = nil
        field.bring(tag)
        #expect(calls.value == 4 && field.tags.count == 1)
    }

    @Test func `Field: a tag loses its power when it arrives or leaves, and when the carrier goes off`() async throws {
        let field = VirtualField()
        let (one, other) = (Parrot(nil), Parrot(nil, identifier: [2]))
        let steps: [(change: () -> Void, losses: [Int])] = [
            ({ field.bring(one) }, [1, 0]), ({ field.bring(one) }, [1, 0]), ({ field.bring(other) }, [1, 1]),
            ({ field.remove(one) }, [2, 1]), ({ field.remove(one) }, [2, 1]), ({ field.switchCarrier(true) }, [2, 1]),
            ({ field.switchCarrier(false) }, [2, 2]), ({ field.switchCarrier(false) }, [2, 2]),
            ({ field.removeAll() }, [2, 3]), ({ field.removeAll() }, [2, 3]),
        ]
        for (index, step) in steps.enumerated() {
            step.change()
            #expect([one.powerLosses, other.powerLosses] == step.losses, "step \(index)")
        }
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

    @Test func `Field arrival: a tag that is brought again gets a new number`() throws {
        let field = VirtualField()
        let (one, other) = (Parrot(nil), Parrot(nil, identifier: [2]))
        field.bring(one)
        field.bring(other)
        let first = try [#require(field.arrival(of: [1])), #require(field.arrival(of: [2]))]
        field.bring(one)
        #expect(field.arrival(of: [1]) == first[0] && field.arrival(of: [3]) == nil)
        field.remove(one)
        #expect(field.arrival(of: [1]) == nil && field.arrival(of: [2]) == first[1])
        field.bring(one)
        #expect(Set(first + [try #require(field.arrival(of: [1]))]).count == 3)
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
    }

    @Test func `Field recording: has every exchange with its bytes and time, up to the recording's limit`() async throws
    {
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

    @Test func `Field callbacks: each exchange of the link is reported, with its time`() async throws {
        let elapsed = Mutex<[Airtime]>([])
        let records = Mutex<[ExchangeRecord]>([])
        let field = VirtualField(
            technologies: [.nfcA],
            onElapsed: { time in elapsed.withLock { $0.append(time) } },
            onExchange: { record in records.withLock { $0.append(record) } }
        )
        field.bring(Parrot([5]))
        let missing = field.exchange(Frame([0]), over: .nfcV, timeout: .milliseconds(5))
        #expect(code(missing.result) == .unsupported && missing.elapsed == .zero)
        let link = try #require(field.link(for: .nfcA))
        #expect(try await link.transceive(Frame([0]), timeout: .milliseconds(5)).bytes == [5])
        let record = try #require(records.withLock { $0 }.first)
        #expect(elapsed.withLock { $0 } == [record.elapsed] && record.technology == .nfcA)
        #expect(record.request == Frame([0]) && record.response == Frame([5]))
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

    @Test func `Collision: reported at the first bit that differs, with all before it`() {
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

    @Test func `Time slots: answers in different slots are heard, those in one slot are lost`() {
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

    @Test func `Air time and length: the slowest tag's answer counts, and the frame limit includes the checksum`() {
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

    @Test func `Checksum of an answer: checked by the reader, or left to the caller`() {
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
    }

    @Test func `Air bit error: an answer of less than a byte has one wrong bit, a longer one is transmission`() throws {
        let plan = FaultPlan.effect(.bitError, atExchange: 0)
        let nibble = try answer(of: bits([0x0A], 4), faults: plan).get().nibble
        #expect([0x0B, 0x08, 0x0E, 0x02].contains(nibble))
        #expect((try? answer(of: bits([0x0A], 7), faults: plan).get())?.bitCount == 7)
        #expect(code(answer(of: bits([0x0A]), faults: plan)) == .transmission)
        for bytes: [UInt8] in [[0x0A], [0x0A, 0x0B]] {
            #expect(code(answer(of: bits(bytes), to: raw, faults: plan)) == .transmission)
        }
    }
}
