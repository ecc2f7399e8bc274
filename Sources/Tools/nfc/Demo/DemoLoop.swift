// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import UserBus

/// Waits for the events of the demonstration: notifications, the service's log, keys and signals.
final class DemoLoop {
    /// An event.
    enum Happening {
        case desk(NotificationRelay.Event)
        /// A line of the service's log.
        case service(event: String, message: String)
        case returnKey
        /// Standard input has ended, so no key can come.
        case inputEnded
        /// The time of ``DemoLoop/alarm`` is reached.
        case alarm

        /// The message of a log line with this event; nil for other events.
        func message(of event: String) -> String? {
            if case .service(event, let message) = self { message } else { nil }
        }
    }

    private struct LogLine: Decodable {
        var event: String
        var message: String
    }

    private let stand: NotificationRelay
    private let service: DemoProgram
    private let signals: DemoSignals
    /// Whether keys are read. Keys that were typed earlier are then read too.
    var readsInput = false
    /// When ``Happening/alarm`` is due; nil for never.
    var alarm: ContinuousClock.Instant?
    private var waiting: [Happening] = []
    /// The last message of the service, for the failure of a wait.
    private var lastMessage = ""

    init(stand: NotificationRelay, service: DemoProgram, signals: DemoSignals) {
        self.stand = stand
        self.service = service
        self.signals = signals
    }

    /// Waits for an event.
    ///
    /// - Parameters:
    ///   - limit: how long to wait; nil for no limit.
    ///   - what: the name of the event, for people.
    ///   - find: returns the result of the right event, and nil for others.
    func wait<Value>(
        _ limit: Duration?,
        _ what: String,
        find: (Happening) -> Value?
    ) throws(CommandFailure) -> Value {
        let end = limit.map { ContinuousClock.now + $0 }
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            guard let happening = try next(within: .milliseconds(200)) else { continue }
            if let value = find(happening) { return value }
            if case .service(let event, let message) = happening, ["not-delivered", "not-shown"].contains(event) {
                throw CommandFailure(.refused, event, message)
            }
        }
        throw Self.tooLong(what, lastMessage)
    }

    /// The failure of a wait.
    ///
    /// - Parameters:
    ///   - what: the name of the event, for people.
    ///   - lastMessage: the last message of the service; empty when there was none.
    static func tooLong(_ what: String, _ lastMessage: String) -> CommandFailure {
        let said = lastMessage.isEmpty ? "" : " The service reports: \(lastMessage)"
        return CommandFailure(.refused, "timeout", "Waiting for \(what) took too long.\(said)")
    }

    /// The next event.
    ///
    /// - Returns: nil when there is none in the time.
    /// - Throws: ``CommandFailure`` when the demonstration was ended, or the service or the bus is gone.
    func next(within limit: Duration) throws(CommandFailure) -> Happening? {
        let end = ContinuousClock.now + limit
        while true {
            try take()
            if let alarm, alarm <= ContinuousClock.now {
                self.alarm = nil
                waiting.append(.alarm)
            }
            if !waiting.isEmpty { return waiting.removeFirst() }
            guard ContinuousClock.now < end else { return nil }
            let inputs = readsInput ? [STDIN_FILENO] : []
            var pollers = (stand.descriptors + [service.descriptor] + inputs).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            _ = unsafe poll(&pollers, nfds_t(pollers.count), 50)
            if readsInput, pollers.last?.revents != 0 { readInput() }
        }
    }

    /// Takes what has happened. A signal counts before all else, because it may have ended the service too.
    private func take() throws(CommandFailure) {
        try signals.check()
        do throws(BusError) {
            waiting += try stand.process().map(Happening.desk)
        } catch {
            throw CommandFailure(.refused, "no-bus", error.reason)
        }
        for line in service.lines() {
            guard let line = try? JSONDecoder().decode(LogLine.self, from: Data(line.utf8)) else { continue }
            lastMessage = line.message
            waiting.append(.service(event: line.event, message: line.message))
        }
        if service.isAtEnd, waiting.isEmpty {
            throw CommandFailure(.refused, "service-ended", "The service has ended. \(lastMessage)")
        }
    }

    private func readInput() {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        if count > 0 {
            waiting += bytes.prefix(count).filter { $0 == 0x0A || $0 == 0x0D }.map { _ in .returnKey }
        } else {
            readsInput = false
            waiting.append(.inputEnded)
        }
    }
}
