// SPDX-License-Identifier: Apache-2.0

/// The card above ISO-DEP in a Type 4 tag. It takes complete messages and returns complete answers.
///
/// Most cards speak ISO/IEC 7816-4 and are an ``ApplicationCard``; MIFARE DESFire has its own commands. A card is a
/// value: a copy of it has a copy of its memory.
public protocol Card: Sendable {
    /// Executes a message.
    ///
    /// - Parameters:
    ///   - message: the reader's message, combined from all blocks of a chain.
    ///   - tear: what remains of the programmed memory after a power cut; nil without a power cut.
    /// - Returns: the answer, including the status.
    mutating func process(_ message: [UInt8], tear: TornWrite?) -> CardAnswer

    /// Resets all volatile state: the selection and the authentication.
    mutating func losePower()
}

extension Card {
    /// Executes a message with a fault. If the fault refuses it, the answer is 6400; for a write it is 6581.
    mutating func process(_ message: [UInt8], injectedFault: InjectedFault?) -> CardAnswer {
        switch injectedFault {
        case nil:
            return process(message, tear: nil)
        case .powerCut(let rest):
            return process(message, tear: rest)
        case .refusal:
            return CardAnswer(status: .executionError)
        case .writeRefusal:
            let before = self
            let answer = process(message, tear: nil)
            guard answer.isWrite else { return answer }
            self = before
            return CardAnswer(status: .memoryFailure, isWrite: true)
        }
    }
}
