// SPDX-License-Identifier: Apache-2.0
import CSDBus

/// Writes the values of a message.
@safe struct BusMessageWriter {
    let message: OpaquePointer?
    /// The negative number of the first value that could not be written.
    private var problem: CInt?

    init(message: OpaquePointer?) { unsafe self.message = message }

    mutating func note(_ number: CInt) {
        if problem == nil, number < 0 { problem = number }
    }

    /// Checks that all values could be written.
    ///
    /// - Parameter what: what is written, as the beginning of a sentence.
    func check(_ what: String) throws(BusError) {
        if let problem { throw BusError(number: problem, "\(what) can't be written") }
    }

    private static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

    mutating func string(_ text: String) {
        note(unsafe text.withCString { unsafe ocn_bus_message_append_basic(message, Self.type("s"), $0) })
    }

    mutating func boolean(_ value: Bool) {
        let isTrue: CInt = 1
        var number = value ? isTrue : 0
        note(unsafe ocn_bus_message_append_basic(message, Self.type("b"), &number))
    }

    mutating func number(_ value: UInt32) {
        var number = value
        note(unsafe ocn_bus_message_append_basic(message, Self.type("u"), &number))
    }

    /// Writes a dictionary of texts by name. Its values are variants.
    mutating func texts(_ texts: KeyValuePairs<String, String>) {
        array(of: "{sv}") { writer in
            for (name, text) in texts { writer.entry(name, "s") { $0.string(text) } }
        }
    }

    mutating func bytes(_ bytes: [UInt8]) {
        note(
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe ocn_bus_message_append_array(message, Self.type("y"), buffer.baseAddress, buffer.count)
            }
        )
    }

    /// Writes an array. `body` writes its elements.
    mutating func array(of signature: String, _ body: (inout BusMessageWriter) -> Void = { _ in }) {
        container("a", signature, body)
    }

    /// Writes an entry of a dictionary whose value is a variant: `sv`.
    mutating func entry(_ name: String, _ signature: String, _ body: (inout BusMessageWriter) -> Void) {
        container("e", "sv") { $0.named(name, signature, body) }
    }

    /// Writes a structure of a name and a variant: `(sv)`.
    mutating func property(_ name: String, _ signature: String, _ body: (inout BusMessageWriter) -> Void) {
        structure("sv") { $0.named(name, signature, body) }
    }

    /// Writes a structure. `body` writes its members.
    mutating func structure(_ signature: String, _ body: (inout BusMessageWriter) -> Void) {
        container("r", signature, body)
    }

    private mutating func named(_ name: String, _ signature: String, _ body: (inout BusMessageWriter) -> Void) {
        string(name)
        container("v", signature, body)
    }

    private mutating func container(
        _ kind: Unicode.Scalar,
        _ signature: String,
        _ body: (inout BusMessageWriter) -> Void
    ) {
        note(unsafe ocn_bus_message_open_container(message, Self.type(kind), signature))
        body(&self)
        note(unsafe ocn_bus_message_close_container(message))
    }
}
