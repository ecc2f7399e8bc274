// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import UserBus

/// Waits for what happens in the demonstration: at the notifications, in the service, at the keyboard, and signals.
final class DemoLoop {
    /// What happens.
    enum Happening {
        case desk(NotificationStand.Event)
        /// A line of the service's log.
        case service(event: String, message: String)
        case returnKey
        /// No key can come any more.
        case inputEnded
        /// The time of ``DemoLoop/alarm`` has come.
        case alarm

        /// The sentence of a line of the log; nil for what is no such line.
        func message(of event: String) -> String? {
            if case .service(event, let message) = self { message } else { nil }
        }
    }

    private struct LogLine: Decodable {
        var event: String
        var message: String
    }

    private let stand: NotificationStand
    private let service: DemoProgram
    private let signals: DemoSignals
    /// Whether the person's keys count. What was typed before is then read too.
    var readsInput = false
    /// When ``Happening/alarm`` is due; nil for never.
    var alarm: ContinuousClock.Instant?
    private var waiting: [Happening] = []
    /// What the service said last, for who waits in vain.
    private var lastMessage = ""

    init(stand: NotificationStand, service: DemoProgram, signals: DemoSignals) {
        self.stand = stand
        self.service = service
        self.signals = signals
    }

    /// Waits until something is so.
    ///
    /// - Parameters:
    ///   - limit: how long; nil for as long as it takes.
    ///   - what: what is waited for, for people.
    ///   - find: what is wanted of a happening; nil when it is not the one.
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
        let said = lastMessage.isEmpty ? "" : " The service says: \(lastMessage)"
        throw CommandFailure(.refused, "timeout", "Nothing came of waiting for \(what).\(said)")
    }

    /// The next thing that happens.
    ///
    /// - Returns: nil when nothing does in the time.
    /// - Throws: ``CommandFailure`` when the demonstration was ended, or the service or the bus is gone.
    func next(within limit: Duration) throws(CommandFailure) -> Happening? {
        let end = ContinuousClock.now + limit
        while true {
            try signals.check()
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

    private func take() throws(CommandFailure) {
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
