// SPDX-License-Identifier: Apache-2.0

/// The choices that one random case is made of.
///
/// A value is made by drawing numbers. The numbers drawn are kept, so that the same value can be made again, and a
/// simpler one from fewer or smaller numbers. Draw so that 0 is the simplest choice: put the plainest element first.
package struct Draws: Sendable {
    private var random: UInt64
    private let replayed: [UInt64]?
    /// The numbers drawn so far.
    private(set) var drawn: [UInt64] = []

    /// Draws random numbers, the same ones for the same seed.
    init(seed: UInt64) {
        random = seed
        replayed = nil
    }

    /// Draws these numbers, and zeros when they have run out.
    init(replaying numbers: [UInt64]) {
        random = 0
        replayed = numbers
    }

    /// A number in a range; the lower bound is the simplest.
    package mutating func int(in range: ClosedRange<Int>) -> Int {
        let width = UInt64(range.upperBound - range.lowerBound)
        let number: UInt64
        if let replayed {
            number = min(drawn.count < replayed.count ? replayed[drawn.count] : 0, width)
        } else {
            number = width == .max ? next() : next() % (width + 1)
        }
        drawn.append(number)
        return range.lowerBound + Int(number)
    }

    /// One of several elements; the first is the simplest.
    package mutating func element<Element>(of elements: [Element]) -> Element {
        elements[int(in: 0...elements.count - 1)]
    }

    /// Whether something rare happens: once in so many times.
    package mutating func happens(onceIn times: Int) -> Bool {
        int(in: 0...times - 1) == times - 1
    }

    /// Elements that are made one after the other.
    package mutating func array<Element>(
        count: ClosedRange<Int>,
        of make: (inout Draws) -> Element
    ) -> [Element] {
        (0..<int(in: count)).map { _ in make(&self) }
    }

    /// Random bytes.
    package mutating func bytes(count: ClosedRange<Int>) -> [UInt8] {
        array(count: count) { UInt8($0.int(in: 0...255)) }
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    private mutating func next() -> UInt64 {
        random &+= 0x9E37_79B9_7F4A_7C15
        var mixed = random
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
