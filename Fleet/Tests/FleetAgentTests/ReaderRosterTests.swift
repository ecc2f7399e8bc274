// SPDX-License-Identifier: Apache-2.0
import FleetAgent
import FleetModel
import Testing

@Suite("The readers of a configuration")
struct ReaderRosterTests {
    private func problem(_ text: String) throws -> String? {
        ReaderRoster.problem(try AgentConfiguration(parsing: text, node: FleetName(slugOf: "n1")))
    }

    @Test("Configuration with all readers and an unnamed PC/SC reader: refused, since one reader would be used twice")
    func all() throws {
        let named = "[[reader]]\nname = \"entrance\"\nreader = "
        let all = "readers = [\"all\"]\n"
        for text in ["readers = [\"all\", \"pcsc\"]\n", "\(all)\(named)\"pcsc\"\n", "\(named)\"pcsc\"\n"] {
            #expect(try problem(text)?.hasPrefix("The reader pcsc would be used twice") == true, "\(text)")
        }
        for text in [
            "", all, "readers = [\"pcsc\"]\n", "readers = []\n\(named)\"pcsc\"\n",
            "\(named)\"pcsc:ACR122U\"\n", "readers = [\"all\", \"virtual\"]\n",
        ] {
            #expect(try problem(text) == nil, "\(text)")
        }
    }

    @Test("Configuration with two entries that may mean one reader: refused")
    func twice() throws {
        func problem(_ readers: [String], _ named: [String] = []) throws -> String? {
            let tables = named.enumerated().map { "[[reader]]\nname = \"r\($0)\"\nreader = \"\($1)\"\n" }
            return try self.problem("readers = \(readers)\n\(tables.joined())")
        }
        let acr = "pcsc:ACS ACR122U PICC Interface 00 00"
        for (readers, named) in [
            ([], [acr, acr]), ([acr], [acr]), (["virtual", "virtual"], []), ([], ["pn532:/dev/a", "pn532:/dev/a"]),
        ] as [([String], [String])] {
            #expect(try problem(readers, named)?.contains("is configured twice") == true, "\(readers) \(named)")
        }
        for other in ["pcsc", "pcsc:acr122u"] {
            #expect(try problem([], [acr, other])?.contains("may mean the same reader") == true, "\(other)")
        }
        let second = "pcsc:ACS ACR122U PICC Interface 01 00"
        #expect(try problem([], [acr, second, "virtual", "pn532:/dev/a", "pn532:/dev/b"]) == nil)
    }
}
