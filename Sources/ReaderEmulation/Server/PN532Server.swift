// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
package import TagLink

/// A PN532 that other programs reach over a pseudo-terminal, as they would over a serial adapter.
package final class PN532Server: Sendable {
    private enum Event: Sendable {
        case octets([UInt8])
        case presence
    }

    /// The terminal's own name, such as `/dev/pts/3`.
    package let terminalName: String

    private let executor = ServerExecutor(label: "PN532Server")
    private let channel: DescriptorChannel
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let presence: PresenceObservation?
    private let device: PN532SerialDevice
    private let close: @Sendable () -> Void

    /// Makes the line, with a link to it at a path.
    ///
    /// - Parameters:
    ///   - path: the link's path.
    ///   - field: the field of the chip.
    ///   - place: where it is a card for another reader.
    ///   - onExchange: takes each command with its answer.
    /// - Throws: ``EmulationError`` when no terminal or link can be made.
    package init(
        path: String,
        field: any FieldDriver,
        place: (any CardPlace)? = nil,
        onExchange: (@Sendable (Exchange) -> Void)? = nil
    ) throws(EmulationError) {
        let terminal = try PseudoTerminal(link: path)
        terminalName = terminal.name
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        self.continuation = continuation
        device = PN532SerialDevice(
            field: field,
            place: place,
            onTargetChange: { continuation.yield(.presence) },
            onExchange: onExchange
        )
        presence = field.observePresence { continuation.yield(.presence) }
        channel = DescriptorChannel(
            terminal.controller,
            queue: executor.queue,
            onOctets: { continuation.yield(.octets($0)) },
            onEnd: { continuation.finish() }
        )
        close = { terminal.remove() }
    }

    /// Begins to answer hosts, until ``stop()``, or until the terminal fails.
    ///
    /// - Returns: the work, which ends after ``stop()``.
    package func start() -> Task<Void, Never> {
        Task(executorPreference: executor) { await self.run() }
    }

    private func run() async {
        var device = device
        for await event in events {
            let send = { (octets: [UInt8]) in _ = self.channel.send(octets) }
            switch event {
            case .octets(let octets): await device.receive(octets, send: send)
            case .presence: await device.presenceChanged(send: send)
            }
        }
        device.powerOff()
        channel.close()
        close()
    }

    /// Ends the work of ``start()``, which then takes the link away.
    package func stop() {
        continuation.finish()
        // What is still to be answered is not waited for.
        channel.close()
    }
}
