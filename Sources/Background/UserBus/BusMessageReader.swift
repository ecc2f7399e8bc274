// SPDX-License-Identifier: Apache-2.0
import CSDBus

/// Reads the values of a message in order.
@safe struct BusMessageReader {
    let message: OpaquePointer?

    init(message: OpaquePointer?) { unsafe self.message = message }

    /// Returns whether the types of the message's values match a signature.
    func hasSignature(_ signature: String) -> Bool { unsafe ocn_bus_message_has_signature(message, signature) > 0 }

    func string() -> String? {
        var budget = Budget()
        return text(0x73, &budget)
    }

    func boolean() -> Bool? { number(0x62, CInt.self).map { $0 != 0 } }

    func number() -> UInt32? { number(0x75, UInt32.self) }

    func bytes() -> [UInt8]? {
        var budget = Budget()
        return bytes(&budget)
    }
}
