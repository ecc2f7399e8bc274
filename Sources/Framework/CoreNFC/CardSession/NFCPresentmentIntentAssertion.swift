// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagLink

/// Holds off the system's default app for contactless use while this app means to present a card.
///
/// An assertion is good for 15 seconds, or as long as it is kept; then 15 seconds have to go by before the next one. No
/// other app takes the card here, so nothing is held off: the times are those of a phone, so that code around them can
/// be tested.
public final class NFCPresentmentIntentAssertion: Sendable {
    /// Why an assertion was not given.
    public enum Error: Swift.Error, Sendable, Hashable {
        /// The device or the person is not eligible.
        case systemEligibilityFailed
        /// There is nothing that can be a card, or the last assertion was given too short a time ago.
        case systemNotAvailable
    }

    private static let duration: Duration = .seconds(15)
    private static let pause: Duration = .seconds(15)

    /// When the last assertion of each clock that is still there ends.
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
            // One that is let go early ends now.
            guard let index = last.firstIndex(where: { $0.clock === clock && $0.end == end }) else { return }
            last[index].end = min(now, end)
        }
    }

    /// Asks for an assertion.
    ///
    /// - Returns: the assertion; keep it for as long as it is needed.
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

    /// Whether the assertion is good now.
    public var isValid: Bool { clock.now < end }
}
