// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import Testing

/// Checks the driver when readers, the service or other programs misbehave.
struct ServiceTests {
    private static let all = Set(Technology.allCases)
    /// A limit of calls, in milliseconds, that a test which is not about it does not meet on a machine that is busy.
    private static let long = 600_000

    private static func card(
        _ respond: @escaping @Sendable ([UInt8]) throws(SmartCardError) -> [UInt8]
    ) -> ScriptedService {
        SampleCards.service([UInt8](hex: "3B8180018080")) { command throws(SmartCardError) in
            command[0] == 0xFF ? [UInt8](hex: "04112233445566 9000") : try respond(command)
        }
    }

    private static func commands(_ reader: PCSCReader) async throws -> any APDULink {
        let tag = try #require(try await reader.discover(all, systemCodes: []).first)
        guard case .commands(let link, _) = tag.port else { throw LinkError(.unsupported, "no APDUs") }
        return link
    }

    @Test("Without the service, and without a reader, a sentence says what to do")
    func nothing() async throws {
        let service = ScriptedService()
        let reader = PCSCReader(.first, layer: service)
        let none = await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(none?.code == .readerUnavailable)
        #expect(none?.reason.contains("Plug one in") == true)
        service.change { $0.isRunning = false }
        let stopped = await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(stopped?.reason.contains("systemctl start pcscd.socket") == true)
        service.change { state in
            state.isRunning = true
            state.readers = [ScriptedService.Reader(name: "Some reader")]
        }
        let named = await #expect(throws: LinkError.self) {
            _ = try await PCSCReader(.named("other"), layer: service).discover(Self.all, systemCodes: [])
        }
        #expect(named?.reason.contains("\"Some reader\"") == true)
    }

    @Test("Every code has a sentence, and means something for an exchange")
    func sentences() {
        for code in UInt32(0x8010_0001)...0x8010_006F {
            let error = SmartCardError(SmartCardError.Code(rawValue: code), "SCardTransmit")
            // A command stands at the end, where it is not taken for having a full stop.
            let hasEnd = [".", ")", "restart pcscd"].contains(where: error.reason.hasSuffix)
            #expect(hasEnd || error.reason.contains("apt-get"))
        }
        #expect(SmartCardError(.libraryMissing, "dlopen").reason.contains("libpcsclite1"))
        #expect(SmartCardError(.securityViolation, "SCardConnect").reason.contains("polkit"))
    }

    @Test("A reader that goes and comes back is waited for, and the service too")
    func comesBack() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        let link = try await Self.commands(reader)
        let card = service.look { $0.readers[0] }
        service.change { $0.readers = [] }
        let gone = await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 0, 0, 0]) }
        #expect(gone?.code == .readerUnavailable)
        #expect(try await reader.discover(Self.all, systemCodes: []).isEmpty)
        service.change { $0.readers = [card] }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        service.change { $0.isRunning = false }
        #expect(try await reader.discover(Self.all, systemCodes: []).isEmpty)
        service.change { $0.isRunning = true }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        // The link of the first time is of no use for the tag that is there now.
        await #expect(throws: LinkError(.tagRemoved, "")) { _ = try await link.transmit([0, 0, 0, 0]) }
        await reader.release()
        service.change { $0.readers = [] }
        await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(service.look { $0.contexts.count } <= 1)
    }

    @Test("An arrival has the service's number, which is another one after the reader or the service was away")
    func arrivals() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        #expect(reader.arrival(of: []) == nil)
        func look() async throws -> UInt64? {
            _ = try await reader.discover(Self.all, systemCodes: [])
            return reader.arrival(of: [])
        }
        let first = try #require(try await look())
        #expect(try await look() == first)
        // Other users of the reader do not change it.
        await reader.release()
        #expect(reader.arrival(of: []) == nil)
        #expect(try await look() == first)
        service.change { $0.readers[0].events += 2 }
        let second = try #require(try await look())
        #expect(second != first)
        service.change { $0.isRunning = false }
        #expect(try await look() == nil)
        service.change { $0.isRunning = true }
        let third = try #require(try await look())
        #expect(third != second)
        let link = try await Self.commands(reader)
        let card = service.look { $0.readers[0] }
        service.change { $0.readers = [] }
        await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 0, 0, 0]) }
        service.change { $0.readers = [card] }
        #expect(try await look() != third)
        #expect(first == 0 && second == 2 && third == 2 + 1 << 16)
    }

    @Test("A tag that comes when the service has not counted the last one's leaving is found, and is another arrival")
    func hidden() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        _ = try await Self.commands(reader)
        let first = reader.arrival(of: [])
        let card = try #require(service.look { $0.readers[0].card })
        service.change { $0.readers[0].card = nil }
        // Nothing is found yet. That may be wrong, so the reader must be polled again soon.
        await #expect(throws: LinkError(.transmission, "")) { _ = try await reader.discover(Self.all, systemCodes: []) }
        service.change { state in
            state.readers[0].card = card
            state.readers[0].isHidden = true
        }
        _ = try await Self.commands(reader)
        let second = try #require(reader.arrival(of: []))
        #expect(first == 0 && second == 1 << 16)
        // When the service has counted, an empty reader is empty.
        service.change { state in
            state.readers[0].card = nil
            state.readers[0].events += 1
        }
        #expect(try await reader.discover(Self.all, systemCodes: []).isEmpty)
    }

    @Test("A tag that comes before the last one is known to have left is found, though the first look failed")
    func hiddenAtFirst() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        service.change { $0.connectFailure = .noSmartcard }
        await #expect(throws: LinkError(.transmission, "")) { _ = try await reader.discover(Self.all, systemCodes: []) }
        service.change { state in
            state.connectFailure = nil
            state.readers[0].isHidden = true
        }
        _ = try await Self.commands(reader)
    }

    @Test("A tag that comes where the service sees a mute one is found, within ten looks", arguments: [9, 10])
    func mute(looks: Int) async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        let card = try #require(service.look { $0.readers[0].card })
        service.change { state in
            state.readers[0].card = nil
            state.readers[0].isMute = true
        }
        for _ in 0..<looks {
            await #expect(throws: LinkError(.transmission, "")) {
                _ = try await reader.discover(Self.all, systemCodes: [])
            }
        }
        service.change { $0.readers[0].card = card }
        #expect(try await reader.discover(Self.all, systemCodes: []).count == (looks < 10 ? 1 : 0))
        // Another arrival is tried again.
        service.change { $0.readers[0].events += 2 }
        _ = try await Self.commands(reader)
    }

    @Test("A service that counts nothing is not asked for hidden tags without end")
    func notHidden() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        _ = try await Self.commands(reader)
        service.change { $0.readers[0].card = nil }
        for _ in 0..<10 {
            await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        }
        #expect(try await reader.discover(Self.all, systemCodes: []).isEmpty)
    }

    @Test("A tag that left while it was open keeps its power, and one that is there then is another arrival")
    func lost() async throws {
        let box = Locked(false)
        let service = Self.card { _ throws(SmartCardError) in
            if box.withLock({ $0 }) { throw SmartCardError(.removedCard, "SCardTransmit") }
            return [0x90, 0x00]
        }
        let reader = PCSCReader(.first, layer: service)
        let link = try await Self.commands(reader)
        let first = reader.arrival(of: [])
        box.withLock { $0 = true }
        await #expect(throws: LinkError(.tagRemoved, "")) { _ = try await link.transmit([0, 0, 0, 0]) }
        box.withLock { $0 = false }
        await reader.release()
        #expect(service.look(\.dispositions).last == .leave)
        _ = try await Self.commands(reader)
        #expect(reader.arrival(of: []) != first)
    }

    @Test("A card that another program holds is waited for, and then that is an error", arguments: [2, 1000])
    func sharing(violations: Int) async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        service.change { $0.sharingViolations = violations }
        let reader = PCSCReader(.first, layer: service)
        if violations < 10 {
            #expect(try await reader.discover(Self.all, systemCodes: []).count == 1)
        } else {
            let began = ContinuousClock.now
            let failure = await #expect(throws: LinkError.self) {
                _ = try await reader.discover(Self.all, systemCodes: [])
            }
            #expect(ContinuousClock.now - began >= .milliseconds(1900))
            #expect(failure?.code == .inUse)
            #expect(failure?.reason.contains("in use by another program") == true)
        }
        // Every tenth of a second, for two seconds.
        #expect(service.look(\.sharingViolations) == max(0, violations - 20))
    }

    @Test("Answers without a status word mean that the tag is lost", arguments: ["", "90"])
    func shortAnswers(answer: String) async throws {
        let link = try await Self.commands(PCSCReader(.first, layer: Self.card { _ in [UInt8](hex: answer) }))
        await #expect(throws: LinkError(.tagRemoved, "")) { _ = try await link.transmit([0, 0, 0, 0]) }
    }

    @Test(
        "The service's errors are the link's",
        arguments: [
            (SmartCardError.Code.removedCard, LinkError.Code.tagRemoved), (.noSmartcard, .tagRemoved),
            (.resetCard, .tagRemoved), (.notTransacted, .timeout), (.readerUnavailable, .readerUnavailable),
            (.noService, .readerUnavailable), (.insufficientBuffer, .frameTooLong), (.unsupportedFeature, .unsupported),
        ]
    )
    func errors(code: SmartCardError.Code, wanted: LinkError.Code) async throws {
        let link = try await Self.commands(
            PCSCReader(
                .first,
                layer: Self.card { _ throws(SmartCardError) in throw SmartCardError(code, "SCardTransmit") }
            )
        )
        #expect(await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 0, 0, 0]) }?.code == wanted)
    }

    @Test("A call that does not come back is cut at its limit, and the next one goes through")
    func hang() async throws {
        let box = Locked<ScriptedService?>(nil)
        let service = Self.card { command throws(SmartCardError) in
            if command == [0, 1, 2, 3] { try box.withLock { $0 }?.hang() }
            return [0x90, 0x00]
        }
        box.withLock { $0 = service }
        // The calls that do not hang must not meet the limit on a busy machine.
        let reader = PCSCReader(.first, layer: service, limits: .same(3000))
        let link = try await Self.commands(reader)
        await #expect(throws: LinkError(.readerUnavailable, "")) { _ = try await link.transmit([0, 1, 2, 3]) }
        service.change { $0.abandoned = [] }
        let again = try await Self.commands(reader)
        #expect(try await again.transmit([0, 0, 0, 0]) == [0x90, 0x00])
        box.withLock { $0 = nil }
    }

    @Test("Cancelling a task ends the call it waits for")
    func cancellation() async throws {
        let box = Locked<ScriptedService?>(nil)
        let (started, mark) = AsyncStream.makeStream(of: Void.self)
        let service = Self.card { _ throws(SmartCardError) in
            mark.yield()
            try box.withLock { $0 }?.hang()
            return [0x90, 0x00]
        }
        box.withLock { $0 = service }
        let link = try await Self.commands(PCSCReader(.first, layer: service, limits: .same(Self.long)))
        let task = Task { await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 1, 2, 3]) } }
        for await _ in started { break }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        box.withLock { $0 = nil }
    }

    @Test("Interrupting ends a call on the driver's own thread, and fails the next ones until the reader is let go of")
    func interruption() async throws {
        let box = Locked<ScriptedService?>(nil)
        let (started, mark) = AsyncStream.makeStream(of: Void.self)
        let service = Self.card { command throws(SmartCardError) in
            guard command == [0, 1, 2, 3] else { return [0x90, 0x00] }
            mark.yield()
            try box.withLock { $0 }?.hang()
            return [0x90, 0x00]
        }
        box.withLock { $0 = service }
        let reader = PCSCReader(.first, layer: service, limits: .same(Self.long))
        let link = try await Self.commands(reader)
        let executor = try #require(reader.executor)
        let task = Task(executorPreference: executor) {
            await #expect(throws: LinkError.self) { _ = try await link.transmit([0, 1, 2, 3]) }
        }
        for await _ in started { break }
        reader.interrupt()
        #expect(await task.value?.code == .cancelled)
        let failure = await #expect(throws: LinkError.self) { _ = try await reader.discover(Self.all, systemCodes: []) }
        #expect(failure != nil)
        await reader.release()
        service.change { $0.abandoned = [] }
        let again = try await Self.commands(reader)
        #expect(try await again.transmit([0, 0, 0, 0]) == [0x90, 0x00])
        box.withLock { $0 = nil }
    }

    @Test("A long command does not go to a reader that says it takes none")
    func extended() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        // The list of features has one, the properties; among them dwMaxAPDUDataSize 256.
        service.change { $0.controls = [0x4200_0D48: [0x12, 4, 0x42, 0, 0, 9], 0x4200_0009: [10, 4, 0, 1, 0, 0]] }
        let link = try await Self.commands(PCSCReader(.first, layer: service))
        #expect(link.maximumCommandLength == 261)
        #expect(try await link.transmit([UInt8](repeating: 0, count: 261)) == [0x90, 0x00])
        let long = [UInt8](repeating: 0, count: 300)
        await #expect(throws: LinkError(.frameTooLong, "")) { _ = try await link.transmit(long) }
        service.change { $0.controls[0x4200_0009] = [10, 4, 0, 0, 1, 0] }
        let other = try await Self.commands(PCSCReader(.first, layer: service))
        #expect(try await other.transmit(long) == [0x90, 0x00])
        // A driver that does not say it may take them.
        service.change { $0.controls = [:] }
        let unknown = try await Self.commands(PCSCReader(.first, layer: service))
        #expect(unknown.maximumCommandLength == 65544 && unknown.maximumResponseLength == 65538)
        #expect(link.maximumResponseLength == 258)
    }

    @Test("An observer is called for a card that was swapped for another between two looks")
    func swap() async throws {
        let card = ScriptedService.Card(answerToReset: [0x3B, 0x80]) { _ in [] }
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader", card: card)])
        let reader = PCSCReader(.first, layer: service)
        let (changes, mark) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { mark.yield() }
        var iterator = changes.makeAsyncIterator()
        while service.look(\.looks) < 2 { await Task.yield() }
        // Its flags are the same, and only the service's counter is not.
        service.change { $0.readers[0].events += 2 }
        await iterator.next()
        withExtendedLifetime(observation) {}
    }

    @Test("An observer is called for cards, readers and the service, and nothing is asked while nothing happens")
    func presence() async throws {
        let service = ScriptedService([ScriptedService.Reader(name: "NFC reader")])
        let reader = PCSCReader(.first, layer: service)
        let (changes, mark) = AsyncStream.makeStream(of: Void.self)
        let observation = reader.observePresence { mark.yield() }
        var iterator = changes.makeAsyncIterator()
        // The monitor has looked, and waits.
        while service.look(\.looks) < 2 { await Task.yield() }
        service.change { state in
            state.readers[0].card = ScriptedService.Card(answerToReset: [0x3B, 0x80]) { _ in [] }
            state.readers[0].events += 1
        }
        await iterator.next()
        service.change { $0.readers.append(ScriptedService.Reader(name: "Another NFC reader")) }
        await iterator.next()
        // The monitor disconnects when it has seen the end of the service.
        service.change { $0.isRunning = false }
        await iterator.next()
        while !service.look(\.contexts).isEmpty { await Task.yield() }
        service.change { $0.isRunning = true }
        await iterator.next()
        while service.look(\.contexts).isEmpty { await Task.yield() }
        let looks = service.look(\.looks)
        for _ in 0..<100 { await Task.yield() }
        #expect(service.look(\.looks) <= looks + 2)
        withExtendedLifetime(observation) {}
    }

    @Test("A task on the driver's own thread needs no other thread to exchange something")
    func ownThread() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        let link = try await Self.commands(reader)
        let executor = try #require(reader.executor)
        let answers = await Task(executorPreference: executor) {
            var count = 0
            for _ in 0..<1000 where (try? await link.transmit([0, 0, 0, 0])) == [0x90, 0x00] { count += 1 }
            return count
        }.value
        #expect(answers == 1000)
        #expect(reader.statistics.exchanges >= 1000)
    }

    @Test("Whether the reader is there can be asked without a tag")
    func prepare() async throws {
        let service = Self.card { _ in [0x90, 0x00] }
        let reader = PCSCReader(.first, layer: service)
        try await reader.prepare()
        service.change { $0.readers = [] }
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await reader.prepare() }
    }
}
