// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink

/// The state of a card session, and the events of its port. The port keeps it only until the end, when it is detached.
final class CardSessionCore: EmulatedCard {
    private struct State {
        var hasEnded = false
        var isEmulating = false
        /// Whether the reader has selected an application of this app.
        var isSelected = false
        var alertMessage = ""
        /// The number of the command that waits for an answer; nil when none does.
        var waiting: Int?
        var lastCommand = 0
        var respond: (@Sendable ([UInt8]) -> Void)?
        var timer: ScheduledEvent?
        /// Keeps the background reading service off the reader.
        var claim: (any ReaderClaim)?
    }

    private let port: any CardReaderPort
    private let configuration: AppConfiguration
    private let environment: NFCEnvironment
    private let continuation: AsyncStream<CardSession.Event>.Continuation
    private let state = Locked(State())
    let events: AsyncStream<CardSession.Event>

    init(port: any CardReaderPort, configuration: AppConfiguration, environment: NFCEnvironment) {
        self.port = port
        self.configuration = configuration
        self.environment = environment
        (events, continuation) = AsyncStream<CardSession.Event>.makeStream()
    }

    /// Attaches to the port and starts the session's time limit.
    func attach() -> Bool {
        continuation.yield(.sessionStarted)
        guard port.attach(self) else { return false }
        let timer = environment.clock.schedule(after: environment.limits.session) { [weak self] in
            self?.end(.maxSessionDurationReached)
        }
        state.withLock { $0.timer = timer }
        return true
    }

    var alertMessage: String {
        get { state.withLock { $0.alertMessage } }
        set { state.withLock { $0.alertMessage = newValue } }
    }

    var isEmulating: Bool { state.withLock { $0.isEmulating } }

    /// - Returns: false when the session has ended.
    func startEmulation() -> Bool {
        let (isOpen, starts) = state.withLock { state in
            let starts = !state.hasEnded && !state.isEmulating
            if starts { state.isEmulating = true }
            return (!state.hasEnded, starts)
        }
        if starts { port.setEmulating(true) }
        return isOpen
    }

    func stopEmulation(_ status: CardSession.EmulationUIStatus) {
        let stops = state.withLock { state in
            guard state.isEmulating else { return false }
            state.isEmulating = false
            state.isSelected = false
            state.respond = nil
            return true
        }
        if stops { port.setEmulating(false) }
    }

    /// Has the background reading service release the reader until the session ends.
    func claimReader() async {
        guard let claim = await environment.gate?.claim(for: .card, clock: environment.clock) else { return }
        state.withLock { if !$0.hasEnded { $0.claim = claim } }
    }

    /// Ends the session. Later calls do nothing.
    func end(_ reason: CardSession.Error) {
        let (isFirst, timer) = state.withLock { state -> (Bool, ScheduledEvent?) in
            defer {
                state.hasEnded = true
                state.isEmulating = false
                state.respond = nil
                state.claim = nil
            }
            return (!state.hasEnded, state.timer.take())
        }
        guard isFirst else { return }
        timer?.cancel()
        port.detach(self)
        continuation.yield(.sessionInvalidated(reason: reason))
        continuation.finish()
    }

    // MARK: EmulatedCard

    func readerDetected() { continuation.yield(.readerDetected) }

    func readerDeselected() {
        state.withLock { state in
            state.isSelected = false
            state.respond = nil
            state.waiting = nil
        }
        continuation.yield(.readerDeselected)
    }

    func received(_ apdu: [UInt8], respond: @escaping @Sendable ([UInt8]) -> Void) {
        if let refusal = refusal(of: apdu) { return respond(refusal) }
        let number = state.withLock { state in
            state.lastCommand += 1
            state.waiting = state.lastCommand
            state.respond = respond
            return state.lastCommand
        }
        let command = CardSession.APDU(payload: Data(apdu)) { [weak self] response throws(CardSession.Error) in
            guard let self else { throw .invalidated }
            try answer(number, with: response)
        }
        continuation.yield(.received(command))
    }

    /// The status word for a command that the app does not receive; nil when the app receives it.
    private func refusal(of apdu: [UInt8]) -> [UInt8]? {
        let selected = Self.selectedName(in: apdu)
        return state.withLock { state in
            guard let selected else { return state.isSelected ? nil : [0x6A, 0x82] }
            state.isSelected = configuration.mayEmulate(selected)
            return state.isSelected ? nil : [0x6A, 0x82]
        }
    }

    /// The name of the application that a command selects; nil for any other command.
    private static func selectedName(in apdu: [UInt8]) -> [UInt8]? {
        guard apdu.count >= 4, apdu[1] == 0xA4, apdu[2] == 0x04, let body = APDUBody(parsing: apdu) else { return nil }
        return Array(apdu[body.data])
    }

    private func answer(_ number: Int, with response: Data) throws(CardSession.Error) {
        guard response.count >= 2 else { throw .transmissionError }
        let (hasEnded, isEmulating, respond) = state.withLock { state in
            guard state.waiting == number else { return (state.hasEnded, true, nil as (@Sendable ([UInt8]) -> Void)?) }
            return (state.hasEnded, state.isEmulating, state.respond.take())
        }
        if hasEnded { throw .invalidated }
        if !isEmulating { throw .emulationStopped }
        guard let respond else { throw .transmissionError }
        respond([UInt8](response))
    }
}
