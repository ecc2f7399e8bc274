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
}
