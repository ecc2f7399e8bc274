// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A PN532 at the end of a serial line: octets in, octets out.
package struct PN532SerialDevice: Sendable {
    private var chip: PN53xChip
    private var decoder = PN532FrameDecoder()
    /// The last answer, for a host that lost it.
    private var lastAnswer: [UInt8] = []
    /// The command that waits for a target to come.
    private var waiting: [UInt8]?
    private let onExchange: (@Sendable (Exchange) -> Void)?

    /// Creates a chip that has just been powered.
    ///
    /// - Parameters:
    ///   - field: the field that the chip makes.
    ///   - place: where it is a card for another reader.
    ///   - onTargetChange: called when something happened to it as a card, on any thread: ``presenceChanged(send:)`` has to
    ///     follow.
    ///   - onExchange: takes each command with its answer.
    package init(
        field: any FieldDriver,
        place: (any CardPlace)? = nil,
        onTargetChange: @escaping @Sendable () -> Void = {},
        onExchange: (@Sendable (Exchange) -> Void)? = nil
    ) {
        chip = PN53xChip(field: field, place: place, onTargetChange: onTargetChange)
        self.onExchange = onExchange
    }

    /// Takes octets from the line.
    ///
    /// - Parameters:
    ///   - octets: what came, in pieces of any size.
    ///   - send: sends octets to the host.
    package mutating func receive(_ octets: [UInt8], send: ([UInt8]) -> Void) async {
        decoder.append(octets)
        while let frame = decoder.next() {
            switch frame {
            case .acknowledge:
                if waiting != nil { chip.stopWaiting() }
                waiting = nil
            case .negativeAcknowledge:
                if !lastAnswer.isEmpty { send(lastAnswer) }
            case .command(let command):
                waiting = nil
                send(PN532ChipFrame.acknowledge)
                await perform(command, send: send)
            }
        }
    }

    /// Loses everything, as without power.
    package mutating func powerOff() {
        waiting = nil
        chip.reset()
    }

    /// Takes it that tags may have come or gone: a host may be waiting for one.
    package mutating func presenceChanged(send: ([UInt8]) -> Void) async {
        guard let command = waiting else { return }
        waiting = nil
        await perform(command, isRepeated: true, send: send)
    }

    private mutating func perform(
        _ command: [UInt8],
        isRepeated: Bool = false,
        send: ([UInt8]) -> Void
    ) async {
        let code = command[0]
        switch await chip.receive(command) {
        case .answer(let data):
            lastAnswer = PN532ChipFrame.answer(to: code, data)
            tell(command, data)
        case .syntaxError:
            lastAnswer = PN532ChipFrame.syntaxError
            tell(command, nil, "syntax error")
        case .waiting:
            waiting = command
            lastAnswer = []
            if !isRepeated { tell(command, nil, "waiting") }
            return
        }
        send(lastAnswer)
    }

    private func tell(_ command: [UInt8], _ response: [UInt8]?, _ failure: String? = nil) {
        guard let onExchange else { return }
        let name = PN53xCommand(rawValue: command[0])?.name ?? "unknown"
        onExchange(Exchange(layer: .pn532, name: name, request: command, response: response, failure: failure))
    }
}
