// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite struct `Usage of nfc` {
    private let nfc = Command(name: "nfc")

    @Test(arguments: [
        ["--help"], ["scan", "--help"], ["write", "--help"], ["readers", "--help"], ["emulate", "--help"],
        ["tag", "--help"], ["tag", "read", "--help"], ["tag", "write", "--help"], ["tag", "info", "--help"],
        ["ndef", "decode", "--help"], ["ndef", "encode", "--help"],
    ])
    func `Every command has help with an example`(arguments: [String]) throws {
        let outcome = try nfc.run(arguments)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Examples:\n") && outcome.output.contains("  nfc ") || arguments[0] == "ndef")
    }

    @Test(arguments: [
        ["frob"], ["scan", "--timeout", "61"], ["scan", "--timeout", "x"], ["write"], ["write", "no link"],
        ["write", "https://a.example", "--text", "both"], ["write", "--message", "abc"],
        ["emulate", "--image", "x"], ["emulate", "--image", "x", "--pcsc", "--pn532", "y"], ["emulate", "--pcsc"],
        ["emulate", "--pcsc", "--facing", "y"], ["emulate", "--pn532", "y", "--facing", "y"],
        ["emulate", "--image", "x", "--pn532", "y", "--facing", "z"],
        ["emulate", "--image", "x", "--pn532", "y", "--start-pcscd"],
    ])
    func `Wrong usage ends with 2, says why and prints nothing else`(arguments: [String]) throws {
        let outcome = try nfc.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.error.hasPrefix("Error: "))
    }
}
