// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Readers that wake and select their tag by themselves, and take no frames for that.
@Suite struct `A reader that selects its tag itself` {
    typealias Step = ScriptedLink.Step

    /// A link with a script of frames, and one of what comes of each selection: nil when the tag is there.
    private final class Link: SelfActivatingLink {
        private let frames: ScriptedLink
        private let selections: Locked<[LinkError.Code?]>

        init(_ steps: [Step] = [], technology: Technology = .nfcA, selections: [LinkError.Code?]) {
            frames = ScriptedLink(steps, technology: technology)
            self.selections = Locked(selections)
        }

        var technology: Technology { frames.technology }
        var maximumFrameLength: Int { frames.maximumFrameLength }
        var statistics: LinkStatistics { frames.statistics }
        /// How many frames and selections were not asked for.
        var remaining: Int { frames.remaining + selections.withLock { $0.count } }

        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
            try await frames.transceive(frame, timeout: timeout)
        }

        func reactivate() async throws(LinkError) {
            let outcome: LinkError.Code? = selections.withLock { $0.isEmpty ? .readerUnavailable : $0.removeFirst() }
            if let outcome { throw LinkError(outcome, "scripted") }
        }
    }

    @Test func `A tag is woken by its reader, and what the reader says becomes the error`() async {
        let targets = [
            NFCATarget(atqa: 0x0044, sak: 0, uid: bytes("04a1b2c3d4e580")),
            // The reader does not need to know how.
            NFCATarget(atqa: 0x0C00, sak: nil, uid: []),
        ]
        for target in targets {
            for (code, wanted): (LinkError.Code?, TagError.Code?) in [
                (nil, nil), (.timeout, .tagLost), (.transmission, .tagLost), (.collision, .tagLost),
                (.tagRemoved, .tagLost), (.cancelled, .cancelled), (.readerUnavailable, .readerUnavailable),
                (.inUse, .readerUnavailable), (.unsupported, .unsupported), (.protocolViolation, .badAnswer),
            ] {
                let link = Link(selections: [code])
                let activation = NFCAActivation(link: link)
                #expect(await errorCode { () throws(TagError) in try await activation.reactivate(target) } == wanted)
                #expect(link.remaining == 0)
            }
        }
    }

    @Test func `A Type 2 tag that refused is woken before its next command, or is gone`() async throws {
        let link = Link(
            [.exchange("3003", nibble: 0), .exchange("3003", "e1100600 0300fe00 00000000 00000000")],
            selections: [nil]
        )
        let tag = makeTag(link)
        #expect(await tag.isPresent())
        #expect(try await tag.detectNDEF().messageLength == 0)
        #expect(link.remaining == 0)
        for code: LinkError.Code in [.timeout, .transmission, .tagRemoved] {
            let other = Link([.exchange("3003", nibble: 0)], selections: [code])
            let gone = makeTag(other)
            #expect(await !gone.isPresent())
            #expect(await errorCode { () throws(TagError) in _ = try await gone.detectNDEF() } == .tagLost)
            #expect(other.remaining == 0)
        }
    }

    private static let idm = "02fe001122334455"

    private static func felica(_ steps: [Step], ic: String, selections: [LinkError.Code?]) -> (Type3Tag, Link) {
        let link = Link(steps, technology: .nfcF, selections: selections)
        let target = NFCFTarget(idm: bytes(idm), pmm: bytes("00" + ic + "000000014300"), systemCode: 0x12FC)
        return (Type3Tag(target: target, link: link), link)
    }

    @Test func `A FeliCa Lite is near when its reader selects it`() async {
        for ic in ["f0", "f1"] {
            for (code, isThere): (LinkError.Code?, Bool) in [
                (nil, true), (.timeout, false), (.tagRemoved, false), (.transmission, false),
            ] {
                let (tag, link) = Self.felica([], ic: ic, selections: [code])
                #expect(await tag.isPresent() == isThere)
                #expect(link.remaining == 0)
            }
        }
    }

    @Test func `A FeliCa Standard is asked for its mode first, and selected where it does not tell`() async {
        let request = "0a04" + Self.idm
        let answer = "0b05" + Self.idm + "00"
        let (near, link) = Self.felica([.exchange(request, answer)], ic: "20", selections: [])
        #expect(await near.isPresent() && link.remaining == 0)
        for odd: Step in [
            .exchange(request, .timeout), .exchange(request, .transmission), .exchange(request, "0a05" + Self.idm),
            .exchange(request, "0b07" + Self.idm + "00"), .exchange(request, "0b0503fe001122334455" + "00"),
        ] {
            for code: LinkError.Code? in [nil, .timeout] {
                let (tag, link) = Self.felica([odd], ic: "20", selections: [code])
                #expect(await tag.isPresent() == (code == nil))
                #expect(link.remaining == 0)
            }
        }
    }

    @Test func `A card that takes long for its mode is waited for no longer than 20 ms`() async {
        for (pmm, time): (String, Airtime) in [
            ("002000ff00014300", .milliseconds(21)),
            ("0020004000014300", Airtime(carrierPeriods: 4096 << 2) + .milliseconds(1)),
        ] {
            let request = Step.exchange("0a04" + Self.idm, "0b05" + Self.idm + "00").within(time)
            let link = ScriptedLink([request], technology: .nfcF)
            let target = NFCFTarget(idm: bytes(Self.idm), pmm: bytes(pmm), systemCode: 0x12FC)
            #expect(await Type3Tag(target: target, link: link).isPresent() && link.remaining == 0)
        }
    }
}
