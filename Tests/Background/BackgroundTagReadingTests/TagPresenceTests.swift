// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import BackgroundTagReading

/// Which tags count as near: the memory alone, without a reader around it.
@Suite struct `Which tags count as near` {
    private static let fixed: [UInt8] = [4, 1, 2, 3]
    private static let madeUp: [UInt8] = [8, 1, 2, 3]

    private func arrives(_ presence: inout TagPresence, _ identifier: [UInt8], at milliseconds: Int, stem: String = "x")
        -> Bool
    {
        let reading = TagReading(identifier: identifier, message: nil)
        return presence.read(reading, stem: stem, now: .milliseconds(milliseconds))
    }

    @Test(
        arguments: [
            ([], true), ([8, 1, 2, 3], true), ([4, 1, 2, 3], false), ([8, 1, 2], false), ([0x88, 1, 2, 3], false),
            ([8, 1, 2, 3, 4, 5, 6], false),
        ] as [([UInt8], Bool)]
    )
    func `Four bytes that begin with 08, and none at all, are no identifier to know a tag by`(
        _ identifier: [UInt8],
        _ isMadeUp: Bool
    ) {
        #expect(TagReading(identifier: identifier, message: nil).hasStableIdentifier == !isMadeUp)
    }

    @Test func `Thirty-two tags are known, and the one that was there the longest is forgotten for another`() {
        var presence = TagPresence()
        for number: UInt8 in 0..<32 { #expect(arrives(&presence, [4, number], at: 0)) }
        for number: UInt8 in 0..<32 { #expect(!arrives(&presence, [4, number], at: 0)) }
        #expect(arrives(&presence, [4, 32], at: 0))
        #expect(!arrives(&presence, [4, 1], at: 0) && !arrives(&presence, [4, 32], at: 0))
        #expect(arrives(&presence, [4, 0], at: 0))
    }

    @Test func `A tag has left when a look missed it half a second before`() {
        for (wait, hasLeft) in [(499, false), (500, true)] {
            var presence = TagPresence()
            #expect(arrives(&presence, Self.fixed, at: 0))
            presence.near([Self.fixed], now: .milliseconds(100))
            presence.near([], now: .milliseconds(200))
            presence.near([], now: .milliseconds(600))
            #expect(arrives(&presence, Self.fixed, at: 200 + wait) == hasLeft)
            // From then on it is near again.
            #expect(!arrives(&presence, Self.fixed, at: 10_000))
        }
    }

    @Test func `After a pause a tag that is not certain counts as one that stayed for one second`() {
        for (wait, hasLeft) in [(1000, false), (1001, true)] {
            var presence = TagPresence()
            #expect(arrives(&presence, Self.madeUp, at: 0))
            presence.pause()
            presence.resume(now: .seconds(60))
            #expect(arrives(&presence, Self.madeUp, at: 60_000 + wait) == hasLeft)
        }
    }

    @Test func `The second begins with the last time that reading began again`() {
        var presence = TagPresence()
        presence.resume(now: .zero)
        #expect(arrives(&presence, Self.madeUp, at: 100))
        presence.pause()
        // What is read before it begins again is read by whoever reads at that time.
        #expect(!arrives(&presence, Self.madeUp, at: 50_000))
        presence.pause()
        presence.resume(now: .seconds(60))
        #expect(!arrives(&presence, Self.madeUp, at: 60_500))
        #expect(!arrives(&presence, Self.madeUp, at: 70_000))
    }

    @Test func `A tag that was missed before the pause has left, however long the pause is`() {
        var presence = TagPresence()
        #expect(arrives(&presence, Self.fixed, at: 0))
        presence.near([], now: .milliseconds(100))
        presence.pause()
        presence.resume(now: .seconds(5))
        #expect(arrives(&presence, Self.fixed, at: 5001))
    }

    @Test func `The first look after a pause shows which tags are gone, except for identifiers that change`() {
        var presence = TagPresence()
        #expect(arrives(&presence, Self.fixed, at: 0) && arrives(&presence, Self.madeUp, at: 0))
        presence.pause()
        presence.resume(now: .seconds(5))
        // Something with an identifier of chance is there: it may be the same tag.
        presence.near([[8, 9, 9, 9]], now: .milliseconds(5001))
        #expect(arrives(&presence, Self.fixed, at: 5002))
        #expect(!arrives(&presence, [8, 9, 9, 9], at: 5002))
        presence.pause()
        presence.resume(now: .seconds(9))
        presence.near([Self.fixed], now: .milliseconds(9001))
        #expect(!arrives(&presence, Self.fixed, at: 20_000))
        #expect(arrives(&presence, [8, 9, 9, 9], at: 9002))
    }

    @Test func `What an app has read has not arrived, and one that it found is no longer missed`() {
        var presence = TagPresence()
        #expect(arrives(&presence, Self.fixed, at: 0))
        presence.near([], now: .milliseconds(100))
        presence.readByApp([Self.fixed, [4, 9]])
        presence.resume(now: .seconds(2))
        presence.near([Self.fixed, [4, 9]], now: .milliseconds(2001))
        #expect(!arrives(&presence, Self.fixed, at: 9000) && !arrives(&presence, [4, 9], at: 9000))
        // An identifier of chance stands for any one tag.
        presence.readByApp([Self.madeUp])
        presence.resume(now: .seconds(10))
        #expect(!arrives(&presence, [8, 5, 5, 5], at: 10_100, stem: "a"))
        #expect(arrives(&presence, [8, 6, 6, 6], at: 10_200, stem: "b"))
        #expect(!arrives(&presence, [8, 7, 7, 7], at: 10_300, stem: "a"))
    }
}
