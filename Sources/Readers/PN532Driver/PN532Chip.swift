// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// The commands of a PN532 that is awake and configured. Each call waits for the answer.
///
/// If a command that only reads or sets something is lost on the line, it is sent again. A command to a tag is not sent
/// again, because the tag may have received it. It fails with `transmission`, and the code that knows the tag's
/// protocol decides what to do.
final class PN532Chip {
    /// The version reported by the chip.
    struct Firmware: Sendable, Equatable {
        var version: UInt8
        var revision: UInt8

        /// The usual name, such as `PN532 v1.6`.
        var name: String { "PN532 v\(version).\(revision)" }
    }

    private let line: any ChipLine
    private let host: HostInterface
    let limits: HostLimits
    private var speed = SerialSpeed.initial
    private(set) var firmware = Firmware(version: 0, revision: 0)
    /// The chip's current response timeout, as an index; nil for its default.
    var timeoutIndex: UInt8?
    /// Whether the firmware has refused commands for the blocks of Type 1 tags.
    var refusesBlockCommands = false
    /// The modulation of the last poll. Frames are sent in this modulation.
    var modulation: PN53xModulation?
    /// The values of registers that were written or read since the last poll.
    var registers: [UInt16: UInt8] = [:]

    /// How many times to send a command that is lost on the line.
    static let attempts = 3

    /// Wakes a chip and configures it. Throws `LinkError` with `readerUnavailable` or `cancelled`.
    init(_ line: any ChipLine, speed: SerialSpeed, limits: HostLimits) throws(LinkError) {
        self.limits = limits
        self.line = line
        host = HostInterface(line: line, limits: limits)
        if try !wake() {
            // If a program crashed, the chip may still use the other speed.
            guard speed != .initial else { throw ChipLineError.noChip(line.kind, line.path) }
            try setLine(speed)
            guard try wake() else { throw ChipLineError.noChip(line.kind, line.path) }
        }
        try setUp()
        if self.speed != speed { try change(speed: speed) }
    }

    /// The cancellation of the operation that is using the chip. It ends the operation's waits.
    var cancellation: Cancellation? {
        get { line.cancellation }
        set { line.cancellation = newValue }
    }

    /// Wakes the chip with the command that the chip expects first.
    private func wake() throws(LinkError) -> Bool {
        for _ in 0..<Self.attempts {
            do throws(LinkError) {
                // Normal mode: no SAM; the timeout of 1 s is unused; P70_IRQ is not driven.
                let command = PN53xCommand.samConfiguration.rawValue
                _ = try host.exchange(command, [0x01, 0x14, 0x00], wakes: true, limit: limits.own)
                return true
            } catch {
                guard error.concernsTag || error.code == .unsupported else { throw error }
            }
        }
        return false
    }

    private func setUp() throws(LinkError) {
        let version = try ask(.getFirmwareVersion, [])
        guard version.count >= 4, version[0] == 0x32 else {
            throw LinkError(.readerUnavailable, "The device at \(line.path) is not a PN532.")
        }
        firmware = Firmware(version: version[1], revision: version[2])
        // The chip must not send RATS or other commands to a tag unless the host requests it.
        try set(parameters: 0x00)
        // The chip repeats no exchange, and tries twice to find a tag.
        _ = try ask(.rfConfiguration, [0x04, 0x00])
        _ = try ask(.rfConfiguration, [0x05, 0x01, 0x00, 0x01])
    }

    /// Sends SetParameters.
    func set(parameters: UInt8) throws(LinkError) {
        _ = try ask(.setParameters, [parameters])
    }

    /// Switches the carrier on or off.
    func setField(_ isOn: Bool) throws(LinkError) {
        _ = try ask(.rfConfiguration, [0x01, isOn ? 0x01 : 0x00])
    }

    private func change(speed: SerialSpeed) throws(LinkError) {
        _ = try ask(.setSerialBaudRate, [speed.codes.chip])
        // The chip changes its speed once the host has acknowledged the answer.
        try host.abort()
        try setLine(speed)
        _ = try ask(.getFirmwareVersion, [])
    }

    /// Sets the line's speed. Only the names of serial lines have one.
    private func setLine(_ speed: SerialSpeed) throws(LinkError) {
        try (line as? SerialPort)?.setSpeed(speed)
        self.speed = speed
    }

    /// Leaves the chip as other programs expect it: with the field off, and at the initial speed.
    func close() {
        try? setField(false)
        if speed != .initial { try? change(speed: .initial) }
    }

    // MARK: Commands

    /// Sends a command that may be repeated. Throws `LinkError` with `readerUnavailable`, with `unsupported` when the
    /// chip refuses, or with `cancelled`.
    func ask(_ command: PN53xCommand, _ data: [UInt8], limit: Duration? = nil) throws(LinkError) -> [UInt8] {
        for _ in 0..<Self.attempts {
            do throws(LinkError) {
                return try host.exchange(command.rawValue, data, limit: limit ?? limits.own)
            } catch {
                guard error.concernsTag else { throw error }
            }
        }
        throw noAnswer
    }

    /// Sends a command to a tag or a reader once.
    ///
    /// - Parameter limit: how long the command may take; nil for no limit.
    /// - Throws: `LinkError` with `transmission` when the command or its answer was lost on the line, `timeout` when
    ///   the chip did not answer in time, `readerUnavailable` when the chip stopped answering all commands,
    ///   `unsupported` or `cancelled`.
    func sendOnce(_ command: PN53xCommand, _ data: [UInt8], limit: Duration?) throws(LinkError) -> [UInt8] {
        guard data.count <= HostInterface.maximumData else {
            throw LinkError(.frameTooLong, "The PN532 accepts at most \(HostInterface.maximumData) bytes.")
        }
        do throws(LinkError) {
            return try host.exchange(command.rawValue, data, limit: limit)
        } catch {
            guard error.concernsTag else { throw error }
            // Checks whether only this exchange failed, or the whole chip.
            _ = try ask(.getFirmwareVersion, [])
            throw error
        }
    }

    private var noAnswer: LinkError {
        LinkError(
            .readerUnavailable,
            "The PN532 at \(line.path) does not answer any more. Disconnect its power, and connect it again."
        )
    }
}
