// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCRuntime
import ReaderEmulation
import SessionTesting
import TagLink
import Testing

@testable import NFCReaders

/// Checks the reader on which an app's card lies, as pcscd meets it.
@Suite(.timeLimit(.minutes(1))) struct `An app's card on a reader of pcscd` {
    private static let answerToReset: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]

    /// A port with a socket in a folder of the test's own.
    private final class Place {
        let folder = NSTemporaryDirectory() + "port-\(UUID().uuidString.prefix(8))"
        let port: PCSCCardPort
        let card = RecordingCard(answersAtOnce: true)

        init() throws {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            port = PCSCCardPort(path: folder + "/reader.sock")
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }
    }

    @Test func `The card is there while the app emulates`() async throws {
        let place = try Place()
        let changes = Locked(0)
        var observation = place.port.observePresence { changes.withLock { $0 += 1 } }
        #expect(place.port.attach(place.card))
        // The reader is the host's: it is near when pcscd is.
        #expect(place.card.log == [])
        var reader = AppCardReader(port: place.port)
        #expect(await reader.lookAnew() == EmulatedReader.Change())
        #expect(place.card.log == ["detected"])
        #expect(await reader.setPower(.up) == .noCard)
        #expect(await reader.transmit([0, 0xA4]) == .noCard)
        place.port.setEmulating(true)
        #expect(changes.withLock { $0 } == 1)
        #expect(await reader.look() == EmulatedReader.Change(hasFound: true))
        #expect(await reader.look() == EmulatedReader.Change())
        #expect(await reader.setPower(.up) == .done(Self.answerToReset))
        #expect(await reader.transmit([0, 0xA4]) == .done([0, 0xA4, 0x90, 0]))
        place.port.setEmulating(false)
        #expect(await reader.transmit([0, 0xA4]) == .noCard)
        #expect(await reader.setPower(.up) == .noCard)
        #expect(await reader.look() == EmulatedReader.Change(hasLost: true))
        #expect(changes.withLock { $0 } == 2)
        place.port.detach(place.card)
        #expect(observation != nil && changes.withLock { $0 } == 3)
        // Who has stopped observing gets no news.
        observation = nil
        #expect(place.port.attach(place.card))
        place.port.setEmulating(true)
        #expect(changes.withLock { $0 } == 3)
    }

    @Test func `A card that has come is not used before the reader has noticed it`() async throws {
        let place = try Place()
        #expect(place.port.attach(place.card))
        var reader = AppCardReader(port: place.port)
        #expect(await reader.lookAnew() == EmulatedReader.Change())
        place.port.setEmulating(true)
        #expect(await reader.setPower(.up) == .noCard)
        #expect(await reader.transmit([0, 0xA4]) == .noCard)
        #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .noCard)
        #expect(place.card.log == ["detected"])
        #expect(await reader.look() == EmulatedReader.Change(hasFound: true))
        #expect(await reader.setPower(.up) == .done(Self.answerToReset))
        #expect(await reader.transmit([0, 0xA4]) == .done([0, 0xA4, 0x90, 0]))
    }

    @Test func `A host that comes finds the card that is there, with another identifier each time`() async throws {
        let place = try Place()
        #expect(place.port.attach(place.card))
        place.port.setEmulating(true)
        var reader = AppCardReader(port: place.port)
        var identifiers: Set<[UInt8]> = []
        for _ in 0..<4 {
            #expect(await reader.lookAnew() == EmulatedReader.Change(hasFound: true))
            guard case .done(let answer) = await reader.transmit([0xFF, 0xCA, 0, 0, 0]) else { throw Missing() }
            // A random UID begins with 08.
            #expect(answer.count == 6 && answer.first == 0x08 && answer.suffix(2) == [0x90, 0])
            #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .done(answer))
            identifiers.insert(answer)
        }
        #expect(identifiers.count > 1)
        // Commands to the reader itself are not the app's to answer.
        for command: [UInt8] in [[0xFF, 0x00, 0, 0, 0], [0xFF, 0xCA, 1, 0, 0], [0xFF, 0xCA, 0, 1, 0], [0xFF]] {
            #expect(await reader.transmit(command) == .done([0x6A, 0x81]))
        }
        #expect(place.card.log.allSatisfy { $0 == "detected" })
        #expect(await reader.control(1, []) == .unsupported)
        #expect(reader.attribute(1) == .unsupported)
    }

    struct Missing: Error {}

    @Test func `A card that was used loses its selection with its power, and one that was not does not hear of it`()
        async throws
    {
        let place = try Place()
        #expect(place.port.attach(place.card))
        place.port.setEmulating(true)
        var reader = AppCardReader(port: place.port)
        _ = await reader.lookAnew()
        _ = await reader.setPower(.up)
        #expect(await reader.setPower(.down) == .done([]))
        #expect(await reader.setPower(.reset) == .done(Self.answerToReset))
        #expect(place.card.log == ["detected"])
        for (power, reply) in [(EmulatedReader.Power.down, []), (.reset, Self.answerToReset)] {
            let before = place.card.log.count
            #expect(await reader.transmit([1]) == .done([1, 0x90, 0]))
            #expect(await reader.setPower(.up) == .done(Self.answerToReset))
            #expect(await reader.setPower(power) == .done(reply))
            #expect(await reader.setPower(power) == .done(reply))
            #expect(place.card.log[before...] == ["01", "deselected", "detected"])
        }
        reader.hostLeft()
        #expect(place.card.log.last == "deselected")
    }

    @Test func `A host that comes anew has not used the card, whatever the one before it did`() async throws {
        let place = try Place()
        #expect(place.port.attach(place.card))
        place.port.setEmulating(true)
        var reader = AppCardReader(port: place.port)
        _ = await reader.lookAnew()
        #expect(await reader.setPower(.up) == .done(Self.answerToReset))
        #expect(await reader.transmit([1]) == .done([1, 0x90, 0]))
        reader.hostLeft()
        #expect(await reader.lookAnew() == EmulatedReader.Change(hasFound: true))
        #expect(place.card.log == ["detected", "01", "deselected", "detected"])
        #expect(await reader.setPower(.up) == .done(Self.answerToReset))
        #expect(await reader.setPower(.reset) == .done(Self.answerToReset))
        #expect(await reader.setPower(.down) == .done([]))
        #expect(place.card.log.count == 4)
    }

    @Test func `A card that is shown again has another identifier, which stays while it is shown`() async throws {
        let place = try Place()
        #expect(place.port.attach(place.card))
        place.port.setEmulating(true)
        var reader = AppCardReader(port: place.port)
        _ = await reader.lookAnew()
        var identifiers: Set<[UInt8]> = []
        for _ in 0..<6 {
            guard case .done(let answer) = await reader.transmit([0xFF, 0xCA, 0, 0, 0]) else { throw Missing() }
            identifiers.insert(answer)
            // A look in between changes nothing.
            #expect(await reader.look() == EmulatedReader.Change())
            #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .done(answer))
            place.port.setEmulating(false)
            #expect(await reader.look() == EmulatedReader.Change(hasLost: true))
            #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .noCard)
            place.port.setEmulating(true)
            #expect(await reader.look() == EmulatedReader.Change(hasFound: true))
        }
        #expect(identifiers.count > 1)
    }

    @Test func `A card that leaves before it has answered is gone, and one that is there has failed`() async throws {
        for isGone in [Bool](repeating: true, count: 10) + [false] {
            let place = try Place()
            let card = RecordingCard()
            #expect(place.port.attach(card))
            place.port.setEmulating(true)
            var reader = AppCardReader(port: place.port)
            _ = await reader.lookAnew()
            let work = Task { [reader] in
                var reader = reader
                return await reader.transmit([1])
            }
            _ = await card.happens(2)
            if isGone { place.port.setEmulating(false) } else { place.port.reader.leave() }
            #expect(await work.value == (isGone ? .noCard : .failed))
        }
    }

    @Test func `An app that does not answer in time is given up, and one that has answered is left alone`()
        async throws
    {
        let (place, other) = (try Place(), try Place())
        let silent = RecordingCard()
        #expect(place.port.attach(place.card) && other.port.attach(silent))
        for port in [place.port, other.port] { port.setEmulating(true) }
        var reader = AppCardReader(port: place.port, answerLimit: .milliseconds(20))
        _ = await reader.lookAnew()
        // On a busy machine it may have been given up before it could answer.
        guard await reader.transmit([1]) == .done([1, 0x90, 0]) else { return }
        var waiting = AppCardReader(port: other.port, answerLimit: .milliseconds(60))
        _ = await waiting.lookAnew()
        let start = ContinuousClock.now
        #expect(await waiting.transmit([1]) == .failed)
        #expect(ContinuousClock.now - start >= .milliseconds(60))
        #expect(await silent.happens(4) == ["detected", "01", "deselected", "detected"])
        // By now it would have been given up.
        #expect(place.card.log == ["detected", "01"])
    }

    @Test func `All who observe hear of a card, until they stop`() throws {
        let place = try Place()
        let counts = Locked([0, 0])
        var first = place.port.observePresence { counts.withLock { $0[0] += 1 } }
        let second = place.port.observePresence { counts.withLock { $0[1] += 1 } }
        #expect(first != nil && second != nil && place.port.attach(place.card))
        place.port.setEmulating(true)
        #expect(counts.withLock { $0 } == [1, 1])
        first = nil
        place.port.setEmulating(false)
        #expect(counts.withLock { $0 } == [1, 2])
        // One that is no card of the port does not leave it.
        place.port.detach(RecordingCard())
        #expect(counts.withLock { $0 } == [1, 2])
        withExtendedLifetime(second) {}
    }

    @Test func `A reader whose port has gone has no card`() async throws {
        var reader: AppCardReader
        do {
            let place = try Place()
            reader = AppCardReader(port: place.port)
        }
        #expect(await reader.look() == EmulatedReader.Change())
        #expect(await reader.setPower(.up) == .noCard)
        #expect(await reader.transmit([1]) == .noCard)
    }

    @Test(arguments: ["reader.sock", "/reader.sock", "/dev/null/reader.sock"])
    func `A socket that can't be made gives no card`(path: String) {
        #expect(!PCSCCardPort(path: path).attach(RecordingCard()))
    }

    @Test func `Of two cards that come at the same time one is taken, and one reader is made`() throws {
        let place = try Place()
        let other = RecordingCard()
        let made = Locked(0)
        let port = PCSCCardPort(path: place.folder + "/reader.sock") { (port) throws(EmulationError) in
            let isFirst = made.withLock { count in
                count += 1
                return count == 1
            }
            // The second card comes while the reader is made for the first one.
            if isFirst { #expect(!port.attach(other)) }
            return try port.listen()
        }
        #expect(port.attach(place.card))
        port.setEmulating(true)
        #expect(port.hasCard)
        port.detach(other)
        #expect(port.hasCard)
        port.detach(place.card)
        #expect(port.attach(other))
        #expect(made.withLock { $0 } == 1)
    }

    @Test func `A card whose reader can't be made leaves the port free for another one`() throws {
        let place = try Place()
        let isPossible = Locked(false)
        let port = PCSCCardPort(path: place.folder + "/reader.sock") { (port) throws(EmulationError) in
            guard isPossible.withLock({ $0 }) else { throw EmulationError("The reader can't be made.") }
            return try port.listen()
        }
        #expect(!port.attach(RecordingCard()))
        isPossible.withLock { $0 = true }
        #expect(port.attach(place.card))
    }

    @Test func `A port has one card, and its reader is made once`() throws {
        let place = try Place()
        #expect(place.port.attach(place.card))
        #expect(!place.port.attach(RecordingCard()))
        #expect(!place.port.hasCard)
        place.port.setEmulating(true)
        // One that was refused is no card of the port, and takes none away.
        place.port.detach(RecordingCard())
        #expect(place.port.hasCard)
        place.port.detach(place.card)
        #expect(!place.port.hasCard)
        #expect(place.port.attach(RecordingCard()))
    }
}
