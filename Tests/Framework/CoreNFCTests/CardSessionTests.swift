// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A card session` {
    static let select: [UInt8] = [0, 0xA4, 4, 0, 7, 0xD2, 0x76, 0, 0, 0x85, 1, 1, 0]
    static let read: [UInt8] = [0, 0xB0, 0, 0, 2]

    /// Runs a body with a virtual reader as the port.
    static func withReader(
        _ configuration: AppConfiguration = AppConfiguration(),
        _ body: (VirtualCardReader, VirtualFieldScope) async throws -> Void
    ) async rethrows {
        try await withVirtualField { field in
            try await AppConfiguration.$scoped.withValue(configuration) { try await body(field.cardReader, field) }
        }
    }

    /// Runs a body without a port, even if other tests have open fields.
    static func withoutReader(_ body: () async -> Void) async {
        let environment = NFCEnvironment(reader: .none(reason: "There is none."), isOfTest: true)
        await NFCEnvironment.$scoped.withValue(environment, operation: body)
    }

    @Test func `The app answers a reader`() async throws {
        try await Self.withReader { reader, _ in
            #expect(CardSession.isSupported)
            #expect(await CardSession.isEligible)
            let session = try await CardSession()
            try await session.startEmulation()
            #expect(await session.isEmulationInProgress)
            async let log = Self.serve(session)
            reader.approach()
            #expect(try await reader.transmit(Self.select) == [0x90, 0])
            #expect(try await reader.transmit(Self.read) == [0xB0, 0x90, 0])
            reader.leave()
            session.invalidate()
            #expect(try await log == ["started", "detected", "a4", "b0", "deselected", "invalidated"])
            await #expect(throws: CardSession.Error.invalidated) { try await session.startEmulation() }
        }
    }

    @Test func `A test's reader waits for the app that becomes a card`() async throws {
        try await Self.withReader { reader, _ in
            reader.approach()
            await #expect(throws: VirtualCardReader.Failure.noCard) {
                try await reader.untilCardIsThere(limit: .milliseconds(5))
            }
            let session = try await CardSession()
            async let log = Self.serve(session)
            Task { try await session.startEmulation() }
            try await reader.untilCardIsThere(limit: .seconds(60))
            #expect(try await reader.transmit(Self.select) == [0x90, 0])
            session.invalidate()
            #expect(try await log.contains("a4"))
        }
    }

    /// Answers every command, the first one with 9000 and others with their instruction, until the session is over.
    static func serve(_ session: CardSession) async throws -> [String] {
        var log: [String] = []
        for try await event in session.eventStream {
            switch event {
            case .sessionStarted: log.append("started")
            case .readerDetected: log.append("detected")
            case .received(let apdu):
                let instruction = apdu.payload[1]
                log.append(String(instruction, radix: 16))
                let data = instruction == 0xA4 ? Data() : Data([instruction])
                try await apdu.respond(response: data + Data([0x90, 0]))
            case .readerDeselected: log.append("deselected")
            case .sessionInvalidated(let reason): log.append("\(reason)")
            }
        }
        return log
    }

    @Test func `Applications that the app does not list are refused without it`() async throws {
        let rights = AppConfiguration.PropertyFile(
            path: "App.entitlements",
            values: [
                "com.apple.developer.nfc.hce": ["true"],
                "com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes": ["D276"],
            ]
        )
        try await Self.withReader(AppConfiguration(entitlements: rights)) { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            async let log = Self.serve(session)
            reader.approach()
            #expect(try await reader.transmit(Self.read) == [0x6A, 0x82])
            #expect(try await reader.transmit([0, 0xA4, 4, 0, 2, 0xA0, 0]) == [0x6A, 0x82])
            #expect(try await reader.transmit(Self.select) == [0x90, 0])
            session.invalidate()
            #expect(try await log == ["started", "detected", "a4", "invalidated"])
        }
    }

    @Test func `An answer is given once, and not to a reader that is gone`() async throws {
        try await Self.withReader { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            reader.approach()
            async let answer = reader.transmit(Self.select)
            var commands: [CardSession.APDU] = []
            for try await event in session.eventStream {
                guard case .received(let apdu) = event else { continue }
                commands.append(apdu)
                break
            }
            let apdu = try #require(commands.first)
            await #expect(throws: CardSession.Error.transmissionError) {
                try await apdu.respond(response: Data([0x90]))
            }
            try await apdu.respond(response: Data([0x90, 0]))
            #expect(try await answer == [0x90, 0])
            await #expect(throws: CardSession.Error.transmissionError) {
                try await apdu.respond(response: Data([0x90, 0]))
            }
            session.invalidate()
            await #expect(throws: CardSession.Error.invalidated) {
                try await apdu.respond(response: Data([0x90, 0]))
            }
        }
    }

    @Test func `A command that comes before the emulation stops can't be answered after it`() async throws {
        try await Self.withReader { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            reader.approach()
            let pending = Task { try await reader.transmit(Self.select) }
            var commands: [CardSession.APDU] = []
            for try await event in session.eventStream {
                guard case .received(let apdu) = event else { continue }
                commands.append(apdu)
                break
            }
            let apdu = try #require(commands.first)
            #expect(apdu == commands[0] && [UInt8](apdu.payload) == Self.select)
            #expect(apdu.debugDescription == "CardSession.APDU(00a4040007d276000085010100)")
            await session.stopEmulation(status: .failure)
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await pending.value }
            await #expect(throws: CardSession.Error.emulationStopped) {
                try await apdu.respond(response: Data([0x90, 0]))
            }
            session.alertMessage = "Hold it near."
            #expect(session.alertMessage == "Hold it near.")
            session.invalidate()
            session.invalidate()
            #expect(await !session.isEmulationInProgress)
        }
    }

    @Test func `A session ends after a minute, and with it what a reader waits for`() async throws {
        try await Self.withReader { reader, field in
            let session = try await CardSession()
            try await session.startEmulation()
            reader.approach()
            let pending = Task { try await reader.transmit(Self.select) }
            var reason: CardSession.Error?
            for try await event in session.eventStream {
                if case .received = event { field.clock.advance(by: .seconds(60)) }
                if case .sessionInvalidated(let error) = event { reason = error }
            }
            #expect(reason == .maxSessionDurationReached)
            await #expect(throws: VirtualCardReader.Failure.cardLost) { try await pending.value }
        }
    }

    @Test func `There is one session at a time, and none without a port or an entitlement`() async throws {
        try await Self.withReader { _, _ in
            let session = try await CardSession()
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
            session.invalidate()
            _ = try await CardSession()
        }
        await Self.withoutReader {
            #expect(!CardSession.isSupported)
            #expect(await !CardSession.isEligible)
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
        }
        let rights = AppConfiguration.PropertyFile(path: "App.entitlements", values: [:])
        await Self.withReader(AppConfiguration(entitlements: rights)) { _, _ in
            #expect(await !CardSession.isEligible)
            await #expect(throws: CardSession.Error.accessNotAccepted) { _ = try await CardSession() }
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemEligibilityFailed) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
        }
    }

    @Test func `An assertion that is released early ends then, and the next one comes 15 seconds later`() async throws {
        try await Self.withReader { _, field in
            var kept: NFCPresentmentIntentAssertion? = try await NFCPresentmentIntentAssertion.acquire()
            field.clock.advance(by: .seconds(4))
            #expect(kept?.isValid == true)
            kept = nil
            field.clock.advance(by: .milliseconds(14_999))
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemNotAvailable) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
            field.clock.advance(by: .milliseconds(1))
            let next = try await NFCPresentmentIntentAssertion.acquire()
            #expect(next.isValid)
            field.clock.advance(by: .milliseconds(14_999))
            #expect(next.isValid)
            field.clock.advance(by: .milliseconds(1))
            #expect(!next.isValid)
        }
    }

    @Test func `An assertion that is kept beyond its end does not make the next one later`() async throws {
        try await Self.withReader { _, field in
            var kept: NFCPresentmentIntentAssertion? = try await NFCPresentmentIntentAssertion.acquire()
            field.clock.advance(by: .seconds(20))
            #expect(kept?.isValid == false)
            kept = nil
            field.clock.advance(by: .milliseconds(9_999))
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemNotAvailable) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
            field.clock.advance(by: .milliseconds(1))
            #expect(try await NFCPresentmentIntentAssertion.acquire().isValid)
        }
    }

    @Test func `An assertion that is let go of late takes nothing from the next one`() async throws {
        try await Self.withReader { _, field in
            var kept: NFCPresentmentIntentAssertion? = try await NFCPresentmentIntentAssertion.acquire()
            field.clock.advance(by: .seconds(30))
            let next = try await NFCPresentmentIntentAssertion.acquire()
            #expect(kept?.isValid == false)
            kept = nil
            field.clock.advance(by: .milliseconds(14_999))
            #expect(next.isValid)
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemNotAvailable) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
            withExtendedLifetime(next) {}
        }
    }

    @Test func `A card that is deselected takes commands again only when it is selected again`() async throws {
        try await Self.withReader { reader, _ in
            let session = try await CardSession()
            try await session.startEmulation()
            async let log = Self.serve(session)
            reader.approach()
            #expect(try await reader.transmit(Self.select) == [0x90, 0])
            reader.leave()
            reader.approach()
            #expect(try await reader.transmit(Self.read) == [0x6A, 0x82])
            #expect(try await reader.transmit(Self.select) == [0x90, 0])
            await session.stopEmulation(status: .success)
            #expect(await !session.isEmulationInProgress)
            await #expect(throws: VirtualCardReader.Failure.noCard) { try await reader.transmit(Self.read) }
            try await session.startEmulation()
            // What was selected before is not any more.
            #expect(try await reader.transmit(Self.read) == [0x6A, 0x82])
            session.invalidate()
            #expect(try await log == ["started", "detected", "a4", "deselected", "detected", "a4", "invalidated"])
        }
    }

    @Test func `An assertion is good for 15 seconds, and the next one comes 15 seconds later`() async throws {
        try await Self.withReader { _, field in
            let first = try await NFCPresentmentIntentAssertion.acquire()
            #expect(first.isValid)
            field.clock.advance(by: .seconds(15))
            #expect(!first.isValid)
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemNotAvailable) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
            field.clock.advance(by: .seconds(15))
            let second = try await NFCPresentmentIntentAssertion.acquire()
            #expect(second.isValid)
        }
        await Self.withoutReader {
            await #expect(throws: NFCPresentmentIntentAssertion.Error.systemNotAvailable) {
                _ = try await NFCPresentmentIntentAssertion.acquire()
            }
        }
    }
}
