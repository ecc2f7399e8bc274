// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The packets of `sendMiFareCommand`.
package enum MiFareCommand {
    /// Commands of Type 2 tags that program memory (NXP MF0ICU1, NTAG21x): WRITE and COMPATIBILITY_WRITE.
    private static let writes: Set<UInt8> = [0xA2, 0xA0]

    /// The maximum number of bytes in a frame of the reader, without the checksum.
    package static let maximumLength = 253

    /// Checks a command that an app sends.
    ///
    /// - Parameter command: the command, without its checksum.
    /// - Returns: the command's bytes; or `readerErrorInvalidParameterLength` when it is empty, or
    ///   `readerTransceiveErrorPacketTooLong`.
    package static func packet(_ command: Data) -> Result<[UInt8], NFCReaderError> {
        guard !command.isEmpty else {
            return .failure(NFCReaderError(.readerErrorInvalidParameterLength, reason: "The command is empty."))
        }
        guard command.count <= maximumLength else {
            return .failure(
                NFCReaderError(
                    .readerTransceiveErrorPacketTooLong,
                    reason: "A command has at most \(maximumLength) bytes."
                )
            )
        }
        return .success([UInt8](command))
    }

    /// How long the card may take to answer.
    package static func answerTime(of packet: [UInt8]) -> AnswerTime {
        packet.first.map { writes.contains($0) } == true ? .write : .usual
    }
}
