// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import LinuxSupport
package import TagLink

/// A PN532 that other programs use over a pseudo-terminal, like a PN532 on a serial adapter.
package final class PN532Server: Sendable {
    private enum Event: Sendable {
        case bytes([UInt8])
        case presence
    }

    package let terminalName: String

    /// A separate queue, because hosts expect answers even if the process is busy.
    private let executor = QueueExecutor(target: nil)
    private let channel: DescriptorChannel
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let presence: PresenceObservation?
    private let device: PN532SerialDevice
    private let close: @Sendable () -> Void

    /// Creates the terminal, and a symbolic link to it. Throws ``EmulationError`` when the terminal or the link can't
    /// be created.
    package init(
        path: String,
        field: any FieldDriver,
        place: (any CardSlot)? = nil,
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
            onBytes: { continuation.yield(.bytes($0)) },
            onEnd: { continuation.finish() }
        )
        close = { terminal.remove() }
    }

    /// Starts to answer hosts, until ``stop()`` is called or the terminal fails. Returns the task, which ends then.
    package func start() -> Task<Void, Never> {
        Task(executorPreference: executor) { await self.run() }
    }

    private func run() async {
        var device = device
        for await event in events {
            let send = { (bytes: [UInt8]) in _ = self.channel.send(bytes) }
            switch event {
            case .bytes(let bytes): await device.receive(bytes, send: send)
            case .presence: await device.presenceChanged(send: send)
            }
        }
        await device.powerOff()
        channel.close()
        close()
    }

    /// Ends the task that ``start()`` returned. That task then removes the link.
    package func stop() {
        continuation.finish()
        // Closes the channel at once, without waiting for pending answers.
        channel.close()
    }
}

/// A PN532 on a serial line. It receives bytes from the host, and sends bytes back.
package struct PN532SerialDevice: Sendable {
    private var chip: PN53xChip
    private var decoder = PN53xFrameDecoder(from: .host)
    /// The last answer, in case the host asks for it again.
    private var lastAnswer: [UInt8] = []
    private var waitingCommand: [UInt8]?
    private let onExchange: (@Sendable (Exchange) -> Void)?

    /// Creates a chip that has just been powered on. In card mode, the chip is a card in `place`. After each call of
    /// `onTargetChange`, which may be on any thread, call ``presenceChanged(send:)``.
    package init(
        field: any FieldDriver,
        place: (any CardSlot)? = nil,
        onTargetChange: @escaping @Sendable () -> Void = {},
        onExchange: (@Sendable (Exchange) -> Void)? = nil
    ) {
        chip = PN53xChip(field: field, place: place, onTargetChange: onTargetChange)
        self.onExchange = onExchange
    }

    /// Receives bytes from the line, in pieces of any size.
    package mutating func receive(_ bytes: [UInt8], send: ([UInt8]) -> Void) async {
        decoder.append(bytes)
        while let frame = decoder.next() {
            switch frame {
            case .acknowledge:
                if waitingCommand != nil { chip.stopWaiting() }
                waitingCommand = nil
            case .negativeAcknowledge:
                if !lastAnswer.isEmpty { send(lastAnswer) }
            case .message(let command):
                waitingCommand = nil
                send(PN53xFrame.acknowledgeBytes)
                await perform(command, send: send)
            case .syntaxError, .damaged: break
            }
        }
    }

    package mutating func powerOff() async {
        waitingCommand = nil
        lastAnswer = []
        decoder.reset()
        await chip.reset()
    }

    /// Call this when tags may have arrived or left, because the host may be waiting for a tag.
    package mutating func presenceChanged(send: ([UInt8]) -> Void) async {
        guard let command = waitingCommand else { return }
        waitingCommand = nil
        await perform(command, isRepeated: true, send: send)
    }

    private mutating func perform(_ command: [UInt8], isRepeated: Bool = false, send: ([UInt8]) -> Void) async {
        switch await chip.receive(command) {
        case .answer(let data):
            lastAnswer = PN53xFrame.bytes([command[0] &+ 1] + data, from: .chip)
            trace(command, data)
        case .syntaxError:
            lastAnswer = PN53xFrame.syntaxErrorBytes
            trace(command, nil, "syntax error")
        case .waiting:
            waitingCommand = command
            lastAnswer = []
            if !isRepeated { trace(command, nil, "waiting") }
            return
        }
        send(lastAnswer)
    }

    private func trace(_ command: [UInt8], _ response: [UInt8]?, _ failure: String? = nil) {
        guard let onExchange else { return }
        let name = PN53xCommand(rawValue: command[0])?.name ?? "unknown"
        onExchange(Exchange(layer: .pn532, name: name, request: command, response: response, failure: failure))
    }
}
