// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension APDULink {
    /// Sends a command, and the further commands that its status word asks for: GET RESPONSE after 61xx, the corrected
    /// Le after 6Cxx (ISO/IEC 7816-4, 5.3.4).
    ///
    /// - Parameter command: the command.
    /// - Returns: the complete response, with any other status word.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `unsupported`, `readerUnavailable`, `cancelled`.
    public func send(_ command: CommandAPDU) async throws(TagError) -> ResponseAPDU {
        var response = try await exchangeCorrectingLength(command)
        var data = response.data
        var rounds = 0
        while response.status.high == 0x61 {
            let more = CommandAPDU(
                command.instructionClass,
                0xC0,
                0x00,
                0x00,
                expectedLength: response.status.low == 0 ? 256 : Int(response.status.low)
            )
            response = try await exchangeCorrectingLength(more)
            if response.data.isEmpty, response.status.high == 0x61 {
                throw TagError(
                    .badAnswer,
                    "GET RESPONSE brought nothing while there is more (ISO/IEC 7816-4, 5.3.4)."
                )
            }
            data += response.data
            rounds += 1
            guard rounds < ResponseAPDU.maximumRounds, data.count <= ResponseAPDU.maximumGatheredLength else {
                throw TagError(.badAnswer, "The card does not stop sending with GET RESPONSE (ISO/IEC 7816-4, 5.3.4).")
            }
        }
        return ResponseAPDU(data: data, status: response.status)
    }

    /// Sends a command, and once more with the corrected Le after 6Cxx.
    private func exchangeCorrectingLength(_ command: CommandAPDU) async throws(TagError) -> ResponseAPDU {
        let response = try await exchange(command)
        guard response.status.high == 0x6C, response.data.isEmpty else { return response }
        var corrected = command
        corrected.expectedLength = response.status.low == 0 ? 256 : Int(response.status.low)
        return try await exchange(corrected)
    }

    private func exchange(_ command: CommandAPDU) async throws(TagError) -> ResponseAPDU {
        let bytes: [UInt8]
        do throws(LinkError) {
            bytes = try await transmit(command.bytes)
        } catch {
            throw TagError(link: error)
        }
        guard let response = ResponseAPDU(bytes) else {
            throw TagError(.badAnswer, "A response APDU has no status word (ISO/IEC 7816-4, 5.1).")
        }
        return response
    }
}

extension ResponseAPDU {
    /// The most data that is collected with GET RESPONSE: the length of one extended response.
    static let maximumGatheredLength = 65536
    /// The most GET RESPONSE commands that are sent for one command.
    static let maximumRounds = 512
}
