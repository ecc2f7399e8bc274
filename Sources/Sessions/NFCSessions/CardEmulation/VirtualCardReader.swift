// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Connects an emulated card to a reader: a virtual reader, or another program through pcscd.
///
/// A port has one card at most. The port reports the reader's actions to the card, one call at a time and in order.
public protocol CardReaderPort: AnyObject, Sendable {
    /// Attaches a card to the port.
    ///
    /// - Returns: false when the port already has a card.
    func attach(_ card: any EmulatedCard) -> Bool

    /// Detaches the card. A command that the card has not answered yet fails.
    func detach(_ card: any EmulatedCard)

    /// Sets whether the card answers readers now.
    func setEmulating(_ isEmulating: Bool)
}

/// The card's side of a ``CardReaderPort``: it receives the reader's actions.
public protocol EmulatedCard: AnyObject, Sendable {
    /// The card is in a reader's field.
    func readerDetected()

    /// A reader sends a command.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - respond: takes the answer with its status word. Call it at most once, on any thread. The answer is ignored
    ///     when the card has been detached.
    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void)

    /// The reader's field is gone, or the reader has deselected the card.
    func readerDeselected()
}

/// A virtual reader that uses the card an app emulates, as a payment terminal would.
///
/// All methods may be called from any thread.
public final class VirtualCardReader: CardReaderPort {
    /// Why a command was not answered.
    public enum Failure: Error, Sendable, Hashable {
        /// No card is attached, or the card is not emulating now.
        case noCard
        /// The card left before it answered.
        case cardLost
    }

    private typealias Completion = @Sendable (Result<[UInt8], Failure>) -> Void

    private struct State {
        var card: (any EmulatedCard)?
        var isEmulating = false
        var isPresent = false
        var pending: Completion?
        /// The number of the current command, so that a late answer to an earlier command is ignored.
        var commandNumber = 0
    }

    private let state = Locked(State())

    /// Creates a reader that is out of the card's range.
    public init() {}

    // MARK: The reader

    /// Moves the reader to the card. Does nothing when the reader is already there.
    public func approach() {
        let card = state.withLock { state in
            defer { state.isPresent = true }
            return state.isPresent ? nil : state.card
        }
        card?.readerDetected()
    }

    /// Moves the reader away. Does nothing when the reader is already away.
    public func leave() {
        let (card, pending) = state.withLock { state in
            defer { state.isPresent = false }
            return (state.isPresent ? state.card : nil, state.pending.take())
        }
        pending?(.failure(.cardLost))
        card?.readerDeselected()
    }

    /// Waits until a card is emulating at the reader.
    ///
    /// - Parameter limit: the maximum wait, in real time.
    /// - Throws: ``Failure/noCard`` when no card starts emulating in time, or `CancellationError`.
    public func waitForCard(limit: Duration = .seconds(5)) async throws {
        let end = ContinuousClock.now + limit
        while !state.withLock({ $0.isEmulating && $0.card != nil }) {
            guard ContinuousClock.now < end else { throw Failure.noCard }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Sends a command, and waits for the answer.
    ///
    /// - Returns: the answer with its status word.
    /// - Throws: ``Failure``.
    public func transmit(_ apdu: [UInt8]) async throws -> [UInt8] {
        let result: Result<[UInt8], Failure> = await withCompletion { done in
            let next = state.withLock { state -> (card: any EmulatedCard, commandNumber: Int)? in
                guard state.isPresent, state.isEmulating, let card = state.card, state.pending == nil else {
                    return nil
                }
                state.pending = done
                state.commandNumber += 1
                return (card, state.commandNumber)
            }
            guard let next else { return done(.failure(.noCard)) }
            next.card.received(apdu) { [self] answer in
                let pending = state.withLock { $0.commandNumber == next.commandNumber ? $0.pending.take() : nil }
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
