// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import ReaderEmulation
import SessionTesting
import TagLink
import Testing

@testable import NFCReaders  // the port and its reader are internal

/// The reader on which an app's card lies, as pcscd meets it.
@Suite(.timeLimit(.minutes(1))) struct PCSCCardPortTests {
    private static let answerToReset: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]
    private static let getUID: [UInt8] = [0xFF, 0xCA, 0, 0, 0]

    /// A port with a socket in a folder of the test's own, a card, and the reader that the host sees.
    private final class Place {
        let folder: Folder
        let port: PCSCCardPort
        let card: RecordingCard
        var reader: AppCardReader
        let changes = Locked(0)
        var observation: PresenceObservation?

        init(answersAtOnce: Bool = true, isEmulating: Bool = true, limit: Duration = .seconds(25)) throws {
            folder = try Folder()
            port = PCSCCardPort(path: folder.path + "/reader.sock")
            card = RecordingCard(answersAtOnce: answersAtOnce)
            reader = AppCardReader(port: port, answerLimit: limit)
            observation = port.observers.add { [changes] in changes.withLock { $0 += 1 } }
            #expect(port.attach(card))
            if isEmulating { port.setEmulating(true) }
        }

        /// How often a card may have come or left.
        var changeCount: Int { changes.withLock { $0 } }
    }

    @Test func `emulated card: the host gets noCard until the app emulates and a presence check has found the card`()
        async throws
    {
        let place = try Place(isEmulating: false)
        // The reader is the host's: it is near when pcscd is.
        #expect(place.card.log == [])
        #expect(await place.reader.hostConnected() == EmulatedReader.Change())
        #expect(place.card.log == ["detected"])
        place.port.setEmulating(true)
        #expect(place.changeCount == 1)
        for command in [[0, 0xA4], Self.getUID] as [[UInt8]] {
            #expect(await place.reader.transmit(command) == .noCard)
        }
        #expect(await place.reader.setPower(.up) == .noCard)
        #expect(await place.reader.look() == EmulatedReader.Change(hasFound: true))
        #expect(await place.reader.look() == EmulatedReader.Change())
        #expect(await place.reader.setPower(.up) == .done(Self.answerToReset))
        #expect(await place.reader.transmit([0, 0xA4]) == .done([0, 0xA4, 0x90, 0]))
        place.port.setEmulating(false)
        #expect(await place.reader.transmit([0, 0xA4]) == .noCard)
        #expect(await place.reader.setPower(.up) == .noCard)
        #expect(await place.reader.look() == EmulatedReader.Change(hasLost: true))
        #expect(place.changeCount == 2)
        place.port.detach(place.card)
        #expect(place.changeCount == 3)
    }

    @Test func `emulated card: a new random UID for each emulation and each connection of a host`() async throws {
        let place = try Place()
        var identifiers: Set<[UInt8]> = []
        for round in 0..<8 {
            if round < 4 {
                #expect(await place.reader.hostConnected() == EmulatedReader.Change(hasFound: true))
            } else {
                place.port.setEmulating(false)
                #expect(await place.reader.look() == EmulatedReader.Change(hasLost: true))
                place.port.setEmulating(true)
                #expect(await place.reader.look() == EmulatedReader.Change(hasFound: true))
            }
            guard case .done(let answer) = await place.reader.transmit(Self.getUID) else { throw CancellationError() }
            // A random UID begins with 08.
            #expect(answer.count == 6 && answer.first == 0x08 && answer.suffix(2) == [0x90, 0])
            #expect(await place.reader.look() == EmulatedReader.Change())
            #expect(await place.reader.transmit(Self.getUID) == .done(answer))
            identifiers.insert(answer)
        }
        #expect(identifiers.count > 4)
        // Commands to the reader itself are not the app's to answer.
        #expect(await place.reader.transmit([0xFF, 0x00, 0, 0, 0]) == .done([0x6A, 0x81]))
        #expect(place.card.log.allSatisfy { $0 == "detected" })
    }

    @Test func `power down or reset: deselects the app if it has got a command, else the app is not told`() async throws
    {
        let place = try Place()
        _ = await place.reader.hostConnected()
        let off: [(EmulatedReader.Power, [UInt8])] = [(.down, []), (.reset, Self.answerToReset)]
        #expect(await place.reader.setPower(.up) == .done(Self.answerToReset))
        for (power, reply) in off { #expect(await place.reader.setPower(power) == .done(reply)) }
        #expect(place.card.log == ["detected"])
        for (power, reply) in off {
            let before = place.card.log.count
            #expect(await place.reader.transmit([1]) == .done([1, 0x90, 0]))
            #expect(await place.reader.setPower(.up) == .done(Self.answerToReset))
            for _ in 0..<2 { #expect(await place.reader.setPower(power) == .done(reply)) }
            #expect(place.card.log[before...] == ["01", "deselected", "detected"])
        }
    }

    @Test(arguments: [true, false])
    func `pending command: noCard if the app stops emulating, failed if the host leaves`(
        isGone: Bool
    ) async throws {
        let place = try Place(answersAtOnce: false)
        _ = await place.reader.hostConnected()
        let work = Task { [reader = place.reader] in
            var reader = reader
            return await reader.transmit([1])
        }
        _ = await place.card.happens(2)
        if isGone { place.port.setEmulating(false) } else { place.port.reader.leave() }
        #expect(await work.value == (isGone ? .noCard : .failed))
    }

    @Test func `app that does not answer within the limit: the command fails, and the app is deselected`() async throws
    {
        let place = try Place(answersAtOnce: false, limit: .milliseconds(60))
        _ = await place.reader.hostConnected()
        let start = ContinuousClock.now
        #expect(await place.reader.transmit([1]) == .failed)
        #expect(ContinuousClock.now - start >= .milliseconds(60))
        #expect(await place.card.happens(4) == ["detected", "01", "deselected", "detected"])
    }

    @Test func `card port: attach makes the socket; if that fails it returns false, and the next attach may succeed`()
        throws
    {
        let folder = try Folder()
        let (card, made) = (RecordingCard(), Locked(0))
        let port = PCSCCardPort(path: folder.path + "/reader.sock") { (port) throws(EmulationError) in
            let number = made.withLock { count in
                count += 1
                return count
            }
            if number == 1 { throw EmulationError("The reader can't be made.") }
            return try port.listen()
        }
        #expect(!port.attach(card) && port.attach(card) && !port.attach(RecordingCard()))
        port.detach(RecordingCard())
        #expect(!port.attach(RecordingCard()))
        port.detach(card)
        #expect(port.attach(RecordingCard()) && made.withLock { $0 } == 2)
        #expect(!PCSCCardPort(path: "/dev/null/reader.sock").attach(card))
    }
}
