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

    @Test(arguments: ["removed", "mute", "refuses"])
    func `Tag that leaves, does not answer or refuses a raw command: error 100, until polling restarts`(how: String)
        async throws
    {
        let ntag = TestTag.ntag213()
        try await withTags(ntag) { field, scene in
            let tag = try scene.miFare
            #expect(try await tag.send("3003").count == 32)
            switch how {
            case "removed":
                field.tags.remove(ntag)
                field.tags.bring(ntag)
                #expect(!tag.isAvailable)
            case "mute": field.tags.arm(.effect(.mute, atExchange: 0))
            default: break
            }
            #expect(await code { try await tag.send(how == "refuses" ? "30f0" : "3003") } == 100)
            #expect(await code { try await tag.send("3003") } == 100)
            #expect(!tag.isAvailable && scene.session.connectedTag != nil && scene.session.isReady)
            scene.session.restartPolling()
            let again = try #require(await scene.delegate.nextTags()?.first)
            try await scene.session.connect(to: again)
            #expect(try await again.miFare.send("3003").count == 32)
        }
    }

    @Test func `deliversRefusals: a NAK is returned as one byte, and the tag stays connected`() async throws {
        try await withTags(TestTag.ntag213()) { field, scene in
            field.environment.deliversRefusals = true
            let tag = try scene.miFare
            #expect(try await tag.send("30f0") == "00")
            #expect(try await tag.send("3003").count == 32)
        }
    }

    @Test func `ISO 7816 card that has left: error 102 on commands, 100 on connect`() async throws {
        let card = TestTag.ndefCard()
        try await withTags(card, app: .app(applications: [AID.ndef])) { field, scene in
            field.tags.remove(card)
            field.tags.bring(card)
            for _ in 0..<2 { #expect(await code { try await scene.iso7816.send("00a4000c02e103") } == 102) }
            #expect(await code { try await scene.session.connect(to: scene.tag) } == 100)
            #expect(!scene.tag.isAvailable && scene.session.connectedTag != nil && scene.session.isReady)
        }
    }

    @Test func `FAST_READ: 268 bytes are answered, and from 272 on the tag is lost with error 100`() async throws {
        try await withTags(VirtualType2Tag(.ntag215, uid: [4, 1, 2, 3, 4, 5, 6])) { _, scene in
            let tag = try scene.miFare
            #expect(try await tag.send("3a0446").count == 2 * 268)
            #expect(await code { try await tag.send("3a0447") } == 100)
            #expect(!tag.isAvailable)
        }
    }

    @Test func `NDEF call after PWD_AUTH: activates the tag anew, so that writing a protected tag is error 401`()
        async throws
    {
        try await withTags(TestTag.protectedNTAG213(from: 4)) { _, scene in
            let tag = try scene.miFare
            #expect(try await tag.send("1bffffffff") == "0000")
            #expect(try await tag.send("a20501020304") == "0a")
            #expect(try await tag.send("1bffffffff") == "0000")
            #expect(try await tag.queryNDEFStatus().0 == .readWrite)
            #expect(await code { try await tag.writeNDEF(TestTag.message()) } == 401)
        }
    }

    // MARK: Time

    @Test func `Connected tag: unavailable 20 seconds after the connection; the session ends with 201 after 60`()
        async throws
    {
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
