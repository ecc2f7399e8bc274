// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import SessionTesting
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// The limits of a session and of a connection, and the commands to the connected tag.
@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    private static let lost = CommandError.tag(.tagLost)
    private static let read3: [UInt8] = [0x30, 0x03]

    // MARK: Limits

    @Test func `session: ends with timeout 60 seconds after its own turn has begun, and its sheet shows no result`()
        async throws
    {
        let scene = Scene(.field(VirtualField()))
        let (a, b) = (try scene.session("a"), try scene.session("b"))
        a.begin()
        scene.clock.advance(by: .seconds(30))
        b.begin()
        scene.clock.advance(by: .milliseconds(29_999))
        #expect(a.isActive)
        scene.clock.advance(by: .milliseconds(1))
        #expect(await scene.events(3) == ["a active", "a ended: timeout", "b active"])
        #expect(scene.sheet.history == ["ready: a", "dismissed: a", "ready: b"])
        scene.clock.advance(by: .milliseconds(59_999))
        #expect(b.isActive)
        scene.clock.advance(by: .milliseconds(1))
        #expect(await scene.event() == "b ended: timeout")
    }

    @Test func `connected tag: unavailable 20 seconds after its first connection`() async throws {
        let scene = Scene(.field(field(ntag())))
        let (session, tags) = try await scene.finding()
        let tag = tags[0]
        scene.clock.advance(by: .seconds(10))
        #expect(await session.connects(to: tag) == nil)
        scene.clock.advance(by: .seconds(15))
        #expect(await session.connects(to: tag) == nil)
        #expect(session.connectedTag === tag)
        scene.clock.advance(by: .milliseconds(4_999))
        #expect(tag.isAvailable)
        scene.clock.advance(by: .milliseconds(1))
        #expect(!tag.isAvailable && session.connectedTag === tag)
        #expect(await session.read(tag) == .failure(.connectionExpired(after: .seconds(20))))
        #expect(await session.connects(to: tag) == .connectionExpired(after: .seconds(20)))
        #expect(session.isActive && scene.sheet.content?.state == .scanning)
        session.restartPolling()
        #expect(await scene.event() == "a found 1")
    }

    @Test func `connecting to a tag that has left: tagLost, and the tag connected before stays connected`() async throws
    {
        let virtual = [ntag(1), ntag(2)]
        let near = field(virtual[0], virtual[1])
        let scene = Scene(.field(near))
        let (session, found) = try await scene.finding(2)
        #expect(await session.connects(to: found[0]) == nil)
        scene.clock.advance(by: .seconds(15))
        near.remove(try #require(virtual.first { $0.identifier == found[1].target.identifier }))
        #expect(await session.connects(to: found[1]) == Self.lost)
        #expect(!found[1].isAvailable && session.connectedTag === found[0] && found[0].isNear)
        #expect(try await session.answer(Self.read3, of: found[0]).get().first == 0xE1)
        scene.clock.advance(by: .milliseconds(4_999))
        #expect(found[0].isAvailable)
        scene.clock.advance(by: .milliseconds(1))
        #expect(!found[0].isAvailable && session.isActive)
    }

    // MARK: Commands

    @Test func `command before a connection, for another tag, or after the end: refused`() async throws {
        let near = field(ntag(1), ntag(2))
        let (session, tags) = try await Scene(.field(near)).finding(2)
        let exchanges = near.statistics.exchanges
        for tag in tags {
            #expect(await session.read(tag) == .failure(.notConnected))
            #expect(await session.answer(Self.read3, of: tag) == .failure(.notConnected))
            #expect(await session.answer(Self.read3, of: tag, within: .none) == .failure(.notConnected))
        }
        #expect(near.statistics.exchanges == exchanges)
        // What phones take before a connection connects, but does not take the connection from another tag.
        #expect(try await session.answer(Self.read3, of: tags[0], connecting: true).get().first == 0xE1)
        #expect(session.connectedTag === tags[0])
        #expect(await session.answer(Self.read3, of: tags[1], connecting: true) == .failure(.notConnected))
        #expect(await session.read(tags[1]) == .failure(.notConnected))
        session.invalidate()
        #expect(await session.read(tags[0]) == .failure(.sessionInvalidated))
        #expect(await session.connects(to: tags[0]) == .sessionInvalidated)
    }

    @Test func `command that connects its own tag: succeeds when the tag connected before has left`() async throws {
        let virtual = [ntag(1), ntag(2)]
        let near = field(virtual[0], virtual[1])
        let scene = Scene(.field(near))
        let (session, found) = try await scene.finding(2)
        #expect(await session.connects(to: found[0]) == nil)
        scene.clock.advance(by: .seconds(5))
        near.remove(try #require(virtual.first { $0.identifier == found[0].target.identifier }))
        #expect(try await session.answer(Self.read3, of: found[1], connecting: true).get().first == 0xE1)
        #expect(session.connectedTag === found[1] && !found[0].isNear)
        scene.clock.advance(by: .milliseconds(19_999))
        #expect(found[1].isAvailable)
    }

    @Test
    func `Type 2 password sent by the app: its own commands then work, and NDEF calls, which activate anew, do not`()
        async throws
    {
        let message: [UInt8] = [0xD1, 0x01, 0x04, 0x55, 0x00, 0x61, 0x3A, 0x62]
        // AUTH0 is page 4, and with PROT reading needs the password too. The password is the factory's.
        for protectsReading in [false, true] {
            var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
            contents.memory[41 * 4 + 3] = 4
            if protectsReading { contents.memory[42 * 4] = 0x80 }
            let tag = VirtualType2Tag(contents)
            let (session, found) = try await Scene(.field(field(tag))).connected()
            func work() async -> Result<[UInt8], CommandError> {
                await session.run(on: found) { tag throws(TagError) in
                    if !protectsReading { try await tag.writeNDEF(message) }
                    return try await tag.readNDEF()
                }
            }
            let refused = CommandError.tag(protectsReading ? .readProtected : .keyNeeded)
            #expect(await work() == .failure(refused))
            // A wrong password is refused, and changes nothing.
            #expect(await session.answer([0x1B, 1, 2, 3, 4], of: found) == .failure(.tag(.refused)))
            #expect(await work() == .failure(refused))
            // It is heard also after the tag fell asleep, because it refused a command.
            for command in [[0xA2, 4, 3, 0, 0xFE, 0], [0x30, 4]] as [[UInt8]] {
                #expect(await session.answer([0x1B, 0xFF, 0xFF, 0xFF, 0xFF], of: found) == .success([0, 0]))
                #expect(try await !session.answer(command, of: found).get().isEmpty)
                #expect(await work() == .failure(refused))
            }
            #expect(Array(tag.contents.memory[16..<20]) == [3, 0, 0xFE, 0])
        }
    }

    // MARK: Packets without an answer

    private static let vicinity: [UInt8] = [0xE0, 4, 1, 0x10, 1, 2, 3, 4]
    private static let idm: [UInt8] = [2, 0xFE, 1, 2, 3, 4, 5, 6]

    /// Tags that can be asked whether they are near, each with a command that it answers.
    private static let tags: [(make: @Sendable () -> any VirtualTag, command: [UInt8])] = [
        ({ ntag() }, read3),
        ({ VirtualType3Tag(FeliCaLiteSContents(idm: idm)) }, [0x06] + idm + [0x01, 0x0B, 0x00, 0x01, 0x80, 0x00]),
        (
            { VirtualType5Tag(Type5Contents(blank: .icodeSLIX, uid: vicinity)) },
            [0x22, 0x20] + vicinity.reversed() + [0]
        ),
    ]

    @Test(arguments: [(0, false), (1, false), (2, false), (0, true)])
    func `command without an answer: badAnswer while the tag is near, tagLost when it has left`(
        index: Int,
        activatesTags: Bool
    ) async throws {
        let (make, command) = Self.tags[index]
        let near = field(make())
        let reader = NFCEnvironment.Reader.discovering(ActivatingReader(near))
        let (session, tag) = try await Scene(activatesTags ? reader : .field(near)).connected(plan: .everyTag)
        #expect(try await !session.answer(command, of: tag).get().isEmpty)
        for effect in [Fault.Effect.mute, .bitError] {
            near.arm(.effect(effect, atExchange: 0))
            #expect(await session.answer(command, of: tag) == .failure(.tag(.badAnswer)))
        }
        #expect(tag.isAvailable && session.connectedTag === tag)
        if index == 0 {
            // It refuses and falls asleep; for the next command it is woken.
            for _ in 0..<2 { #expect(await session.answer([0x77], of: tag) == .failure(.tag(.refused))) }
        }
        #expect(try await !session.answer(command, of: tag).get().isEmpty)
        near.removeAll()
        #expect(await session.answer(command, of: tag) == .failure(Self.lost))
        #expect(!tag.isAvailable)
    }

    @Test func `Type 1 tag, a command without an answer: badAnswer while a Type 1 command reaches it, else tagLost`()
        async throws
    {
        let near = field(VirtualType1Tag(.topaz96))
        let (session, tag) = try await Scene(.field(near)).connected(plan: .everyTag)
        // READ of Type 2.
        #expect(await session.answer(Self.read3, of: tag) == .failure(.tag(.badAnswer)))
        #expect(tag.isAvailable && session.connectedTag === tag)
        near.removeAll()
        #expect(await session.answer(Self.read3, of: tag) == .failure(Self.lost))
    }

    @Test func `command sent without waiting for an answer: silence and noise are no error`() async throws {
        let near = field(ntag())
        let (session, tag) = try await Scene(.field(near)).connected()
        // HLTA, which no tag answers, and READ, whose answer is disturbed.
        for packet in [[0x50, 0x00], Self.read3] as [[UInt8]] {
            near.arm(.effect(.bitError, atExchange: 0))
            #expect(await session.answer(packet, of: tag, within: .none) == .success([]))
            #expect(tag.isAvailable && session.connectedTag === tag)
        }
        // The same packet where an answer is wanted.
        #expect(await session.answer([0x50, 0x00], of: tag) == .failure(.tag(.badAnswer)))
        // WRITE has an answer of four bits.
        #expect(await session.answer([0xA2, 8, 1, 2, 3, 4], of: tag) == .success([0x0A]))
    }

    @Test func `FeliCa command: 254 bytes are sent, 255 are refused as frameTooLong`() async throws {
        let near = field(VirtualType3Tag(FeliCaLiteSContents(idm: Self.idm)))
        let (session, tag) = try await Scene(.field(near)).connected()
        // Request Response with extra bytes, which no tag answers.
        #expect(await session.answer([UInt8](repeating: 4, count: 254), of: tag) == .failure(.tag(.badAnswer)))
        let sent = near.statistics.exchanges
        let refused = await session.answer([UInt8](repeating: 4, count: 255), of: tag)
        guard case .failure(.tag(let error)) = refused else { return #expect(Bool(false), "\(refused)") }
        #expect(error.code == .unsupported && error.link?.code == .frameTooLong)
        #expect(near.statistics.exchanges == sent)
    }

    @Test(arguments: [false, true])
    func `ISO-DEP card that lost its power: tagLost, although the card could be activated again`(activatesTags: Bool)
        async throws
    {
        let card = try #require(TagProduct(named: "NTAG 424 DNA")).blank().makeTag()
        let near = field(card)
        let reader = NFCEnvironment.Reader.discovering(ActivatingReader(near))
        let (session, tag) = try await Scene(activatesTags ? reader : .field(near)).connected(plan: .everyTag)
        let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00]
        #expect(try await session.answer(select, of: tag).get().count >= 2)
        // What the app has selected is forgotten.
        card.losePower()
        #expect(await session.answer(select, of: tag) == .failure(Self.lost))
        #expect(!tag.isAvailable)
    }
}
