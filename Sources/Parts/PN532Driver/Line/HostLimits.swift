// SPDX-License-Identifier: Apache-2.0

/// How long a host waits for a PN532 before it takes the chip for silent.
package struct HostLimits: Sendable {
    /// For the acknowledgement of a command: 15 ms, and what USB adapters and busy machines add.
    var acknowledge = Duration.milliseconds(150)
    /// The same for a chip that is woken, and an adapter that has just been opened: some take a second for their first byte.
    var wake = Duration.milliseconds(500)
    /// How long the line may be quiet in the middle of a frame; USB adapters make pauses of 16 ms.
    var gap = Duration.milliseconds(60)
    /// How long the line may take for a frame at its slowest speed.
    var write = Duration.seconds(1)
    /// How long the chip may take for what it does by itself.
    var own = Duration.milliseconds(300)
    /// How long a list of targets may take: the chip tries each technology twice.
    var list = Duration.milliseconds(1500)
    /// How long the chip may take to hand an answer to a reader in front of which it is a card.
    var answer = Duration.seconds(5)
    /// What the line, the adapter and a busy machine add to the time of an exchange with a tag.
    var tolerance = Duration.milliseconds(500)

    /// Those of a chip on a serial line.
    package static let standard = HostLimits()

    /// Those for a chip that is a program, which waits its turn for a processor with a thousand others.
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
