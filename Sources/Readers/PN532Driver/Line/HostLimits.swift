// SPDX-License-Identifier: Apache-2.0

/// How long a host waits for a PN532 before it considers the chip silent.
package struct HostLimits: Sendable {
    /// For the acknowledgement of a command: 15 ms, and the delay of USB adapters and busy machines.
    var acknowledge = Duration.milliseconds(150)
    /// The same for a chip that is being woken, or an adapter that was just opened: some take a second for their first
    /// byte.
    var wake = Duration.milliseconds(500)
    /// How long the line may be silent within a frame. USB adapters pause for 16 ms.
    var gap = Duration.milliseconds(60)
    /// How long the line may take for a frame at its slowest speed.
    var write = Duration.seconds(1)
    /// How long the chip may take for commands that it handles by itself.
    var own = Duration.milliseconds(300)
    /// How long a list of targets may take: the chip tries each technology twice.
    var list = Duration.milliseconds(1500)
    /// How long the chip may take, in card mode, to pass an answer to the reader.
    var answer = Duration.seconds(5)
    /// The delay of the line, the adapter and a busy machine, in addition to the time of an exchange with a tag.
    var tolerance = Duration.milliseconds(500)

    /// The limits for a chip on a serial line.
    package static let standard = HostLimits()

    /// The limits for a chip that is a program, which shares the processor with a thousand others.
    package static let patient = HostLimits(
        acknowledge: .seconds(30),
        wake: .seconds(30),
        gap: .seconds(30),
        write: .seconds(30),
        own: .seconds(30),
        list: .seconds(30),
        answer: .seconds(30),
        tolerance: .seconds(30)
    )
}
