// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualCards
import VirtualTags

/// A tag that leaves the field is noticed, also when it is sent no command; and how long a connection lasts.
@Suite(.timeLimit(.minutes(1))) struct RemovalTests {
    /// A kind of tag, and the first bytes of the exchange that asks whether it is near.
    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var question: String
        var make: @Sendable () -> any VirtualTag

        init(_ name: String, _ question: String, _ make: @escaping @Sendable () -> any VirtualTag) {
            (testDescription, self.question, self.make) = (name, question, make)
        }
    }

    static let kinds = [
        Kind("Topaz 512", "78") { VirtualType1Tag(.topaz512) },
        Kind("Ultralight", "3003") { VirtualType2Tag(.ultralight) },
        Kind("NTAG216", "3a0303") { VirtualType2Tag(.ntag216) },
        Kind("FeliCa Lite-S", "0600") { VirtualType3Tag(FeliCaLiteSContents(idm: TestTag.idm)) },
        Kind("FeliCa Standard", "0a04") { TestTag.feliCa() },
        // DESFire gives its applications 77 ms a block.
        Kind("DESFire", "b2") { VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4)) },
        Kind("Type 4B", "b2") {
            VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3, 4]))
        },
        Kind("ICODE SLIX2", "2220") { VirtualType5Tag(.icodeSLIX2) },
    ]

    /// Connects to the tag again and again as Apple's sample does, until it is not available any more.
    ///
    /// - Returns: when it ended, and the code with which connecting failed then.
    private static func loop(_ scene: Shared<NDEFScene>, in field: TestField) async throws -> (Duration, Int) {
        while true {
            let result = await code { try await scene.value.session.connect(to: scene.value.tag) }
            guard result == 0, scene.value.tag.isAvailable else { return (field.now, result) }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    @Test(arguments: kinds) func `Removal: noticed within 600 ms by an app that connects again and again`(_ kind: Kind)
        async throws
    {
        for moment in [0, 130, 260, 390, 490] {
            try await withField(.tag(kind.make())) { field in
                let scene = try await NDEFScene()
                let shared = Shared(scene)
                async let ending = Self.loop(shared, in: field)
                await field.wait(for: .milliseconds(2000 + moment))
                #expect(scene.tag.isAvailable)
                try await field.takeAway()
                let left = field.now
                let (end, code) = try await ending
                #expect(end - left <= .milliseconds(600), "It took \(end - left), from \(moment) ms on.")
                #expect(code == 100 && !scene.tag.isAvailable)
                scene.session.restartPolling()
                try await field.bring(field.tags[0])
                #expect(await scene.delegate.nextNDEFTags()?.count == 1)
                scene.session.invalidate()
            }
        }
    }

    @Test(arguments: kinds) func `Connecting again: one exchange asks whether the tag is near, and changes nothing`(
        _ kind: Kind
    ) async throws {
        try await withField(.tag(kind.make())) { field in
            let scene = try await NDEFScene()
            // A card that an NDEF session has found is opened by its first command.
            _ = try await scene.tag.queryNDEFStatus()
            let opened = field.exchanges.count
            for _ in 0..<3 { try await scene.session.connect(to: scene.tag) }
            let questions = field.exchanges.dropFirst(opened).map { $0.request.bytes.hexText() }
            #expect(questions.count == 3)
            // The number of an ISO-DEP block alternates.
            for question in questions {
                #expect(question.replacing("b3", with: "b2").hasPrefix(kind.question), "It was \(question).")
            }
            #expect([0, 403].contains(await code { try await scene.tag.readNDEF() }) && scene.tag.isAvailable)
            scene.session.invalidate()
        }
    }

    @Test(arguments: kinds) func `Removal: noticed without a command; the tag is another one when it is back`(
        _ kind: Kind
    ) async throws {
        try await withField(.tag(kind.make())) { field in
            let scene = try await NDEFScene(connects: false)
            let (session, tag) = (scene.session, scene.tag)
            #expect(!tag.isAvailable)
            try await field.takeAway()
            let before = field.exchanges.count
            #expect(await code { try await session.connect(to: tag) } == 100)
            #expect(field.exchanges.count == before)
            try await field.bring(field.tags[0])
            #expect(await code { try await session.connect(to: tag) } == 100)
            session.restartPolling()
            let next = try #require(await scene.delegate.nextNDEFTags()?.first)
            try await session.connect(to: next)
            for _ in 0..<2 { _ = try await next.queryNDEFStatus() }
            try await field.takeAway()
            let exchanges = field.exchanges.count
            for isBack in [false, true] {
                if isBack { try await field.bring(field.tags[0]) }
                #expect(!next.isAvailable)
                for _ in 0..<2 {
                    // Also for what was read of it before.
                    #expect(await code { try await next.queryNDEFStatus() } == 100)
                    #expect(await code { try await next.readNDEF() } == 100)
                    #expect(await code { try await next.writeLock() } == 100)
                }
            }
            #expect(field.exchanges.count == exchanges && session.isReady)
            session.restartPolling()
            let last = try #require(await scene.delegate.nextNDEFTags()?.first)
            try await session.connect(to: last)
            _ = try await last.queryNDEFStatus()
            #expect(last.isAvailable && !next.isAvailable)
            session.invalidate()
        }
    }

    @Test func `Removal between two commands: error 100, but error 102 for a tag that did not hear one`() async throws {
        let ntag = TestTag.ntag213()
        try await withTags(ntag) { field, scene in
            let tag = try scene.miFare
            field.tags.arm(.effect(.mute, atExchange: 0))
            #expect(await code { try await tag.send("3003") } == 102)
            #expect(tag.isAvailable)
            #expect(try await tag.send("3003").count == 32)
            field.tags.remove(ntag)
            field.tags.bring(ntag)
            #expect(!tag.isAvailable && scene.session.connectedTag == nil)
            for _ in 0..<2 { #expect(await code { try await tag.send("3003") } == 100) }
            #expect(scene.session.isReady)
            scene.session.restartPolling()
            let again = try #require(await scene.delegate.nextTags()?.first)
            try await scene.session.connect(to: again)
            #expect(try await again.miFare.send("3003").count == 32)
        }
        let card = TestTag.ndefCard()
        try await withTags(card, app: .app(applications: [AID.ndef])) { field, scene in
            field.tags.remove(card)
            field.tags.bring(card)
            for _ in 0..<2 { #expect(await code { try await scene.iso7816.send("00a4000c02e103") } == 100) }
            #expect(!scene.tag.isAvailable && scene.session.connectedTag == nil && scene.session.isReady)
        }
    }

    // MARK: Time

    @Test func `Connection: lasts 20 seconds, and the session a minute`() async throws {
        try await withNDEF(TestTag.ntag213()) { field, scene in
            field.clock.advance(by: .seconds(19))
            #expect(scene.tag.isAvailable)
            field.clock.advance(by: .seconds(1))
            #expect(!scene.tag.isAvailable)
            #expect(await code { try await scene.tag.readNDEF() } == 100)
            #expect(scene.session.isReady)
            field.clock.advance(by: .seconds(40))
            #expect(await scene.delegate.wholeLog() == ["active", "tags 1", "ended 201"])
        }
    }

    @Test func `Connection: connecting again to the same tag does not restart its 20 seconds`() async throws {
        try await withField("NTAG213") { field in
            let scene = try await NDEFScene()
            let start = field.now
            let (end, code) = try await Self.loop(Shared(scene), in: field)
            #expect(end - start >= .seconds(20) && end - start <= .milliseconds(20_600), "It took \(end - start).")
            #expect(code == 100 && scene.session.isReady)
            scene.session.invalidate()
        }
    }
}
