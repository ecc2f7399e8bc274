// SPDX-License-Identifier: Apache-2.0

/// The part of a FeliCa tag that differs between chips. Polling and the framing of commands are the same for all.
protocol FeliCaChip: Sendable {
    /// The IDm of the first system.
    var idm: [UInt8] { get }
    /// The PMm.
    var pmm: [UInt8] { get }
    /// The system codes that polling finds, and the number of the system that each one is for.
    var systems: [(code: UInt16, number: UInt8)] { get }

    /// Executes a command.
    ///
    /// - Parameters:
    ///   - command: the command code.
    ///   - payload: the command after the IDm.
    ///   - system: the number of the system, from the IDm.
    ///   - tear: what remains of the programmed blocks after a power cut; nil without a power cut.
    /// - Returns: nil when the chip does not answer.
    mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system: UInt8,
        tear: TornWrite?
    ) -> FeliCaChipAnswer?

    /// Forgets all volatile state.
    mutating func losePower()
}
