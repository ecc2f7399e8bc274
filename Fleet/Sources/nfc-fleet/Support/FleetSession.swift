// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FleetMQTT
import FleetModel
import Glibc

/// A command's connection and its events. Ctrl-C, SIGTERM and SIGHUP cancel the session.
final class FleetSession {
    /// An event that a command handles.
    enum Event: Sendable {
        case broker(MQTTEvent)
        /// The time set with ``FleetSession/remind(_:after:)`` has passed.
        case reminder(Int)
        case cancelled
    }

    let configuration: FleetConfiguration
    let connection: MQTTConnection
    let events: AsyncStream<Event>
    private let input: AsyncStream<Event>.Continuation
    private let signals: StopSignals

    /// Starts connecting to the broker.
    ///
    /// - Parameters:
    ///   - options: the broker to connect to.
    ///   - reconnects: whether to re-establish a lost connection, for long-running commands.
    ///   - signals: the signals that cancel the session.
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

    /// Whether a signal has cancelled the session.
    var isCancelled: Bool { signals.isRaised }

    /// Schedules a reminder event, after a delay in seconds.
    func remind(_ number: Int = 0, after seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [input] in input.yield(.reminder(number)) }
    }

    /// Handles events until there is a result, then closes the connection.
    ///
    /// - Parameter take: handles an event. Returns the result, or nil to continue.
    func run<Value>(_ take: (Event) throws -> Value?) async throws -> Value {
        var result: Value?
        do {
            for await event in events {
                switch event {
                case .cancelled: throw FleetFailure.cancelled
                case .broker(.disconnected(let failure)) where !connection.isPatient: throw FleetFailure(failure)
                case .broker(.dropped(_, let topic, let reason)):
                    throw FleetFailure(
                        .refused,
                        "not-allowed",
                        """
                        The broker does not let \(connection.login) publish on \(topic) (\(reason)). Check its access list.
                        """
                    )
                case .broker(.oversized):
                    throw FleetFailure(
                        .refused,
                        "too-large",
                        "The message is too large for the broker. Send a shorter one, or raise the broker's limit."
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
    /// The signals that end a command. Under `nohup`, a command continues after the terminal is closed.
    static func ofCommand() -> StopSignals { StopSignals([SIGINT, SIGTERM, SIGHUP]) }
}
