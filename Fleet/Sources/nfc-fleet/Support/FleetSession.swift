// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FleetMQTT
import FleetModel
import Glibc

/// A connection of a command, with what comes over it. Ctrl-C, SIGTERM and SIGHUP cancel it.
final class FleetSession {
    /// What a command waits for.
    enum Event: Sendable {
        case broker(MQTTEvent)
        /// The time is over that ``FleetSession/remind(after:)`` was asked for.
        case reminder(Int)
        case cancelled
    }

    let configuration: FleetConfiguration
    let connection: MQTTConnection
    let events: AsyncStream<Event>
    private let input: AsyncStream<Event>.Continuation
    private let signals: StopSignals

    /// Connects.
    ///
    /// - Parameters:
    ///   - options: the broker.
    ///   - reconnects: whether a lost connection is made again, for a command that goes on for a long time.
    ///   - signals: what cancels it.
    init(
        _ options: FleetOptions,
        reconnects: Bool = false,
        signals: StopSignals = .ofCommand()
    ) throws(FleetFailure) {
        self.signals = signals
        configuration = try options.configuration()
        let (events, input) = AsyncStream.makeStream(of: Event.self)
        (self.events, self.input) = (events, input)
        connection = MQTTConnection(try configuration.settings(reconnects: reconnects)) { input.yield(.broker($0)) }
        signals.notify { input.yield(.cancelled) }
        connection.start()
    }

    var topics: FleetTopics { configuration.broker.topics }

    /// Whether a signal has ended it.
    var isCancelled: Bool { signals.isRaised }

    /// Has a reminder come.
    func remind(_ number: Int = 0, after seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [input] in input.yield(.reminder(number)) }
    }

    /// Waits for events, and closes the connection.
    ///
    /// - Parameter take: handles each event; returns the result when it has one.
    func run<Value>(_ take: (Event) throws -> Value?) async throws -> Value {
        var result: Value?
        do {
            for await event in events {
                switch event {
                case .cancelled: throw FleetFailure.cancelled
                case .broker(.disconnected(let failure)) where !connection.isPatient: throw FleetFailure(failure)
                case .broker(.dropped(_, let reason)):
                    throw FleetFailure(
                        .refused,
                        "not-allowed",
                        "The broker does not let you publish this (\(reason)). Check its access list for your user."
                    )
                case .broker(.oversized):
                    throw FleetFailure(
                        .refused,
                        "too-large",
                        "The broker takes no message as large as this. Send a shorter one, or allow it larger ones."
                    )
                default: result = try take(event)
                }
                if result != nil { break }
            }
        } catch {
            await connection.stop()
            throw error
        }
        await connection.stop()
        guard let result else { throw FleetFailure.cancelled }
        return result
    }
}

extension StopSignals {
    /// The signals that end a command. One under `nohup` goes on after the terminal is closed.
    static func ofCommand() -> StopSignals { StopSignals([SIGINT, SIGTERM, SIGHUP]) }
}
