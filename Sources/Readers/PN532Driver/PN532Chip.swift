// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// The commands of a PN532 that was woken and configured. Each call waits for the answer.
///
/// A command that only reads or sets something is sent again when it is lost on the line. A command to a tag is not
/// sent again, because the tag may have received it. It fails with `transmission`, and the code that knows the tag's
/// protocol decides what to do.
final class PN532Chip {
    /// The version that the chip reports.
    struct Firmware: Sendable, Equatable {
        var version: UInt8
        var revision: UInt8

        /// The usual name, such as `PN532 v1.6`.
        var name: String { "PN532 v\(version).\(revision)" }
    }

    private let host: HostInterface
    let limits: HostLimits
    private var speed = SerialSpeed.initial
    private(set) var firmware = Firmware(version: 0, revision: 0)
    /// The chip's current response timeout; nil for its default.
    var timeoutIndex: UInt8?
    /// Whether the firmware has refused commands on the blocks of Type 1 tags.
    var refusesBlockCommands = false
    /// The modulation of the last list of targets. Frames are sent in this modulation.
    var modulation: Modulation?
    /// The registers that were written or read since the last list of targets.
    var registers = RadioRegisters()

    /// How many times a command is sent when it is lost on the line.
    static let attempts = 3

    /// Wakes a chip and configures it.
    ///
    /// - Parameters:
    ///   - path: the serial line.
    ///   - speed: the speed to use.
    ///   - limits: how long to wait for the chip.
    ///   - interrupt: wakes the waiting thread.
    ///   - cancellation: whether the chip is still needed.
    /// - Throws: `LinkError` with `readerUnavailable` or `cancelled`.
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
            // A program that ended suddenly may have left the chip at the other speed.
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

    /// Wakes the chip with the command that it expects first.
    private func wake(_ cancellation: Cancellation?) throws(LinkError) -> Bool {
        for _ in 0..<Self.attempts {
            do throws(HostInterface.Failure) {
                // Normal mode: no SAM; the timeout of 1 s is not used; P70_IRQ is not driven.
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
        // The chip sends RATS or other commands to a tag only if the host asks for it.
        try set(parameters: 0x00, cancellation)
        // The chip repeats no exchange, and makes two attempts to find a tag.
        _ = try ask(.rfConfiguration, [0x04, 0x00], cancellation)
        _ = try ask(.rfConfiguration, [0x05, 0x01, 0x00, 0x01], cancellation)
    }

    /// SetParameters.
    func set(parameters: UInt8, _ cancellation: Cancellation?) throws(LinkError) {
        _ = try ask(.setParameters, [parameters], cancellation)
    }

    /// Switches the carrier on or off.
    func setField(_ isOn: Bool, _ cancellation: Cancellation?) throws(LinkError) {
        _ = try ask(.rfConfiguration, [0x01, isOn ? 0x01 : 0x00], cancellation)
    }

    private func change(speed: SerialSpeed, _ cancellation: Cancellation?) throws(LinkError) {
        _ = try ask(.setSerialBaudRate, [speed.chipCode], cancellation)
        // The chip changes its speed when the host has acknowledged the answer.
        try host.abort()
        try host.setSpeed(speed)
        self.speed = speed
        _ = try ask(.getFirmwareVersion, [], cancellation)
    }

    /// Leaves the chip as other programs expect it: its field off, and at its initial speed.
    func close() {
        try? setField(false, nil)
        if speed != .initial { try? change(speed: .initial, nil) }
    }

    // MARK: Commands

    /// Sends a command that may be repeated.
    ///
    /// - Parameter limit: how long the command may take; ``HostLimits/own`` unless given.
    /// - Throws: `LinkError` with `readerUnavailable`, `unsupported` when the chip refuses, or `cancelled`.
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

    /// Sends a command to a tag or a reader, once.
    ///
    /// - Parameter limit: how long it may take; nil for no limit.
    /// - Throws: `LinkError` with `transmission` when the command or its answer was lost on the line, `timeout` when
    ///   the chip did not answer in time, `readerUnavailable` when it answers no command at all, `unsupported` or
    ///   `cancelled`.
    func sendOnce(
        _ command: PN532Command,
        _ data: [UInt8],
        limit: Duration?,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
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
        // Checks whether only the exchange failed, or the whole chip.
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

/// The commands that are sent to a PN532 (PN532 user manual, 7).
enum PN532Command: UInt8 {
    case getFirmwareVersion = 0x02
    case readRegister = 0x06
    case writeRegister = 0x08
    case setSerialBaudRate = 0x10
    case setParameters = 0x12
    case samConfiguration = 0x14
    case rfConfiguration = 0x32
    case inDataExchange = 0x40
    case inCommunicateThru = 0x42
    case inDeselect = 0x44
    case inListPassiveTarget = 0x4A
    case tgGetData = 0x86
    case tgInitAsTarget = 0x8C
    case tgSetData = 0x8E
    case tgSetMetaData = 0x94
}

/// The status byte at the start of most of the chip's answers (PN532 user manual, 7.1).
struct PN532Status: Sendable, Equatable {
    /// The byte: an error code in bits 5 to 0, and bit 6 when more of the answer follows.
    let byte: UInt8

    /// The error code; 0 for none.
    var code: UInt8 { byte & 0x3F }
    /// Whether the next exchange has more of the answer.
    var hasMore: Bool { byte & 0x40 != 0 }

    /// The initiator has deselected the chip in card mode, or its field is gone.
    static let released: UInt8 = 0x29

    /// The error for the code; nil for none.
    var error: LinkError? {
        switch code {
        case 0x00: nil
        case 0x01, 0x0A: LinkError(.timeout, "The tag does not answer.")
        case 0x02: LinkError(.transmission, "The checksum of the answer is wrong.")
        case 0x03: LinkError(.transmission, "The parity of the answer is wrong.")
        case 0x04: LinkError(.transmission, "The answer has a wrong number of bits.")
        case 0x05: LinkError(.transmission, "The framing of the answer is wrong.")
        case 0x06: LinkError(.collision, "More than one tag answered at once.")
        case 0x07, 0x09, 0x0E: LinkError(.frameTooLong, "The answer is longer than the PN532 can take.")
        case 0x0B, 0x13, 0x23: LinkError(.transmission, "The PN532 can't read the answer \(named).")
        case 0x0D: LinkError(.readerUnavailable, "The PN532 is too hot, and has turned its field off.")
        case 0x2D: LinkError(.readerUnavailable, "The PN532's antenna draws too much current.")
        case 0x27, 0x29, 0x2A, 0x2B: LinkError(.tagRemoved, "The PN532 has lost the tag \(named).")
        case 0x10, 0x12, 0x14, 0x25, 0x26: LinkError(.unsupported, "The PN532 refuses the command \(named).")
        default: LinkError(.transmission, "The PN532 gives an error \(named).")
        }
    }

    private var named: String { "(status \(code.hexText(digits: 2)))" }
}
