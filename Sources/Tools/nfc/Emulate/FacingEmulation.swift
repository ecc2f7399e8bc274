// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import ReaderEmulation
import VirtualTags

/// Two PN532 in each other's field: the host of one makes it a card, and the host of the other reads it.
struct FacingEmulation {
    var output: EmulationOutput
    var trace: Bool

    /// Runs both until the emulation is stopped.
    func run(
        _ first: String,
        _ second: String,
        until signals: EmulationSignals
    ) async throws(EmulationError) -> EmulationSignals.End {
        let fields = (VirtualField(), VirtualField())
        let one = try server(first, in: fields.0, cardIn: fields.1)
        let other: PN532Server
        do throws(EmulationError) {
            other = try server(second, in: fields.1, cardIn: fields.0)
        } catch {
            one.stop()
            await one.start().value
            throw error
        }
        let serving = [one.start(), other.start()]
        output.readyFacing(first, terminal: one.terminalName, facing: second, terminal: other.terminalName)
        let end = await signals.wait()
        one.stop()
        other.stop()
        for work in serving { await work.value }
        output.ended(end)
        return end
    }

    private func server(
        _ path: String,
        in field: VirtualField,
        cardIn other: VirtualField
    ) throws(EmulationError) -> PN532Server {
        let show = { @Sendable [output] (exchange: Exchange) in output.exchange(exchange) }
        return try PN532Server(
            path: path,
            field: trace ? TracedField(field, onExchange: show) : field,
            place: FacingCardSlot(other),
            onExchange: trace ? show : nil
        )
    }
}
