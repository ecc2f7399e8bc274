// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `The virtual field` {
    @Test func `A link is the same object each time, and missing where the technology is`() throws {
        let field = VirtualField(technologies: [.nfcA])
        let link = try #require(field.link(for: .nfcA))
        #expect(field.link(for: .nfcA) === link)
        #expect(field.link(for: .nfcV) == nil)
        #expect(field.technologies == [.nfcA])
        #expect(field.name == "virtual")
    }

    @Test func `Tags come and go, and observers hear of it until they are released`() throws {
        let field = VirtualField()
        let calls = Counter()
        var observation = field.observePresence { calls.add() }
        let tag = VirtualType2Tag(.ntag213)
        field.bring(tag)
        field.bring(tag)
        #expect(calls.value == 1)
        #expect(field.tags.count == 1)
        field.remove(tag)
        field.remove(tag)
        #expect(calls.value == 2)
        field.bring(tag)
        field.bring(VirtualType2Tag(.ntag215))
        field.removeAll()
        #expect(calls.value == 5)
        #expect(field.tags.isEmpty)
        withExtendedLifetime(observation) {}
        observation = nil
        field.bring(tag)
        #expect(calls.value == 5)
    }

    @Test func `An observer may change the field`() throws {
        let field = VirtualField()
        let observation = field.observePresence { [weak field] in
            if field?.tags.count == 1 { field?.removeAll() }
        }
        field.bring(VirtualType2Tag(.ntag213))
        #expect(field.tags.isEmpty)
        withExtendedLifetime(observation) {}
    }

    @Test func `Without a carrier nothing can be sent, and the tag forgets its state`() async throws {
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

    @Test func `Exchanges are counted with their bytes, airtime and the tag's work`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        try await script.activate()
        let start = script.link.statistics
        #expect(await script.send("30 03").hasPrefix("e1"))
        let read = script.link.statistics - start
        #expect(read.exchanges == 1)
        #expect(read.bytesOnAir == 22)
        #expect(read.airtime.microseconds == 2061)
        #expect(read.tagWorkTime == .zero)
        #expect(await script.send("a2 04 00 00 00 00") == "ACK")
        let write = script.link.statistics - start - read
        #expect(write.bytesOnAir == 9)
        #expect(write.airtime.microseconds == 909)
        #expect(write.tagWorkTime == .microseconds(4100))
        #expect(script.field.link(for: .nfcV)?.statistics == .zero)
    }

    @Test func `Silence costs the time-out`() async throws {
        let script = try Script()
        let frame = Frame(bits: [0x26], validBitsInLastByte: 7)
        #expect(await script.exchange(frame, timeout: .milliseconds(5)) == "timeout")
        let statistics = script.link.statistics
        #expect(statistics.exchanges == 1)
        #expect(statistics.airtime == .milliseconds(5) + FrameTiming(.nfcA).request(frame))
    }

    @Test func `A write is done even when the reader does not wait for it`() async throws {
        let tag = VirtualType2Tag(.ntag213, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        let answer = await script.exchange(Frame(hex("a2 04 01 02 03 04")), timeout: .milliseconds(4))
        #expect(answer == "timeout")
        #expect(Array(tag.contents.memory[16..<20]) == [1, 2, 3, 4])
    }

    @Test func `Elapsed time is reported once an exchange, and adds up to what was counted`() async throws {
        let elapsed = Counter()
        let field = VirtualField(onElapsed: { elapsed.add(Int($0.carrierPeriods)) })
        let script = try Script(field: field, [VirtualType2Tag(.ntag213, uid: Script.uid)])
        try await script.activate()
        #expect(await script.send("a2 04 00 00 00 00") == "ACK")
        #expect(await script.send("c2 ff") == "NAK 0")
        #expect(await script.send("c2 ff") == "timeout")
        let statistics = script.link.statistics
        #expect(Int64(elapsed.value) == (statistics.airtime + statistics.tagWorkTime).carrierPeriods)
    }

    @Test func `The clock may look at the field while it hears of time`() async throws {
        let box = Mutex<VirtualField?>(nil)
        let field = VirtualField(onElapsed: { _ in box.withLock { _ = $0?.tags } })
        box.withLock { $0 = field }
        let script = try Script(field: field, [VirtualType2Tag(.ntag213, uid: Script.uid)])
        try await script.activate()
        box.withLock { $0 = nil }
    }

    @Test func `An answer that is longer than the reader can take is an error`() async throws {
        let field = VirtualField(maximumFrameLength: 64)
        let script = try Script(field: field, [VirtualType2Tag(.ntag213, uid: Script.uid)])
        try await script.activate()
        #expect(await script.send("3a 00 0e").count == 60 * 3 - 1)
        #expect(await script.send("3a 00 0f") == "frameTooLong")
    }

    @Test func `A recording has every exchange, in words too`() async throws {
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
        #expect(records[3].elapsed.microseconds == 909 + 4100)
        #expect(records[3].response?.nibble == 0x0A)
        script.field.startRecording(limit: 1)
        _ = await script.send("30 00")
        _ = await script.send("30 00")
        #expect(script.field.stopRecording().count == 1)
    }

    @Test func `A cancelled task sends nothing`() async throws {
        let script = try Script(VirtualType2Tag(.ntag213, uid: Script.uid))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await script.sendShort(0x26)
        }
        task.cancel()
        #expect(await task.value == "cancelled")
        #expect(script.link.statistics == .zero)
    }

    @Test func `Tags may come and go from other threads while frames are sent`() async throws {
        let script = try Script()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<2000 { _ = await script.sendShort(0x52) }
            }
            for _ in 0..<2 {
                group.addTask {
                    let tag = VirtualType2Tag(.ntag213)
                    for _ in 0..<500 {
                        script.field.bring(tag)
                        _ = tag.contents.memory.count
                        script.field.remove(tag)
                    }
                }
            }
        }
        #expect(script.link.statistics.exchanges == 2000)
        #expect(script.field.tags.isEmpty)
    }
}

/// A number that any thread may add to.
final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int = 1) { count.withLock { $0 += number } }
}
