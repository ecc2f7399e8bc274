// SPDX-License-Identifier: Apache-2.0
import CSDBus

/// Reads the values of a message in order.
@safe struct BusMessageReader {
    let message: OpaquePointer?

    init(message: OpaquePointer?) { unsafe self.message = message }

    /// Returns whether the types of the message's values match a signature.
    func hasSignature(_ signature: String) -> Bool { unsafe ocn_bus_message_has_signature(message, signature) > 0 }

    func string() -> String? {
        var text: UnsafePointer<CChar>?
        // mutate: equivalent, because the text stays nil where no value is left.
        guard unsafe ocn_bus_message_read_basic(message, 0x73, &text) > 0, let text = unsafe text else { return nil }
        return unsafe String(validatingCString: text)
    }

    func boolean() -> Bool? {
        var number: CInt = 0
        // mutate: equivalent, because zero means that no value is left, and callers have compared the signature.
        return unsafe ocn_bus_message_read_basic(message, 0x62, &number) > 0 ? number != 0 : nil
    }

    func number() -> UInt32? {
        var number: UInt32 = 0
        // mutate: equivalent, because zero means that no value is left, and the bus answers with one.
        return unsafe ocn_bus_message_read_basic(message, 0x75, &number) > 0 ? number : nil
    }

    func bytes() -> [UInt8]? {
        var budget = Budget()
        return bytes(&budget)
    }
}
