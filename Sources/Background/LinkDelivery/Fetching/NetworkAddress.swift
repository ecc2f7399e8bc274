// SPDX-License-Identifier: Apache-2.0
import Glibc

package struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        // ::ffff:a.b.c.d is the IPv4 address a.b.c.d.
        let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11] == [0xFF, 0xFF]
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes)
        } else if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(Array(bytes[..<4]))
        } else {
            return nil
        }
    }

    /// Whether the address is on the public internet, by IANA's registries of special-purpose addresses (RFC 6890).
    package var isPublic: Bool {
        bytes.count == 4 ? Self.isPublicVersion4(bytes) : isPublicVersion6
    }

    private static func isPublicVersion4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    private var isPublicVersion6: Bool {
        // Networks without IPv4 use 64:ff9b::/96 for the IPv4 address in the last four bytes.
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return Self.isPublicVersion4(Array(bytes[12...]))
        }
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        // Teredo and other protocols, documentation, 6to4, documentation.
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0D, 0xB8), (0x20, 0x02, _, _), (0x3F, 0xFF, 0x00...0x0F, _):
            return false
        default: return true
        }
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        // It does not fail: the text of every address is shorter.
        _ = unsafe inet_ntop(family, bytes, &text, 64)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @unsafe init?(_ address: UnsafePointer<sockaddr>) {
        let raw = unsafe UnsafeRawPointer(address)
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            let value = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(unsafe withUnsafeBytes(of: value) { unsafe Array($0) })
        case AF_INET6:
            let value = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(unsafe withUnsafeBytes(of: value) { unsafe Array($0) })
        default: return nil
        }
    }
}
