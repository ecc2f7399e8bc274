// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
@unsafe @preconcurrency import CoreNFC
import Foundation
import LinuxSupport
import NFCReaders
import NFCSessions
import NFCTestKit
import ReaderEmulation
import TagLink
import TestThreads
import Testing

/// An app that is a card: its events, which commands it gets, which of its answers count, and when it ends.
@Suite(.timeLimit(.minutes(1))) struct CardSessionTests {
    static let select = bytes("00a4040007d276000085010100")
    static let read = bytes("00b0000002")
    private static let done = Data([0x90, 0])
    private static let notFound: [UInt8] = [0x6A, 0x82]

    private typealias Rights = AppConfiguration.PropertyFile

    /// An app that may emulate applications with these prefixes.
    private static func app(_ prefixes: [String]) -> AppConfiguration {
        AppConfiguration(
            entitlements: Rights(
                path: "App.entitlements",
                values: [
                    "com.apple.developer.nfc.hce": ["true"],
                    "com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes": prefixes,
                ]
            )
        )
    }

    /// Runs `body` with a virtual reader as the port.
    private static func withReader<Value>(
        _ app: AppConfiguration = AppConfiguration(),
        _ body: (VirtualCardReader, VirtualFieldScope) async throws -> Value
    ) async rethrows -> Value {
        try await withVirtualField { field in
            try await AppConfiguration.$scoped.withValue(app) { try await body(field.cardReader, field) }
        }
    }

    /// Answers each command with its own bytes and 9000, until the session is over.
    ///
    /// - Returns: the session's events, and each command in hex.
    private static func echo(_ session: CardSession) async throws -> [String] {
        var log: [String] = []
        for try await event in session.eventStream {
            switch event {
            case .sessionStarted: log.append("started")
            case .readerDetected: log.append("detected")
            case .received(let apdu):
                log.append(apdu.payload.hexText())
                try await apdu.respond(response: apdu.payload + done)
            case .readerDeselected: log.append("deselected")
            case .sessionInvalidated(let reason): log.append("\(reason)")
            }
        }
        return log
    }

    /// Runs an app that echoes what a reader sends, until `body` is over.
    ///
    /// - Returns: the session's events, and each command in hex.
    private static func echoing(
        _ app: AppConfiguration = AppConfiguration(),
        _ body: (VirtualCardReader, CardSession) async throws -> Void
    ) async throws -> [String] {
        try await withReader(app) { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            async let log = echo(session)
            reader.approach()
            try await body(reader, session)
            session.invalidate()
            return try await log
        }
    }

    /// Sends commands, and expects an echo for those that the app gets, and 6A82 for the others.
    private static func send(_ commands: [(command: [UInt8], isTaken: Bool)], _ reader: VirtualCardReader) async throws
    {
        for (command, isTaken) in commands {
            let answer = try await reader.transmit(command)
            #expect(answer == (isTaken ? command + done : notFound), "\(command.hexText())")
        }
    }

    // MARK: Commands

    @Test func `Card session: the app answers commands from its SELECT on, until the reader leaves or emulation stops`()
        async throws
    {
        let log = try await Self.echoing { reader, session in
            #expect(CardSession.isSupported)
            #expect(await CardSession.isEligible)
            #expect(await session.isEmulationInProgress)
            try await Self.send([(Self.read, false), (Self.select, true), (Self.read, true)], reader)
            reader.leave()
            reader.approach()
            try await Self.send([(Self.read, false), (Self.select, true)], reader)
            await session.stopEmulation(status: .success)
            #expect(await !session.isEmulationInProgress)
            await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.transmit(Self.read) }
            try await session.startEmulation()
            try await Self.send([(Self.read, false)], reader)
            session.invalidate()
            await #expect(throws: CardSession.Error.invalidated) { try await session.startEmulation() }
        }
        let select = Self.select.hexText()
        let expected = ["started", "detected", select, Self.read.hexText(), "deselected", "detected", select]
        #expect(log == expected + ["invalidated"])
    }

    @Test func `SELECT of an application that the app does not list: refused, and no application is selected then`()
        async throws
    {
        let commands: [(command: [UInt8], isTaken: Bool)] = [
            (Self.select, true), (Self.read, true), (bytes("00a4040002a000"), false), (Self.read, false),
            (bytes("00a4040001f0"), true), (Self.read, true),
        ]
        let log = try await Self.echoing(Self.app(["d276", "F0"])) { reader, _ in
            try await Self.send(commands, reader)
        }
        let taken = commands.filter(\.isTaken).map { $0.command.hexText() }
        #expect(log == ["started", "detected"] + taken + ["invalidated"])
    }

    @Test func `Card session command: passed unchanged to the selected application; a malformed SELECT gets 6A81`()
        async throws
    {
        // A SELECT by file, one that is cut, and commands that are shorter than any.
        let others = ["00a4000c02e103", "00a404", "00a4", "00", ""].map(bytes)
        _ = try await Self.echoing { reader, _ in
            // A SELECT by name with a wrong length, and one with two bytes too many.
            for command in ["00a40400090102", "00a4040007d27600008501010000"] {
                #expect(try await reader.transmit(bytes(command)) == [0x6A, 0x81])
            }
            try await Self.send(others.map { ($0, false) } + [(Self.select, true)] + others.map { ($0, true) }, reader)
        }
    }

    // MARK: Answers

    /// A session that emulates, and the commands of its reader.
    private struct Emulation {
        let session: CardSession
        let reader: VirtualCardReader
        let events: CardSession.EventStream.Iterator

        init(_ reader: VirtualCardReader) async throws {
            session = try await CardSession()
            try await session.startEmulation()
            events = session.eventStream.makeAsyncIterator()
            self.reader = reader
            reader.approach()
        }

        /// The command of a reader that waits for its answer.
        func command() async throws -> (CardSession.APDU, Task<[UInt8], any Error>) {
            let reader = reader
            let answer = Task { try await reader.transmit(select) }
            while let event = try await events.next() {
                if case .received(let apdu) = event { return (apdu, answer) }
            }
            throw CardSession.Error.invalidated
        }
    }

    @Test func `respond(response:): fails without a status word, a second time, or for a command that has ended`()
        async throws
    {
        try await Self.withReader { reader, _ in
            let emulation = try await Emulation(reader)
            func respond(_ apdu: CardSession.APDU, _ data: Data = CardSessionTests.done) async -> CardSession.Error? {
                do {
                    try await apdu.respond(response: data)
                    return nil
                } catch {
                    return error as? CardSession.Error
                }
            }
            let (apdu, answer) = try await emulation.command()
            #expect([UInt8](apdu.payload) == Self.select)
            #expect(await respond(apdu, Data([0x90])) == .transmissionError)
            #expect(await respond(apdu) == nil)
            #expect(try await answer.value == [0x90, 0])
            #expect(await respond(apdu) == .transmissionError)
            // A reader that leaves.
            let (old, lost) = try await emulation.command()
            reader.leave()
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await lost.value }
            #expect(await respond(old) == .transmissionError)
            reader.approach()
            let (new, next) = try await emulation.command()
            #expect(new != old && new == new)
            #expect(await respond(old) == .transmissionError)
            #expect(await respond(new, Data([1]) + Self.done) == nil)
            #expect(try await next.value == [1, 0x90, 0])
            // Emulation that stops, and begins again.
            for begins in [false, true] {
                let (late, pending) = try await emulation.command()
                await emulation.session.stopEmulation(status: .failure)
                await #expect(throws: VirtualCardReader.Failure.cardLost) { try await pending.value }
                if begins { try await emulation.session.startEmulation() }
                #expect(await respond(late) == (begins ? .transmissionError : .emulationStopped))
                try await emulation.session.startEmulation()
            }
            emulation.session.invalidate()
            #expect(await respond(old) == .invalidated)
        }
    }

    // MARK: The end

    @Test func `Card session: ends after a minute, and a reader's waiting command fails with cardLost`() async throws {
        try await Self.withReader { reader, field in
            let emulation = try await Emulation(reader)
            let (_, pending) = try await emulation.command()
            field.clock.advance(by: .milliseconds(59_999))
            try await emulation.session.startEmulation()
            field.clock.advance(by: .milliseconds(1))
            guard case .sessionInvalidated(.maxSessionDurationReached)? = try await emulation.events.next() else {
                throw SessionEnded()
            }
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await pending.value }
            await #expect(throws: CardSession.Error.invalidated) { try await emulation.session.startEmulation() }
        }
    }

    @Test func `Card session: one at a time, and none without a port or an entitlement, or beside another program`()
        async throws
    {
        try await Self.withReader { _, _ in
            let session = try await CardSession()
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
            session.invalidate()
            _ = try await CardSession()
        }
        let taken = Port(isFree: false)
        let app = AppConfiguration(entitlements: Rights(path: "App.entitlements", values: [:]))
        let rows: [((any CardReaderPort)?, AppConfiguration, CardSession.Error, NFCPresentmentIntentAssertion.Error?)] =
            [
                (nil, AppConfiguration(), .systemNotAvailable, .systemNotAvailable),
                (taken, AppConfiguration(), .systemNotAvailable, nil),
                (taken, app, .accessNotAccepted, .systemEligibilityFailed),
            ]
        for (port, app, error, intentError) in rows {
            let environment = NFCEnvironment(reader: .none(reason: "None."), cardPort: port, belongsToTest: true)
            await NFCEnvironment.$scoped.withValue(environment) {
                await AppConfiguration.$scoped.withValue(app) {
                    #expect(CardSession.isSupported == (port != nil))
                    await #expect(throws: error) { _ = try await CardSession() }
                    guard let intentError else { return }
                    #expect(await !CardSession.isEligible)
                    await #expect(throws: intentError) { _ = try await NFCPresentmentIntentAssertion.acquire() }
                }
            }
        }
        #expect(!taken.log.isEmpty && !taken.log.contains("claimed for card"))
    }

    // MARK: The intent to present

    /// When an assertion is released, in milliseconds, or nil for never; and the last moment without another one.
    @Test(arguments: [(4_000, 18_999), (14_999, 29_998), (20_000, 29_999), (nil, 29_999)] as [(Int?, Int)])
    func `Presentment intent: valid for 15 seconds; the next one is available 15 seconds after its end`(
        release: Int?,
        last: Int
    ) async throws {
        try await Self.withReader { _, field in
            var now = 0
            func wait(until time: Int) {
                field.clock.advance(by: .milliseconds(time - now))
                now = time
            }
            var kept: NFCPresentmentIntentAssertion? = try await NFCPresentmentIntentAssertion.acquire()
            for (time, isValid) in [(0, true), (14_999, true), (15_000, false)] where time <= release ?? .max {
                wait(until: time)
                #expect(kept?.isValid == isValid)
            }
            if let release {
                wait(until: release)
                kept = nil
            }
            wait(until: last)
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemNotAvailable) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
            wait(until: last + 1)
            let next = try await NFCPresentmentIntentAssertion.acquire()
            // An old one that is let go of late takes nothing from it.
            kept = nil
            wait(until: last + 15_000)
            #expect(next.isValid && kept == nil)
            wait(until: last + 15_001)
            #expect(!next.isValid)
        }
    }

    // MARK: The port

    /// A port without a reader, and a service that gives its reader away. Both record their calls in one list.
    private final class Port: CardReaderPort, ReaderSharing {
        private let calls = Locked<[String]>([])
        private let isFree: Bool

        init(isFree: Bool = true) { self.isFree = isFree }

        private final class Claim: ReaderClaim {
            let port: Port
            init(_ port: Port) { self.port = port }
            deinit { port.add("given back") }
            func note(_ identifiers: [[UInt8]]) {}
        }

        var log: [String] { calls.withLock { $0 } }
        private func add(_ call: String) { calls.withLock { $0.append(call) } }

        func attach(_ card: any EmulatedCard) -> Bool {
            add("attach")
            return isFree
        }

        func detach(_ card: any EmulatedCard) { add("detach") }
        func setEmulating(_ isEmulating: Bool) { add("emulates \(isEmulating)") }

        func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
            add("claimed for \(purpose)")
            return Claim(self)
        }
    }

    @Test(arguments: [true, false])
    func `Card port: told of each start and stop of emulation once, and detached when the session ends or is freed`(
        isKept: Bool
    ) async throws {
        let (port, clock) = (Port(), ManualClock())
        let environment = NFCEnvironment(
            reader: .none(reason: "None."),
            clock: clock,
            cardPort: port,
            belongsToTest: true,
            gate: port
        )
        try await NFCEnvironment.$scoped.withValue(environment) {
            var session: CardSession? = try await CardSession()
            for _ in 0..<2 { try await session?.startEmulation() }
            for _ in 0..<2 { await session?.stopEmulation(status: .success) }
            for _ in 0..<2 { try await session?.startEmulation() }
            #expect(clock.scheduledEventCount == 1)
            if isKept { for _ in 0..<2 { session?.invalidate() } } else { session = nil }
            #expect(clock.scheduledEventCount == 0)
        }
        let emulations = ["emulates true", "emulates false", "emulates true"]
        #expect(port.log.dropLast(2) == (["attach", "claimed for card"] + emulations)[...])
        #expect(Set(port.log.suffix(2)) == ["detach", "given back"])
    }

    // MARK: Behind pcscd

    /// The driver that pcscd loads.
    private enum Driver {
        static let lun: UInt = 0x20_0000

        /// Calls the driver on another thread, because it blocks until the answer.
        ///
        /// - Returns: the answer; nothing when it fails.
        private static func call(
            _ body: @escaping @Sendable (inout [UInt8], inout UInt) -> Int
        ) async -> String {
            await withCompletion { done in
                DispatchQueue.global().async {
                    var (answer, length): ([UInt8], UInt) = ([UInt8](repeating: 0, count: 300), 300)
                    let result = body(&answer, &length)
                    done(result == 0 ? answer.prefix(Int(length)).hexText() : "")
                }
            }
        }

        static func power(_ action: UInt) async -> String {
            await call { unsafe IFDHPowerICC(lun, action, &$0, &$1) }
        }

        static func transmit(_ apdu: [UInt8]) async -> String {
            await call { answer, length in
                var apdu = apdu
                var header = IFDHeader(protocol: 1, length: 16)
                return unsafe IFDHTransmitToICC(lun, header, &apdu, UInt(apdu.count), &answer, &length, &header)
            }
        }
    }

    @Test func `PC/SC: other programs find the app as a card while the app emulates one`() async throws {
        // On its own threads, because the driver can't wait until the shared threads of all tests are free.
        try await withTaskExecutorPreference(QueueExecutor(target: nil)) { try await meetTheApp() }
    }

    private func meetTheApp() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ocn-card-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/reader.sock"
        let environment = NFCEnvironment(ReaderConfiguration(reader: "none", cardReader: "pcsc:" + path))
        var name = Array("/dev/null:\(path)".utf8CString)
        #expect(unsafe IFDHCreateChannelByName(Driver.lun, &name) == 0)
        try await NFCEnvironment.$scoped.withValue(environment) {
            let session = try await CardSession()
            async let log = Self.echo(session)
            // 615 is a card, and 616 none.
            #expect(IFDHICCPresence(Driver.lun) == 616)
            try await session.startEmulation()
            try await waitWhile(IFDHICCPresence(Driver.lun) != 615)
            #expect(await Driver.power(500) == "3b80800101")
            // The reader answers for the UID, which is a random one, and the app for its application.
            #expect(await Driver.transmit(bytes("ffca000000")).hasPrefix("08"))
            for command in [Self.select, Self.read] {
                #expect(await Driver.transmit(command) == command.hexText() + "9000")
            }
            // A reset takes the selection.
            _ = await Driver.power(502)
            #expect(await Driver.transmit(Self.read) == "6a82")
            await session.stopEmulation(status: .success)
            try await waitWhile(IFDHICCPresence(Driver.lun) != 616)
            session.invalidate()
            let events = try await log
            #expect(Set(events).isSuperset(of: ["detected", Self.select.hexText(), "deselected"]))
            #expect(events.last == "invalidated")
        }
        #expect(IFDHCloseChannel(Driver.lun) == 0)
    }
}
