// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A PN532 that was woken and set up: its commands, as calls that wait for the answer.
///
/// A command that only asks or sets is sent again when the line lost it. One that goes to a tag is not, since the tag
/// may have had it: it fails with `transmission`, and who knows the tag's protocol decides.
final class PN532Chip {
    /// What the chip says of itself.
    struct Firmware: Sendable, Equatable {
        var version: UInt8
        var revision: UInt8

        /// The name people know it by, such as `PN532 v1.6`.
        var name: String { "PN532 v\(version).\(revision)" }
    }

    private let host: HostInterface
    let limits: HostLimits
    private var speed = SerialSpeed.initial
    private(set) var firmware = Firmware(version: 0, revision: 0)
    /// The response time-out that the chip has now; nil for its own.
    var timeoutIndex: UInt8?
    /// Whether the firmware was seen to refuse commands to the blocks of Type 1 tags.
    var refusesBlockCommands = false
    /// What the last list of targets found; its modulation is the one in which frames go out.
    var modulation: Modulation?
    /// Registers that were written or read since the last list of targets.
    var registers = RadioRegisters()

    /// How often a command is sent when the line loses it.
    static let attempts = 3

    /// Wakes a chip and sets it up.
    ///
    /// - Parameters:
    ///   - path: the serial line.
    ///   - speed: the speed to work with.
    ///   - limits: how long the chip is waited for.
    ///   - interrupt: what wakes the thread that waits.
    ///   - cancellation: whether the chip is still wanted.
    /// - Throws: ``LinkError`` with `readerUnavailable` or `cancelled`.
    init(
        path: String,
        speed: SerialSpeed,
        limits: HostLimits,
        interrupt: Interrupt,
        _ cancellation: Cancellation?
    ) throws(LinkError) {
        self.limits = limits
        host = HostInterface(port: try SerialPort(path: path, speed: .initial, interrupt: interrupt), limits: limits)
        if try !wake(cancellation) {
            // A program that ended in a hurry may have left the chip at the other speed.
            guard speed != .initial else { throw Self.noChip(path) }
            try host.setSpeed(speed)
            self.speed = speed
            guard try wake(cancellation) else { throw Self.noChip(path) }
        }
        try setUp(cancellation)
        if self.speed != speed { try change(speed: speed, cancellation) }
    }

    private static func noChip(_ path: String) -> LinkError {
        LinkError(
            .readerUnavailable,
            """
            No PN532 answers at \(path). Look at its wiring (TX to RX and RX to TX) and at its switches: both off \
            for the serial interface, HSU.
            """
        )
    }

    /// Wakes the chip with the command that it wants first.
    private func wake(_ cancellation: Cancellation?) throws(LinkError) -> Bool {
        for _ in 0..<Self.attempts {
            do throws(HostInterface.Failure) {
                // Normal mode: no SAM; its time-out of 1 s is not used; P70_IRQ is not driven.
                _ = try host.exchange(
                    PN532Command.samConfiguration.rawValue,
                    [0x01, 0x14, 0x00],
                    wakes: true,
                    limit: limits.own,
                    cancellation
                )
                return true
            } catch .line(let error) {
                throw error
            } catch {
                continue
            }
        }
        return false
    }

    private func setUp(_ cancellation: Cancellation?) throws(LinkError) {
        let version = try ask(.getFirmwareVersion, [], cancellation)
        guard version.count >= 4, version[0] == 0x32 else {
            throw LinkError(.readerUnavailable, "What answers at \(host.path) is no PN532.")
        }
        firmware = Firmware(version: version[1], revision: version[2])
        // Neither RATS nor anything else goes to a tag unless the host sends it.
        try set(parameters: 0x00, cancellation)
        // No exchange is repeated, and two attempts are made to find a tag.
        _ = try ask(.rfConfiguration, [0x04, 0x00], cancellation)
        _ = try ask(.rfConfiguration, [0x05, 0x01, 0x00, 0x01], cancellation)
    }

    /// SetParameters.
    func set(parameters: UInt8, _ cancellation: Cancellation?) throws(LinkError) {
        _ = try ask(.setParameters, [parameters], cancellation)
    }

    /// Turns the carrier on or off.
    func setField(_ isOn: Bool, _ cancellation: Cancellation?) throws(LinkError) {
        _ = try ask(.rfConfiguration, [0x01, isOn ? 0x01 : 0x00], cancellation)
    }

    private func change(speed: SerialSpeed, _ cancellation: Cancellation?) throws(LinkError) {
        _ = try ask(.setSerialBaudRate, [speed.chipCode], cancellation)
        // The chip changes when the host has acknowledged its answer.
        try host.abort()
        try host.setSpeed(speed)
        self.speed = speed
        _ = try ask(.getFirmwareVersion, [], cancellation)
    }

    /// Leaves the chip as another program expects it: its field off, at the speed at which it begins.
    func close() {
        try? setField(false, nil)
        if speed != .initial { try? change(speed: .initial, nil) }
    }

    // MARK: Commands

    /// Sends a command that may be repeated.
    ///
    /// - Parameter limit: how long it may take; ``HostLimits/own`` unless given.
    /// - Throws: ``LinkError`` with `readerUnavailable`, `unsupported` when the chip refuses, or `cancelled`.
    func ask(
        _ command: PN532Command,
        _ data: [UInt8],
        limit: Duration? = nil,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
        for _ in 0..<Self.attempts {
            do throws(HostInterface.Failure) {
                return try host.exchange(command.rawValue, data, limit: limit ?? limits.own, cancellation)
            } catch .line(let error) {
                throw error
            } catch .syntax {
                throw Self.refused
            } catch {
                continue
            }
        }
        throw hung
    }

    /// Sends a command that goes to a tag or a reader, once.
    ///
    /// - Parameter limit: how long it may take; nil for ever.
    /// - Throws: ``LinkError`` with `transmission` when the line lost the command or its answer, `timeout` when the chip
    ///   did not answer in time, `readerUnavailable` when it does not answer to anything, `unsupported` or `cancelled`.
    func sendOnce(
        _ command: PN532Command,
        _ data: [UInt8],
        limit: Duration?,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
        // mutate: equivalent, because no caller sends as many: a card's parts have 262, a tag's frames 256.
        guard data.count <= HostFrame.maximumData else {
            throw LinkError(.frameTooLong, "The PN532 takes \(HostFrame.maximumData) bytes at most.")
        }
        let failure: LinkError
        do throws(HostInterface.Failure) {
            return try host.exchange(command.rawValue, data, limit: limit, cancellation)
        } catch .line(let error) {
            throw error
        } catch .syntax {
            throw Self.refused
        } catch .silent {
            failure = LinkError(.timeout, "The PN532 had no answer in time.")
        } catch {
            failure = LinkError(.transmission, "The serial line to the PN532 lost an answer.")
        }
        // Is it the exchange, or the chip?
        _ = try ask(.getFirmwareVersion, [], cancellation)
        throw failure
    }

    private static let refused = LinkError(.unsupported, "The PN532 refuses the command.")

    private var hung: LinkError {
        LinkError(
            .readerUnavailable,
            "The PN532 at \(host.path) does not answer any more. Unplug its adapter, and plug it in again."
        )
    }
}
