// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

/// Calls that come while a command is under way on a card, and faults between requests for more time.
@Suite struct `ISO-DEP while a command is under way` {
    /// A scripted link on which something else happens before the first frame of a kind is answered: an I-block, or
    /// another.
    private final class BusyLink: FrameLink {
        let technology = Technology.nfcA
        let maximumFrameLength = 256
        let script: ScriptedLink
        private let firstByte: UInt8
        private let interruption = Locked<(@Sendable () async -> Void)?>(nil)

        init(_ steps: [ScriptedLink.Step], at firstByte: UInt8 = 0x02) {
            script = ScriptedLink(steps)
            self.firstByte = firstByte
        }

        var statistics: LinkStatistics { script.statistics }

        func interrupt(with action: @escaping @Sendable () async -> Void) {
            interruption.withLock { $0 = action }
        }

        func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
            if frame.bytes.first == firstByte {
                let action = interruption.withLock { held in
                    defer { held = nil }
                    return held
                }
                await action?()
            }
            return try await script.transceive(frame, timeout: timeout)
        }
    }

    private static let start = ScriptedLink.Step.exchange("e080", "0578807002")

    @Test func `One command goes at a time, and a card that is busy is there`() async throws {
        let link = BusyLink([Self.start, .exchange("02 00a4", "02 9000"), .exchange("03 00b0", "03 9000")])
        let card = ISODEP(link: link)
        let isPresent = Locked(false)
        let errors = Locked<[LinkError.Code]>([])
        link.interrupt {
            let found = await card.isPresent()
            isPresent.withLock { $0 = found }
            do throws(LinkError) {
                _ = try await card.transmit([0x00, 0xCA])
            } catch {
                errors.withLock { $0.append(error.code) }
            }
            do throws(LinkError) {
                try await card.deselect()
            } catch {
                errors.withLock { $0.append(error.code) }
            }
        }
        #expect(try await card.transmit([0x00, 0xA4]) == [0x90, 0x00])
        #expect(isPresent.withLock { $0 })
        #expect(errors.withLock { $0 } == [.readerUnavailable, .readerUnavailable])
        // The refusals are no faults of the card.
        #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
        #expect(link.script.remaining == 0)
    }

    @Test func `A command ends when the card is activated again in its middle`() async throws {
        let link = BusyLink([
            Self.start, .exchange("02 00a4", "02 9000"), Self.start, .exchange("02 00b0", "02 9000"),
        ])
        let card = ISODEP(link: link)
        link.interrupt { card.wasActivated() }
        await #expect(throws: LinkError(.readerUnavailable, "")) { try await card.transmit([0x00, 0xA4]) }
        card.wasActivated()
        #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
        #expect(link.script.remaining == 0)
    }

    @Test func `What comes of an earlier RATS is not that of the card that was activated since`() async throws {
        for answer: ScriptedLink.Step in [Self.start, .exchange("e080", .protocolViolation)] {
            let link = BusyLink(
                [answer, .exchange("e080", "067577810280"), .exchange("02 00b0", "02 9000")],
                at: 0xE0
            )
            let card = ISODEP(link: link)
            link.interrupt { card.wasActivated() }
            await #expect(throws: LinkError.self) { try await card.activate() }
            #expect(card.answerToSelect == nil)
            #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
            #expect(card.answerToSelect?.frameSizeIndex == 5 && link.script.remaining == 0)
        }
    }

    @Test func `What comes of an earlier PPS is not that of the card that was activated since`() async throws {
        let start = ScriptedLink.Step.exchange("e080", "067577810280")
        for answer: ScriptedLink.Step in [.exchange("d0 11 05", "d1"), .exchange("d0 11 05", .timeout)] {
            let link = BusyLink([start, answer, start, .exchange("02 00b0", "02 9000")], at: 0xD0)
            let card = ISODEP(link: link)
            link.interrupt { card.wasActivated() }
            await #expect(throws: LinkError.self) { try await card.select(bitRate: .kbit212) }
            #expect(try await card.transmit([0x00, 0xB0]) == [0x90, 0x00])
            #expect(link.script.remaining == 0)
        }
    }

    @Test func `The count of faults restarts when the card asks for more time`() async throws {
        let link = ScriptedLink([
            Self.start, .exchange("02 00a4", .timeout), .exchange("b2", .timeout), .exchange("b2", "f2 01"),
            .exchange("f2 01", .timeout), .exchange("b2", .transmission), .exchange("b2", "02 9000"),
        ])
        #expect(try await ISODEP(link: link).transmit([0x00, 0xA4]) == [0x90, 0x00])
        #expect(link.remaining == 0)
    }
}
