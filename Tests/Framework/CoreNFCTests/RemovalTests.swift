// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing
import VirtualTags

/// A tag that leaves the field is noticed, also when it is sent no command; and how long a connection lasts.
@Suite(.timeLimit(.minutes(1))) struct RemovalTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var make: @Sendable () -> any VirtualTag

        init(_ name: String, _ make: @escaping @Sendable () -> any VirtualTag) {
            (testDescription, self.make) = (name, make)
        }
    }

    static let kinds = [
        Kind("Topaz 512") { VirtualType1Tag(.topaz512) }, Kind("NTAG216") { VirtualType2Tag(.ntag216) },
        Kind("FeliCa Lite-S") { VirtualType3Tag(FeliCaLiteSContents(idm: TestTag.idm)) },
        Kind("FeliCa Standard") { TestTag.feliCa() },
        // DESFire gives its applications 77 ms a block.
        Kind("DESFire") { VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4)) },
        Kind("Type 4B") {
            VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3, 4]))
        },
        Kind("ICODE SLIX2") { VirtualType5Tag(.icodeSLIX2) },
    ]

    @Test(arguments: kinds) func `Removal: noticed within 600 ms by an app that connects again and again`(_ kind: Kind)
        async throws
    {
        for moment in [0, 130, 260, 390, 490] {
            try await withField(.tag(kind.make())) { field in
                let scene = try await NDEFScene()
                let shared = Shared(scene)
                // As Apple's sample does, until the tag is not available any more.
                async let ending = { () async throws -> (Duration, Int) in
                    while true {
                        let result = await code { try await shared.value.session.connect(to: shared.value.tag) }
                        guard result == 0, shared.value.tag.isAvailable else { return (field.now, result) }
                        try await Task.sleep(for: .milliseconds(500))
                    }
                }()
                await field.wait(for: .milliseconds(2000 + moment))
                #expect(scene.tag.isAvailable)
                try await field.takeAway()
                let left = field.now
                let (end, failure) = try await ending
                #expect(end - left <= .milliseconds(600), "It took \(end - left), from \(moment) ms on.")
                #expect(failure == 100 && !scene.tag.isAvailable)
                scene.session.invalidate()
            }
        }
    }

    @Test(arguments: kinds) func `Removed tag: noticed without a command; after its return it is a new tag object`(
        _ kind: Kind
    ) async throws {
        try await withField(.tag(kind.make())) { field in
            let scene = try await NDEFScene()
            let (session, tag) = (scene.session, scene.tag)
            for _ in 0..<2 { _ = try await tag.queryNDEFStatus() }
            try await field.takeAway()
            let exchanges = field.exchanges.count
            for isBack in [false, true] {
                if isBack { try await field.bring(field.tags[0]) }
                #expect(!tag.isAvailable)
                // Also for what was read of it before.
                #expect(await code { try await tag.queryNDEFStatus() } == 100)
                #expect(await code { try await tag.readNDEF() } == 100)
                #expect(await code { try await tag.writeLock() } == 100)
                #expect(await code { try await session.connect(to: tag) } == 100)
            }
            #expect(field.exchanges.count == exchanges && session.isReady)
            session.restartPolling()
            let next = try #require(await scene.delegate.nextNDEFTags()?.first)
            try await session.connect(to: next)
            _ = try await next.queryNDEFStatus()
            #expect(next.isAvailable && !tag.isAvailable)
            session.invalidate()
        }
    }

    @Test func `Removal between two commands: error 100; command that a tag did not hear: 102`() async throws {
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
}
