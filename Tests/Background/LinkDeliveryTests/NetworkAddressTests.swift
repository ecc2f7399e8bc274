// SPDX-License-Identifier: Apache-2.0
import LinkDelivery
import Testing

/// Addresses of the public internet (IANA's special-purpose registries), and others.
struct NetworkAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
        "192.168.1.1", "198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::8.8.8.8", "::ffff:10.0.0.1", "::fffe:8.8.8.8",
        "0:0:0:0:1:ffff:8.8.8.8", "64:ff9b::a00:1", "64:ff9b:1::808:808", "64:ff9b::1:808:808", "1fff::1", "2001::1",
        "2001:1ff::1", "2001:db8::1", "2002::1", "3fff:fff::1", "4000::1", "fc00::1", "fe80::1", "ff02::1",
    ])
    func `Network address in a private or reserved range: not public`(_ text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic == false)
    }

    @Test(arguments: [
        "1.0.0.0", "9.255.255.255", "11.0.0.1", "99.255.255.255", "100.63.255.255", "100.128.0.1", "126.1.1.1",
        "128.0.0.1", "169.253.1.1", "169.255.1.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.0.3.1",
        "192.88.98.1", "192.88.100.1", "192.167.1.1", "192.169.1.1", "198.17.255.255", "198.20.0.1", "198.51.99.1",
        "198.51.101.1", "203.0.112.255", "203.0.114.1", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::808:808",
        "2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "3ffe::1", "3fff:1000::1",
    ])
    func `Network address outside of private and reserved ranges: public`(_ text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic)
    }

    @Test func `Network address: parsed strictly, and written in its usual form`() {
        let rows: [(String, String?)] = [
            ("2001:DB8:0::1", "2001:db8::1"), ("::ffff:1.2.3.4", "1.2.3.4"), ("64:ff9b::102:304", "64:ff9b::102:304"),
            ("", nil), ("1.2.3", nil), ("1.2.3.4.5", nil), ("1.2.3.256", nil), ("::g", nil), ("1.2.3.4:80", nil),
            ("[::1]", nil), (" 1.2.3.4", nil),
        ]
        for (text, expected) in rows { #expect(NetworkAddress(text)?.description == expected, "\(text)") }
    }
}
