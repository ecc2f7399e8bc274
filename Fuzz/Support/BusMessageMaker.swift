// SPDX-License-Identifier: Apache-2.0
import CSDBus
import Glibc
import LinuxSupport

@testable import UserBus

/// Makes bus messages from an input, with the system's libsystemd.
@safe final class BusMessageMaker: @unchecked Sendable {
    // Safe: only the target's thread makes messages.
    private typealias SetDescriptor = @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
    private typealias Seal = @convention(c) (OpaquePointer?, UInt64, UInt64) -> CInt
    private typealias Rewind = @convention(c) (OpaquePointer?, CInt) -> CInt

    private let bus: OpaquePointer?
    private let seal: Seal
    private let rewind: Rewind
    private var rest: ArraySlice<UInt8> = []

    init() {
        guard unsafe ocn_bus_missing() == nil, let file = SystemLibrary("libsystemd.so.0"),
            let setDescriptor = unsafe file.function("sd_bus_set_fd", as: SetDescriptor.self),
            let seal = unsafe file.function("sd_bus_message_seal", as: Seal.self),
            let rewind = unsafe file.function("sd_bus_message_rewind", as: Rewind.self)
        else { fatalError("libsystemd.so.0 is not installed. Install it with: apt-get install libsystemd0") }
        unsafe self.seal = seal
        unsafe self.rewind = rewind
        // A bus whose other end never sends anything.
        var ends: [CInt] = [0, 0]
        var bus: OpaquePointer?
        guard unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0, unsafe ocn_bus_new(&bus) >= 0,
            unsafe setDescriptor(bus, ends[0], ends[0]) >= 0, unsafe ocn_bus_start(bus) >= 0
        else { fatalError("No bus can be made.") }
        unsafe self.bus = bus
    }

    /// Makes a message that can be read; nil when the input makes none.
    func make(_ bytes: [UInt8]) -> OpaquePointer? {
        rest = bytes[...]
        var message: OpaquePointer?
        guard unsafe ocn_bus_message_new_signal(bus, &message, "/a", "a.b", "c") >= 0 else { return nil }
        if write(signature(), to: unsafe message, depth: 0), unsafe seal(message, 1, 0) >= 0,
            unsafe rewind(message, 1) >= 0
        {
            return unsafe message
        }
        _ = unsafe ocn_bus_message_unref(message)
        return nil
    }

    private func signature() -> [UInt8] { take() }

    private func take() -> [UInt8] {
        let count = Int(rest.popFirst() ?? 0)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Writes values of these types; false when one can't be written.
    private func write(_ signature: [UInt8], to message: OpaquePointer?, depth: Int) -> Bool {
        var types = signature[...]
        while let type = types.first {
            guard depth < 40, let length = Self.length(types) else { return false }
            let own = Array(types.prefix(length))
            types = types.dropFirst(length)
            switch type {
            case UInt8(ascii: "v"):
                let inside = self.signature()
                guard unsafe container("v", inside, message, depth, times: 1) else { return false }
            case UInt8(ascii: "a"):
                let times = Int(rest.popFirst() ?? 0) % 8
                guard unsafe container("a", Array(own.dropFirst()), message, depth, times: times) else { return false }
            case UInt8(ascii: "("), UInt8(ascii: "{"):
                let kind: Unicode.Scalar = type == UInt8(ascii: "(") ? "r" : "e"
                let inside = Array(own.dropFirst().dropLast())
                guard unsafe container(kind, inside, message, depth, times: 1) else { return false }
            case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
                let text = take() + [0]
                let status = unsafe text.withUnsafeBytes { text in
                    unsafe ocn_bus_message_append_basic(message, CChar(bitPattern: type), text.baseAddress)
                }
                guard status >= 0 else { return false }
            case UInt8(ascii: "h"): return false
            default:
                var number = [UInt8](repeating: 0, count: 8)
                for index in 0..<8 { number[index] = rest.popFirst() ?? 0 }
                guard unsafe ocn_bus_message_append_basic(message, CChar(bitPattern: type), &number) >= 0 else {
                    return false
                }
            }
        }
        return true
    }

    private func container(
        _ kind: Unicode.Scalar,
        _ inside: [UInt8],
        _ message: OpaquePointer?,
        _ depth: Int,
        times: Int
    ) -> Bool {
        let text = (inside + [0]).map { CChar(bitPattern: $0) }
        guard unsafe ocn_bus_message_open_container(message, CChar(kind.value), text) >= 0 else { return false }
        for _ in 0..<times where unsafe !write(inside, to: message, depth: depth + 1) { return false }
        return unsafe ocn_bus_message_close_container(message) >= 0
    }

    /// The length of the first complete type.
    private static func length(_ types: ArraySlice<UInt8>) -> Int? {
        var depth = 0
        for (index, type) in types.enumerated() {
            switch type {
            case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "a"): continue
            default: break
            }
            if depth == 0 { return index + 1 }
            if depth < 0 { return nil }
        }
        return nil
    }
}
