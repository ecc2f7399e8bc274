// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import TagLink
import Testing

/// Checks which commands of a reader an app gets, and which of its answers count.
@Suite(.timeLimit(.minutes(1))) struct `Commands to an app that is a card` {
    private typealias Sessions = `A card session`

    private static let done = Data([0x90, 0])

    private static func command(_ events: CardSession.EventStream.Iterator) async throws -> CardSession.APDU {
        while let event = try await events.next() {
            if case .received(let apdu) = event { return apdu }
        }
        throw CardSession.Error.invalidated
    }

    /// The first command of a reader that approaches a new session, and what waits for its answer.
    private static func firstCommand(of reader: VirtualCardReader) async throws -> (
        CardSession, CardSession.EventStream.Iterator, Task<[UInt8], any Error>, CardSession.APDU
    ) {
        let session = try await CardSession()
        try await session.startEmulation()
        let events = session.eventStream.makeAsyncIterator()
        reader.approach()
        let answer = Task<[UInt8], any Error> { try await reader.transmit(Sessions.select) }
        return (session, events, answer, try await command(events))
    }

    /// Answers each command with its own bytes and 9000.
    private static func echo(_ session: CardSession) async throws -> [String] {
        var log: [String] = []
        for try await event in session.eventStream {
            guard case .received(let apdu) = event else { continue }
            log.append([UInt8](apdu.payload).hexText())
            try await apdu.respond(response: apdu.payload + done)
        }
        return log
    }

    @Test func `An answer goes to its own command, and not to one that comes later`() async throws {
        try await Sessions.withReader { reader, _ in
            let (session, events, lost, old) = try await Self.firstCommand(of: reader)
            reader.leave()
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await lost.value }
            await #expect(throws: CardSession.Error.transmissionError) { try await old.respond(response: Self.done) }
            reader.approach()
            let next = Task { try await reader.transmit(Sessions.select) }
            let new = try await Self.command(events)
            #expect(new != old)
            await #expect(throws: CardSession.Error.transmissionError) { try await old.respond(response: Self.done) }
            try await new.respond(response: Data([1]) + Self.done)
            #expect(try await next.value == [1, 0x90, 0])
            session.invalidate()
        }
    }

    @Test(arguments: [true, false])
    func `A command has no reader to answer when that has left, and when the emulation began again`(leaves: Bool)
        async throws
    {
        try await Sessions.withReader { reader, _ in
            let (session, _, lost, command) = try await Self.firstCommand(of: reader)
            if leaves { reader.leave() }
            await session.stopEmulation(status: .success)
            if !leaves { try await session.startEmulation() }
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await lost.value }
            await #expect(throws: CardSession.Error.transmissionError) {
                try await command.respond(response: Self.done)
            }
            session.invalidate()
        }
    }

    @Test func `An application that the app does not list takes the place of the selected one`() async throws {
        let rights = AppConfiguration.PropertyFile(
            path: "App.entitlements",
            values: [
                "com.apple.developer.nfc.hce": ["true"],
                "com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes": ["d276", "F0"],
            ]
        )
        try await Sessions.withReader(AppConfiguration(entitlements: rights)) { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            async let log = Self.echo(session)
            reader.approach()
            #expect(try await reader.transmit(Sessions.select).suffix(2) == [0x90, 0])
            #expect(try await reader.transmit(Sessions.read).suffix(2) == [0x90, 0])
            #expect(try await reader.transmit([0, 0xA4, 4, 0, 2, 0xA0, 0]) == [0x6A, 0x82])
            #expect(try await reader.transmit(Sessions.read) == [0x6A, 0x82])
            #expect(try await reader.transmit([0, 0xA4, 4, 0, 1, 0xF0]).suffix(2) == [0x90, 0])
            #expect(try await reader.transmit(Sessions.read).suffix(2) == [0x90, 0])
            session.invalidate()
            #expect(try await log == ["00a4040007d276000085010100", "00b0000002", "00a4040001f0", "00b0000002"])
        }
    }

    @Test func `Only a SELECT by name selects, and other commands go to the selected application as they are`()
        async throws
    {
        // A SELECT by file, one without a name, one that is cut, and commands that are shorter than any.
        let others: [[UInt8]] = [
            [0, 0xA4, 0, 0x0C, 2, 0xE1, 3], [0, 0xA4, 4, 0, 9, 1, 2], [0, 0xA4, 4], [0, 0xA4], [0], [],
        ]
        try await Sessions.withReader { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            async let log = Self.echo(session)
            reader.approach()
            for command in others { #expect(try await reader.transmit(command) == [0x6A, 0x82]) }
            #expect(try await reader.transmit(Sessions.select).suffix(2) == [0x90, 0])
            for command in others { #expect(try await reader.transmit(command) == command + [0x90, 0]) }
            session.invalidate()
            #expect(try await log == ([Sessions.select] + others).map { $0.hexText() })
        }
    }

    // MARK: The port

    /// A port without a reader, which records its calls.
    private final class Port: CardReaderPort {
        let calls = Locked<[String]>([])
        /// The card that was attached last, until it is detached.
        let card = Locked<(any EmulatedCard)?>(nil)
        let isFree: Bool

        init(isFree: Bool = true) { self.isFree = isFree }

        func attach(_ card: any EmulatedCard) -> Bool {
            calls.withLock { $0.append("attach") }
            self.card.withLock { $0 = card }
            return isFree
        }

        func detach(_ card: any EmulatedCard) {
            calls.withLock { $0.append("detach") }
            self.card.withLock { $0 = nil }
        }

        func setEmulating(_ isEmulating: Bool) { calls.withLock { $0.append("emulates \(isEmulating)") } }
    }

    /// A service that gives its reader away.
    private final class Gate: ReaderSharing {
        let calls: Locked<[String]> = Locked([])
        /// What happens before the service answers.
        private let onClaim: (@Sendable () -> Void)?

        init(onClaim: (@Sendable () -> Void)? = nil) { self.onClaim = onClaim }

        private final class Claim: ReaderClaim {
            let gate: Gate
            init(_ gate: Gate) { self.gate = gate }
            deinit { gate.calls.withLock { $0.append("given back") } }
            func note(_ identifiers: [[UInt8]]) {}
        }

        func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
            calls.withLock { $0.append("claimed for \(purpose)") }
            onClaim?()
            return Claim(self)
        }
    }

    private static func environment(
        _ port: Port,
        clock: ManualClock = ManualClock(),
        gate: Gate? = nil
    ) -> NFCEnvironment {
        NFCEnvironment(reader: .none(reason: "None."), clock: clock, cardPort: port, isOfTest: true, gate: gate)
    }

    @Test func `The port hears of each change once, and of the end`() async throws {
        let (port, clock, gate) = (Port(), ManualClock(), Gate())
        try await NFCEnvironment.$scoped.withValue(Self.environment(port, clock: clock, gate: gate)) {
            let session = try await CardSession()
            #expect(gate.calls.withLock { $0 } == ["claimed for card"])
            await session.stopEmulation(status: .success)
            for _ in 0..<2 { try await session.startEmulation() }
            await session.stopEmulation(status: .success)
            await session.stopEmulation(status: .failure)
            for _ in 0..<2 { try await session.startEmulation() }
            #expect(clock.scheduledEventCount == 1)
            session.invalidate()
            session.invalidate()
            await session.stopEmulation(status: .success)
            #expect(clock.scheduledEventCount == 0)
            #expect(gate.calls.withLock { $0 } == ["claimed for card", "given back"])
            #expect(
                port.calls.withLock { $0 }
                    == ["attach", "emulates true", "emulates false", "emulates true", "detach"]
            )
        }
    }

    @Test func `A session that nobody keeps ends, and one that gets no port has no reader`() async throws {
        let port = Port()
        try await NFCEnvironment.$scoped.withValue(Self.environment(port)) {
            _ = try await CardSession()
            #expect(port.calls.withLock { $0 } == ["attach", "detach"])
        }
        let (taken, gate) = (Port(isFree: false), Gate())
        await NFCEnvironment.$scoped.withValue(Self.environment(taken, gate: gate)) {
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
            #expect(gate.calls.withLock { $0 } == [])
        }
    }

    /// What waits for an answer of a card.
    private final class Asker: Sendable {}

    enum Ending: CaseIterable, Sendable { case deselected, stopped, ended }

    @Test(arguments: Ending.allCases)
    func `A command that can't be answered any more keeps nothing of its reader`(ending: Ending) async throws {
        let port = Port()
        try await NFCEnvironment.$scoped.withValue(Self.environment(port)) {
            let session = try await CardSession()
            try await session.startEmulation()
            let card = try #require(port.card.withLock { $0 })
            weak var kept: Asker?
            do {
                let asker = Asker()
                kept = asker
                card.received(Sessions.select) { _ in withExtendedLifetime(asker) {} }
            }
            #expect(kept != nil)
            switch ending {
            case .deselected: card.readerDeselected()
            case .stopped: await session.stopEmulation(status: .success)
            case .ended: session.invalidate()
            }
            #expect(kept == nil)
        }
    }

    /// Runs a task's code at once, in the middle of the work that resumes the task.
    private final class AtOnce: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    @Test func `The port is free for the next session when the app learns of the end`() async throws {
        let (port, executor) = (Port(), AtOnce())
        try await NFCEnvironment.$scoped.withValue(Self.environment(port)) {
            let session = try await CardSession()
            let calls = Task(executorPreference: executor) {
                var calls: [String] = []
                for try await event in session.eventStream {
                    if case .sessionInvalidated = event { calls = port.calls.withLock { $0 } }
                }
                return calls
            }
            session.invalidate()
            #expect(try await calls.value == ["attach", "detach"])
        }
    }

    @Test func `A session lasts a minute, and has said by then why it ends`() async throws {
        let (port, clock) = (Port(), ManualClock())
        try await NFCEnvironment.$scoped.withValue(Self.environment(port, clock: clock)) {
            let session = try await CardSession()
            clock.advance(by: .milliseconds(59_999))
            try await session.startEmulation()
            clock.advance(by: .milliseconds(1))
            await #expect(throws: CardSession.Error.invalidated) { try await session.startEmulation() }
            var events: [String] = []
            for try await event in session.eventStream { events.append("\(event)") }
            #expect(events.count == 2 && events[0] == "sessionStarted")
            #expect(events[1].contains("maxSessionDurationReached"))
        }
    }

    @Test func `A session whose minute is over before the service answers gives the reader back at once`() async throws
    {
        let (port, clock) = (Port(), ManualClock())
        let gate = Gate { clock.advance(by: .seconds(60)) }
        try await NFCEnvironment.$scoped.withValue(Self.environment(port, clock: clock, gate: gate)) {
            let session = try await CardSession()
            #expect(gate.calls.withLock { $0 } == ["claimed for card", "given back"])
            #expect(port.calls.withLock { $0 } == ["attach", "detach"])
            withExtendedLifetime(session) {}
        }
    }
}
