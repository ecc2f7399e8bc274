// SPDX-License-Identifier: Apache-2.0
import CIFDHandler
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCReaders
import NFCRuntime
import NFCTestKit
import ReaderEmulation
import TagLink
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
    private static func withReader(
        _ app: AppConfiguration = AppConfiguration(),
        _ body: (VirtualCardReader, VirtualFieldScope) async throws -> Void
    ) async rethrows {
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

    /// A session that emulates, and the next command of its reader.
    private struct Emulation {
        let session: CardSession
        let events: CardSession.EventStream.Iterator

        init() async throws {
            session = try await CardSession()
            try await session.startEmulation()
            events = session.eventStream.makeAsyncIterator()
        }

        func command() async throws -> CardSession.APDU {
            while let event = try await events.next() {
                if case .received(let apdu) = event { return apdu }
            }
            throw CardSession.Error.invalidated
        }
    }

    // MARK: Commands

    @Test func `Card session: the app answers a reader, from its selection to the next`() async throws {
        try await Self.withReader { reader, _ in
            #expect(CardSession.isSupported)
            #expect(await CardSession.isEligible)
            let session = try await CardSession()
            #expect(await !session.isEmulationInProgress)
            try await session.startEmulation()
            #expect(await session.isEmulationInProgress)
            async let log = Self.echo(session)
            reader.approach()
            #expect(try await reader.transmit(Self.read) == Self.notFound)
            #expect(try await reader.transmit(Self.select) == Self.select + Self.done)
            #expect(try await reader.transmit(Self.read) == Self.read + Self.done)
            reader.leave()
            reader.approach()
            #expect(try await reader.transmit(Self.read) == Self.notFound)
            #expect(try await reader.transmit(Self.select) == Self.select + Self.done)
            await session.stopEmulation(status: .success)
            #expect(await !session.isEmulationInProgress)
            await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.transmit(Self.read) }
            try await session.startEmulation()
            #expect(try await reader.transmit(Self.read) == Self.notFound)
            session.alertMessage = "Hold it near."
            #expect(session.alertMessage == "Hold it near.")
            session.invalidate()
            session.invalidate()
            #expect(
                try await log == [
                    "started", "detected", Self.select.hexText(), Self.read.hexText(), "deselected", "detected",
                    Self.select.hexText(), "invalidated",
                ]
            )
            await #expect(throws: CardSession.Error.invalidated) { try await session.startEmulation() }
        }
    }

    @Test func `Application that the app does not list: refused without it, and takes the place of the selected one`()
        async throws
    {
        try await Self.withReader(Self.app(["d276", "F0"])) { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            async let log = Self.echo(session)
            reader.approach()
            let rows = [
                (Self.select, true), (Self.read, true), (bytes("00a4040002a000"), false), (Self.read, false),
                (bytes("00a4040001f0"), true), (Self.read, true),
            ]
            for (command, isTaken) in rows {
                #expect(try await reader.transmit(command) == (isTaken ? command + Self.done : Self.notFound))
            }
            session.invalidate()
            let taken = rows.filter(\.1).map { $0.0.hexText() }
            #expect(try await log == ["started", "detected"] + taken + ["invalidated"])
        }
    }

    @Test func `Commands other than SELECT by name: go to the selected application as they are`() async throws {
        // A SELECT by file, one without a name, one that is cut, and commands that are shorter than any.
        let others = ["00a4000c02e103", "00a40400090102", "00a404", "00a4", "00", ""].map(bytes)
        try await Self.withReader { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            async let log = Self.echo(session)
            reader.approach()
            for command in others { #expect(try await reader.transmit(command) == Self.notFound) }
            #expect(try await reader.transmit(Self.select).suffix(2) == [0x90, 0])
            for command in others { #expect(try await reader.transmit(command) == command + Self.done) }
            session.invalidate()
            #expect(try await log.dropFirst(2).dropLast() == ([Self.select] + others).map { $0.hexText() }[...])
        }
    }

    // MARK: Answers

    @Test func `Answer: has a status word, is given once, and not to a later command`() async throws {
        try await Self.withReader { reader, _ in
            let emulation = try await Emulation()
            reader.approach()
            async let answer = reader.transmit(Self.select)
            let apdu = try await emulation.command()
            #expect([UInt8](apdu.payload) == Self.select)
            #expect(apdu.debugDescription == "CardSession.APDU(00a4040007d276000085010100)")
            func respond(_ apdu: CardSession.APDU, _ data: Data = CardSessionTests.done) async -> CardSession.Error? {
                do {
                    try await apdu.respond(response: data)
                    return nil
                } catch {
                    return error as? CardSession.Error
                }
            }
            #expect(await respond(apdu, Data([0x90])) == .transmissionError)
            #expect(await respond(apdu) == nil)
            #expect(try await answer == [0x90, 0])
            #expect(await respond(apdu) == .transmissionError)
            // A reader that leaves.
            let lost = Task { try await reader.transmit(Self.select) }
            let old = try await emulation.command()
            reader.leave()
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await lost.value }
            #expect(await respond(old) == .transmissionError)
            reader.approach()
            let next = Task { try await reader.transmit(Self.select) }
            let new = try await emulation.command()
            #expect(new != old && new == new)
            #expect(await respond(old) == .transmissionError)
            #expect(await respond(new, Data([1]) + Self.done) == nil)
            #expect(try await next.value == [1, 0x90, 0])
            // Emulation that stops, and begins again.
            for begins in [false, true] {
                let pending = Task { try await reader.transmit(Self.select) }
                let late = try await emulation.command()
                await emulation.session.stopEmulation(status: .failure)
                await #expect(throws: VirtualCardReader.Failure.cardLost) { try await pending.value }
                if begins { try await emulation.session.startEmulation() }
                #expect(await respond(late) == (begins ? .transmissionError : .emulationStopped))
                try await emulation.session.startEmulation()
            }
            // A reader that leaves before the emulation stops.
            let left = Task { try await reader.transmit(Self.select) }
            let gone = try await emulation.command()
            reader.leave()
            await emulation.session.stopEmulation(status: .success)
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await left.value }
            #expect(await respond(gone) == .transmissionError)
            emulation.session.invalidate()
            #expect(await respond(gone) == .invalidated)
        }
    }

    // MARK: The end

    @Test func `Card session: lasts a minute, and with it what a reader waits for`() async throws {
        try await Self.withReader { reader, field in
            let emulation = try await Emulation()
            reader.approach()
            let pending = Task { try await reader.transmit(Self.select) }
            _ = try await emulation.command()
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

    @Test func `Card session: one at a time, and none without a port or an entitlement`() async throws {
        try await Self.withReader { _, _ in
            let session = try await CardSession()
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
            session.invalidate()
            _ = try await CardSession()
        }
        let environment = NFCEnvironment(reader: .none(reason: "There is none."), isOfTest: true)
        await NFCEnvironment.$scoped.withValue(environment) {
            #expect(!CardSession.isSupported)
            #expect(await !CardSession.isEligible)
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemNotAvailable) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
        }
        let rights = Rights(path: "App.entitlements", values: [:])
        await Self.withReader(AppConfiguration(entitlements: rights)) { _, _ in
            #expect(await !CardSession.isEligible)
            await #expect(throws: CardSession.Error.accessNotAccepted) { _ = try await CardSession() }
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemEligibilityFailed) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
        }
    }

    // MARK: The intent to present

    /// When an assertion is released, and when the next one can be had, in milliseconds; nil for never.
    @Test(arguments: [(4_000, 18_999), (20_000, 29_999), (14_999, 29_998), (nil, 29_999)] as [(Int?, Int)])
    func `Presentment intent: valid for 15 seconds, and the next one 15 seconds after its end`(
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
            for (time, isValid) in [(0, true), (14_999, true), (15_000, false), (20_000, false)] {
                if let release, time >= release { break }
                wait(until: time)
                #expect(kept?.isValid == isValid)
            }
            if let release {
                wait(until: release)
                #expect(kept?.isValid == (release < 15_000))
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
        let calls = Locked<[String]>([])
        private let isFree: Bool
        private let onClaim: @Sendable () -> Void

        init(isFree: Bool = true, onClaim: @escaping @Sendable () -> Void = {}) {
            (self.isFree, self.onClaim) = (isFree, onClaim)
        }

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
            onClaim()
            return Claim(self)
        }
    }

    private static func withPort(
        _ port: Port,
        clock: ManualClock = ManualClock(),
        _ body: () async throws -> Void
    ) async rethrows {
        let reader = NFCEnvironment.Reader.none(reason: "None.")
        let environment = NFCEnvironment(reader: reader, clock: clock, cardPort: port, isOfTest: true, gate: port)
        try await NFCEnvironment.$scoped.withValue(environment) { try await body() }
    }

    @Test func `Port: hears of each change once, and the reader is given back at the end`() async throws {
        let (port, clock) = (Port(), ManualClock())
        try await Self.withPort(port, clock: clock) {
            let session = try await CardSession()
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
            let emulations = ["emulates true", "emulates false", "emulates true"]
            let ends = Set(port.log.suffix(2))
            #expect(port.log.dropLast(2) == (["attach", "claimed for card"] + emulations)[...])
            #expect(ends == ["detach", "given back"])
        }
    }

    @Test func `Port: a session that nobody keeps ends, and one whose port is taken, or whose minute is over at once`()
        async throws
    {
        let port = Port()
        try await Self.withPort(port) {
            _ = try await CardSession()
            #expect(Set(port.log) == ["attach", "claimed for card", "detach", "given back"])
        }
        let taken = Port(isFree: false)
        await Self.withPort(taken) {
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
            #expect(!taken.log.contains("claimed for card"))
        }
        let clock = ManualClock()
        // The service answers after a minute.
        let late = Port { clock.advance(by: .seconds(60)) }
        try await Self.withPort(late, clock: clock) {
            let session = try await CardSession()
            #expect(late.log == ["attach", "claimed for card", "detach", "given back"])
            withExtendedLifetime(session) {}
        }
    }

    // MARK: Behind pcscd

    /// The driver that pcscd loads.
    private enum Driver {
        static let lun: UInt = 0x20_0000

        static func wait(for presence: Int) async throws {
            for _ in 0..<5000 {
                if IFDHICCPresence(lun) == presence { return }
                try await Task.sleep(for: .milliseconds(1))
            }
            Issue.record("The card did not come or go in five seconds.")
        }

        /// Calls the driver on another thread, because it blocks until the answer.
        private static func call<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await handedOver { done in DispatchQueue.global().async { done(body()) } }
        }

        static func power(_ action: UInt) async -> String {
            await call {
                var atr = [UInt8](repeating: 0, count: 33)
                var length: UInt = 33
                let result = unsafe IFDHPowerICC(lun, action, &atr, &length)
                return result == 0 ? atr.prefix(Int(length)).hexText() : ""
            }
        }

        static func transmit(_ apdu: [UInt8]) async -> String {
            await call {
                var apdu = apdu
                var response = [UInt8](repeating: 0, count: 300)
                var length: UInt = 300
                var header = IFDHeader(protocol: 1, length: 16)
                let result = unsafe IFDHTransmitToICC(lun, header, &apdu, UInt(apdu.count), &response, &length, &header)
                return result == 0 ? response.prefix(Int(length)).hexText() : ""
            }
        }
    }

    @Test func `PC/SC: other programs meet the app as a card`() async throws {
        // On its own threads, because the driver can't wait until the shared threads of all tests are free.
        try await withTaskExecutorPreference(ServerExecutor(label: "CardSessionTests")) { try await meetTheApp() }
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
            #expect(IFDHICCPresence(Driver.lun) == 616)
            try await session.startEmulation()
            try await Driver.wait(for: 615)
            #expect(await Driver.power(500) == "3b80800101")
            // The reader answers for the UID, which is a random one, and the app for its application.
            let uid = await Driver.transmit(bytes("ffca000000"))
            #expect(uid.count == 12 && uid.hasPrefix("08"))
            #expect(await Driver.transmit(Self.select) == Self.select.hexText() + "9000")
            #expect(await Driver.transmit(Self.read) == Self.read.hexText() + "9000")
            // A reset takes the selection.
            _ = await Driver.power(502)
            #expect(await Driver.transmit(Self.read) == "6a82")
            await session.stopEmulation(status: .success)
            try await Driver.wait(for: 616)
            session.invalidate()
            let events = try await log
            #expect(Set(events).isSuperset(of: ["detected", Self.select.hexText(), "deselected"]))
            #expect(events.last == "invalidated")
        }
        #expect(IFDHCloseChannel(Driver.lun) == 0)
    }
}
