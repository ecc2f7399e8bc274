// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF

/// Bytes in hex on the command line.
struct HexArgument: ExpressibleByArgument {
    var bytes: [UInt8]

    init?(argument: String) {
        guard case .success(let bytes) = HexText.bytes(Array(argument.utf8)[...]) else { return nil }
        self.bytes = bytes
    }

    static var defaultCompletionKind: CompletionKind { .default }

    /// The bytes, if they are a valid message.
    func checkedMessage() throws(CommandFailure) -> [UInt8] {
        do throws(NDEFError) {
            _ = try NDEFMessage(decoding: bytes)
            return bytes
        } catch {
            throw CommandFailure(error)
        }
    }
}
