// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What tells one FeliCa chip from another, behind polling and the framing of commands.
protocol FeliCaChip: Sendable {
    /// The IDm of the first system.
    var idm: [UInt8] { get }
    /// The PMm.
    var pmm: [UInt8] { get }
    /// The system codes that polling finds, and the number of the system that each one is for.
    var systems: [(code: UInt16, number: UInt8)] { get }

    /// Carries out a command.
    ///
    /// - Parameters:
    ///   - command: the command code.
    ///   - payload: the command after the IDm.
    ///   - system: the number of the system, from the IDm.
    ///   - tear: what a power cut leaves of the blocks that the command programs.
    /// - Returns: nil when the chip does not answer.
    mutating func process(
        _ command: UInt8,
        _ payload: ArraySlice<UInt8>,
        system: UInt8,
        tear: TornWrite?
    ) -> FeliCaAnswer?

    /// Forgets all volatile state.
    mutating func losePower()
}

/// A chip's answer: what follows the response code and the IDm.
struct FeliCaAnswer: Sendable {
    var payload: [UInt8]
    var workTime = Airtime.zero
    var isWrite = false

    init(_ payload: [UInt8], workTime: Airtime = .zero, isWrite: Bool = false) {
        self.payload = payload
        self.workTime = workTime
        self.isWrite = isWrite
    }

    init(_ status: FeliCaStatus, workTime: Airtime = .zero, isWrite: Bool = false) {
        self.init(status.bytes, workTime: workTime, isWrite: isWrite)
    }
}
