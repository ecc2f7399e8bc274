// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Testing

@Suite("Tags that lie on a reader")
struct TagStaysTests {
    func come(_ stays: inout TagStays, _ tag: [UInt8], _ now: Int) -> [TagStays.Departure] {
        guard !stays.continues(tag, now: .milliseconds(now)) else { return [] }
        let departures = stays.makeRoom(for: tag, now: .milliseconds(now))
        stays.add(tag, event: "e\(now)", now: .milliseconds(now))
        return departures
    }

    @Test("Removed tag: its departure comes after the delay, with the time when the tag was first missed")
    func leaves() {
        var stays = TagStays(delay: .milliseconds(300))
        _ = come(&stays, [1], 0)
        stays.near([], now: .milliseconds(1000))
        let early = stays.sweep(now: .milliseconds(1299))
        #expect(early.isEmpty)
        #expect(stays.nextLimit == .milliseconds(1300))
        let departures = stays.sweep(now: .milliseconds(1300))
        #expect(departures.map(\.event) == ["e0"])
        #expect(departures.map(\.duration) == [.milliseconds(1000)])
        #expect(stays.stays.isEmpty)
    }

    @Test("Tag that comes back within the delay: no departure")
    func wobbles() {
        var stays = TagStays(delay: .milliseconds(300))
        _ = come(&stays, [1], 0)
        stays.near([], now: .milliseconds(1000))
        let wasNear = stays.continues([1], now: .milliseconds(1200))
        #expect(wasNear)
        let departures = stays.sweep(now: .seconds(9))
        #expect(departures.isEmpty)
    }

    @Test("Tag that comes back after the delay: one departure for the old visit, and a new visit begins")
    func returns() {
        var stays = TagStays(delay: .milliseconds(300))
        _ = come(&stays, [1], 0)
        stays.near([], now: .milliseconds(1000))
        let departures = come(&stays, [1], 1400)
        #expect(departures.map(\.duration) == [.milliseconds(1000)])
        #expect(stays.stays.map(\.event) == ["e1400"])
    }

    @Test("Missed tag: found within the delay, the visit goes on; a later look does not extend the delay")
    func looks() {
        var stays = TagStays(delay: .milliseconds(300))
        for (tag, now) in [(1, 0), (2, 10), (3, 20)] as [(UInt8, Int)] { _ = come(&stays, [tag], now) }
        stays.near([[3]], now: .milliseconds(1000))
        stays.near([[1]], now: .milliseconds(1100))
        #expect(stays.nextLimit == .milliseconds(1300))
        // The second one is too late.
        stays.near([[1], [2]], now: .milliseconds(1300))
        let first = stays.sweep(now: .milliseconds(1300))
        #expect(first.map(\.event) == ["e10"] && first.map(\.duration) == [.milliseconds(990)])
        let second = stays.sweep(now: .milliseconds(1400))
        #expect(second.map(\.event) == ["e20"] && second.map(\.duration) == [.milliseconds(1080)])
        #expect(stays.stays.map(\.event) == ["e0"] && stays.nextLimit == nil)
    }

    @Test("More tags on a reader than the limit: the oldest one counts as removed")
    func many() {
        var stays = TagStays(delay: .milliseconds(300))
        for number in 0..<TagStays.maximumCount {
            let none = come(&stays, [UInt8(number)], number)
            #expect(none.isEmpty)
        }
        let departures = come(&stays, [0xFF], 1000)
        #expect(departures.map(\.event) == ["e0"])
        #expect(departures.map(\.duration) == [.milliseconds(1000)])
        let lastIsNear = stays.continues([UInt8(TagStays.maximumCount - 1)], now: .milliseconds(1001))
        #expect(lastIsNear)
    }

    @Test("Random arrivals and departures of tags: each arrival has one departure")
    func balance() {
        for seed in 0..<200 {
            var generator = SplitMix(state: UInt64(seed))
            var stays = TagStays(delay: .milliseconds(100))
            var (arrivals, departures, now) = (0, 0, 0)
            for _ in 0..<200 {
                now += Int.random(in: 0..<150, using: &generator)
                let tag: [UInt8] = [UInt8.random(in: 0..<4, using: &generator)]
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    let isNew = !stays.continues(tag, now: .milliseconds(now))
                    if isNew {
                        departures += stays.makeRoom(for: tag, now: .milliseconds(now)).count
                        stays.add(tag, event: nil, now: .milliseconds(now))
                        arrivals += 1
                    }
                case 1: stays.near(Bool.random(using: &generator) ? [tag] : [], now: .milliseconds(now))
                default: departures += stays.sweep(now: .milliseconds(now)).count
                }
                #expect(arrivals == departures + stays.stays.count)
            }
            departures += stays.clear(now: .milliseconds(now)).count
            #expect(arrivals == departures)
        }
    }
}

/// A generator with a seed, so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
