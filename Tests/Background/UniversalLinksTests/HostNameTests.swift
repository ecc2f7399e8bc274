// SPDX-License-Identifier: Apache-2.0
import Testing
import UniversalLinks

/// Hyphens and marks in the labels of names.
@Suite struct `Names of hosts` {
    @Test(arguments: ["-a.example", "a-.example", "a.-b.example", "a.b-.example", "a.example-", "-.example"])
    func `A label of a domain begins and ends with no hyphen`(_ name: String) {
        #expect(throws: HostName.DomainProblem.notAName) { try HostName.domain(name) }
        #expect(AssociatedDomain("applinks:\(name)") == nil && AssociatedDomain("applinks:*.\(name)") == nil)
        let entries = ["applinks:\(name)", "applinks:h.example"]
        #expect(AssociatedDomainCheck(entries: entries).findings.map(\.id) == ["DOM004"])
        // Browsers open links of such hosts.
        #expect(HostName.ascii(name) == name)
    }

    @Test(arguments: ["a-b.example", "a--b.example", "3--4.example", "r3---sn.example", "xn--bcher-kva.example"])
    func `Hyphens inside a label are part of the name`(_ name: String) {
        #expect(HostName.ascii(name) == name && (try? HostName.domain(name)) == name)
    }

    @Test(arguments: [
        "-\u{FC}.example", "\u{FC}-.example", "ab--\u{FC}.example", "xn--\u{FC}.example", "a\u{FC}--b.example",
        "\u{301}\u{FC}.example", "\u{301}a.example", "\u{903}\u{915}.example",
    ])
    func `A label is not converted if RFC 5891 forbids it`(_ name: String) {
        #expect(HostName.ascii(name) == nil)
    }

    @Test(arguments: [
        ("\u{FC}--a.example", "xn----a-goa.example"), ("a-\u{FC}.example", "xn--a--yka.example"),
        ("\u{915}\u{903}.example", "xn--j1b9a.example"),
    ])
    func `A label with hyphens or marks elsewhere is converted`(_ name: String, _ ascii: String) {
        #expect(HostName.ascii(name) == ascii)
    }

    /// The distance of the second letter is the largest one after which the next letter's digits do not move.
    @Test func `Letters of several alphabets are converted one after the other`() {
        #expect(HostName.ascii("abcd\u{E9}\u{16B}\u{44F}.example") == "xn--abcd-epa49e60n.example")
    }
}
