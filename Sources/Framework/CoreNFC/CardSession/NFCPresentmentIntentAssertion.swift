// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import TagLink

/// Keeps the system's default contactless app away while this app means to present a card.
///
/// An assertion is valid for 15 seconds, or until it is released if that is sooner. The next one can be acquired 15
/// seconds later. No other app takes the card here, so the assertion has no further effect. It follows a phone's times
/// so that you can test the code around it.
public final class NFCPresentmentIntentAssertion: Sendable {
    /// Why an assertion was refused.
    public enum Error: Swift.Error, Sendable, Hashable {
        /// The device or the user is not eligible.
        case systemEligibilityFailed
        /// There is nothing that can be a card, or the last assertion ended less than 15 seconds ago.
        case systemNotAvailable
    }

    private static let duration: Duration = .seconds(15)
    private static let pause: Duration = .seconds(15)

    /// When the last assertion of each clock that still exists ends.
    private static let last = Locked<[Last]>([])

    private struct Last {
        weak var clock: (any RuntimeClock)?
        var end: Duration
    }

    private let clock: any RuntimeClock
    private let end: Duration

    private init(clock: any RuntimeClock, end: Duration) {
        self.clock = clock
        self.end = end
    }

    deinit {
        let now = clock.now
        Self.last.withLock { last in
            // An assertion that is released early ends now.
            guard let index = last.firstIndex(where: { $0.clock === clock && $0.end == end }) else { return }
            last[index].end = min(now, end)
        }
    }

    /// Acquires an assertion.
    ///
    /// - Returns: the assertion; keep it while you need it.
    /// - Throws: ``NFCPresentmentIntentAssertion/Error``.
    public static func acquire() async throws -> NFCPresentmentIntentAssertion {
        guard NFCEnvironment.current.cardPort != nil else { throw Error.systemNotAvailable }
        guard case .allowed = AppConfiguration.evaluate(.current, .cardEmulation) else {
            throw Error.systemEligibilityFailed
        }
        let clock = NFCEnvironment.current.clock
        let now = clock.now
        let isFree = last.withLock { last in
            last.removeAll { $0.clock == nil || $0.clock === clock && now >= $0.end + pause }
            guard !last.contains(where: { $0.clock === clock }) else { return false }
            last.append(Last(clock: clock, end: now + duration))
            return true
        }
        guard isFree else { throw Error.systemNotAvailable }
        return NFCPresentmentIntentAssertion(clock: clock, end: now + duration)
    }

    /// Whether the assertion is valid now.
    public var isValid: Bool { clock.now < end }
}
