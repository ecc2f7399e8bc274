// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import PN532Driver
package import TagLink

/// Presents an app's card to real readers, with a PN532 that acts as a card.
package final class PN532CardPort: CardReaderPort {
    private struct State {
        var card: (any EmulatedCard)?
        var isEmulating = false
        /// The task that uses the chip now, or used it last.
        var work: Task<Void, Never>?

        mutating func stop() {
            isEmulating = false
            work?.cancel()
        }
    }

    private let device: PN532Card
    private let identity: PN532Card.Identity
    private let state = Locked(State())
    private let onFailure: @Sendable (LinkError) -> Void

    /// Creates a port.
    ///
    /// - Parameters:
    ///   - identity: the activation data of every card of this port.
    ///   - onFailure: called with the reason when the chip can't be used any more; on any thread.
    package init(
        _ device: PN532Card,
        identity: PN532Card.Identity = PN532Card.Identity(),
        onFailure: @escaping @Sendable (LinkError) -> Void
    ) {
        self.device = device
        self.identity = identity
        self.onFailure = onFailure
    }

    package func attach(_ card: any EmulatedCard) -> Bool {
        state.withLock { state in
            guard state.card == nil else { return false }
            state.card = card
            return true
        }
    }

    package func detach(_ card: any EmulatedCard) {
        state.withLock { state in
            guard state.card === card else { return }
            state.card = nil
            state.stop()
        }
    }

    /// Waits until the line of a card that was detached is closed.
    package func finish() async { await state.withLock { $0.work }?.value }

    package func setEmulating(_ isEmulating: Bool) {
        state.withLock { state in
            guard let card = state.card, isEmulating != state.isEmulating else { return }
            guard isEmulating else { return state.stop() }
            state.isEmulating = true
            let last = state.work
            state.work = Task { [self] in
                // The last task releases the line when it ends.
                await last?.value
                await show(card)
            }
        }
    }

    /// Serves one reader after the other until the task is cancelled.
    private func show(_ card: any EmulatedCard) async {
        var failures = 0
        while !Task.isCancelled {
            do throws(LinkError) {
                try await device.waitForReader(as: identity)
                card.readerDetected()
                try await serve(card)
                failures = 0
            } catch {
                // When no card is presented any more, a missing chip does not matter.
                guard error.code != .cancelled, !Task.isCancelled else { break }
                card.readerDeselected()
                failures += 1
                // Problems with a reader are temporary. A missing or unsuitable chip is a lasting problem.
                let isLasting = error.code == .readerUnavailable || error.code == .unsupported
                guard !isLasting, failures < Self.attempts else {
                    onFailure(error)
                    break
                }
            }
        }
        await device.close()
    }

    /// The maximum number of consecutive readers with errors.
    private static let attempts = 10

    private func serve(_ card: any EmulatedCard) async throws(LinkError) {
        while let command = try await device.nextCommand() {
            let (answers, app) = AsyncStream.makeStream(of: [UInt8].self)
            card.received(command) { app.yield($0) }
            // The iterator returns nil when the task is cancelled because the card was removed.
            var iterator = answers.makeAsyncIterator()
            guard let response = await iterator.next(isolation: nil) else {
                throw LinkError(.cancelled, "The card was taken away.")
            }
            guard try await device.respond(response) else { break }
        }
        card.readerDeselected()
    }
}
