// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A reader that is not there: it meets the card that an app emulates, as a terminal would.
///
/// All methods may be called from any thread.
public final class VirtualCardReader: CardReaderPort {
    /// Why a command had no answer.
    public enum Failure: Error, Sendable, Hashable {
        /// There is no card, or it does not emulate now.
        case noCard
        /// The card went away before it answered.
        case cardLost
    }

    private typealias Completion = @Sendable (Result<[UInt8], Failure>) -> Void

    private struct State {
        var card: (any EmulatedCard)?
        var isEmulating = false
        var isPresent = false
        var pending: Completion?
        /// Tells the answers of commands apart: one that comes late belongs to none.
        var turn = 0
    }

    private let state = Locked(State())

    /// Creates a reader, which is far away.
    public init() {}

    // MARK: The reader

    /// Brings the reader near.
    public func approach() {
        let card = state.withLock { state in
            state.isPresent = true
            return state.card
        }
        card?.readerDetected()
    }

    /// Takes the reader away.
    public func leave() {
        let (card, pending) = state.withLock { state in
            state.isPresent = false
            return (state.card, state.pending.take())
        }
        pending?(.failure(.cardLost))
        card?.readerDeselected()
    }

    /// Waits until a card emulates in front of the reader.
    ///
    /// - Parameter limit: how long to wait, in real time.
    /// - Throws: ``Failure/noCard`` when none has by then, or `CancellationError`.
    public func untilCardIsThere(limit: Duration = .seconds(5)) async throws {
        let end = ContinuousClock.now + limit
        while !state.withLock({ $0.isEmulating && $0.card != nil }) {
            guard ContinuousClock.now < end else { throw Failure.noCard }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Sends a command, and waits for the answer.
    ///
    /// - Parameter apdu: the command.
    /// - Returns: the answer with its status word.
    /// - Throws: ``Failure``.
    public func transmit(_ apdu: [UInt8]) async throws -> [UInt8] {
        let result: Result<[UInt8], Failure> = await handedOver { done in
            let next = state.withLock { state -> (card: any EmulatedCard, turn: Int)? in
                guard state.isPresent, state.isEmulating, let card = state.card, state.pending == nil else {
                    return nil
                }
                state.pending = done
                state.turn += 1
                return (card, state.turn)
            }
            guard let next else { return done(.failure(.noCard)) }
            next.card.received(apdu) { [self] answer in
                let pending = state.withLock { $0.turn == next.turn ? $0.pending.take() : nil }
                pending?(.success(answer))
            }
        }
        return try result.get()
    }

    // MARK: CardReaderPort

    public func attach(_ card: any EmulatedCard) -> Bool {
        let (isFree, isPresent) = state.withLock { state in
            guard state.card == nil else { return (false, false) }
            state.card = card
            return (true, state.isPresent)
        }
        if isPresent { card.readerDetected() }
        return isFree
    }

    public func detach(_ card: any EmulatedCard) {
        let pending = state.withLock { state -> Completion? in
            guard state.card === card else { return nil }
            state.card = nil
            state.isEmulating = false
            return state.pending.take()
        }
        pending?(.failure(.cardLost))
    }

    public func setEmulating(_ isEmulating: Bool) {
        let pending = state.withLock { state in
            state.isEmulating = isEmulating
            return isEmulating ? nil : state.pending.take()
        }
        pending?(.failure(.cardLost))
    }
}
