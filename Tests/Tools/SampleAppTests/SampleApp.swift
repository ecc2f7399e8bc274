// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import ProgramTesting
import Testing

/// The sample app with a folder of its own: its messages, and the card near its reader.
struct SampleApp {
    let folder: TestFolder
    var program: TestProgram

    init(_ environment: [String: String] = [:]) throws {
        folder = try TestFolder()
        let variables = [
            "TAGREADER_STORE": folder.path("messages.json"), "NFC_READER": "virtual", "TERM": "xterm", "NO_COLOR": "1",
            "SWIFT_BACKTRACE": "enable=no",
        ]
        program = TestProgram("TagReader", variables.merging(environment) { $1 })
    }

    /// Runs commands, one a line, as a script does.
    func run(_ commands: String...) throws -> TestProgram.Outcome {
        try program.run(input: commands.joined(separator: "\n") + "\n")
    }

    /// Runs it in a terminal.
    func terminal(_ arguments: [String] = [], columns: UInt16 = 80, lines: UInt16 = 24) throws -> TestTerminal {
        try TestTerminal(program, arguments, in: folder, columns: columns, lines: lines)
    }

    /// Holds a card near the reader: an NTAG213, or an Ultralight with 48 bytes of data, with a capability container
    /// (NFC Forum T2T 1.2, 4.1).
    mutating func hold(message: [UInt8] = [], container: [UInt8] = [0xE1, 0x10, 0x12, 0], isSmall: Bool = false) throws
    {
        var memory: [UInt8] = [0x04, 0xA1, 0xB2, 0x9F, 0xC3, 0xD4, 0xE5, 0x80, 0x72, 0x48, 0, 0] + container
        memory += [0x03, UInt8(message.count)] + message + [0xFE]
        memory += [UInt8](repeating: 0, count: (isSmall ? 64 : 160) - memory.count)
        if !isSmall {
            memory += [0, 0, 0, 0xBD, 4, 0, 0, 0xFF, 0, 5, 0, 0] + [UInt8](repeating: 0xFF, count: 4) + [0, 0, 0, 0]
        }
        let hex = memory.map { String(format: "%02x", $0) }.joined()
        let product = isSmall ? "MIFARE Ultralight" : "NTAG213"
        let text = #"{"type":"T2T","product":"\#(product)","uid":"04a1b2c3d4e580","memory_hex":"\#(hex)"}"#
        try folder.write("card.json", text)
        program.environment["NFC_TAGS"] = folder.path("card.json")
    }

    /// A link and a text: 54 bytes.
    static func poster() throws -> [UInt8] {
        let text = try NDEFRecord.text("Opening hours 9 to 17", language: "en")
        return try NDEFMessage([try .uri("https://example.com/poster/12"), text]).encoded()
    }

    /// The names of the files beside the messages.
    var files: [String] { folder.names(in: "") }

    /// Keeps messages: each a link, a long text and 600 bytes of data.
    func keep(_ count: Int) throws {
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let data = Data((0..<600).map { UInt8($0 & 0xFF) }).base64EncodedString()
        let text = base64("\u{2}en" + String(repeating: "The quick brown fox jumps. ", count: 8))
        let messages = (1...count).map { number in
            let link = base64("\u{4}example.com/\(number)")
            return #"{"number":\#(number),"records":[{"format":1,"type":"VQ==","identifier":"","payload":"\#(link)"},"#
                + #"{"format":1,"type":"VA==","identifier":"","payload":"\#(text)"},"#
                + #"{"format":5,"type":"","identifier":"","payload":"\#(data)"}]}"#
        }
        try folder.write(
            "messages.json",
            #"{"version":1,"last":\#(count),"messages":[\#(messages.joined(separator: ","))]}"#
        )
    }
}

extension TestTerminal {
    /// What the app leaves on the terminal: a visible cursor, and the person's own screen.
    static let restored = "\u{1B}[?25h\u{1B}[?1049l"

    private static let keys = [
        "Enter": "\r", "Esc": "\u{1B}", "PgDn": "\u{1B}[6~", "Ctrl-C": "\u{3}", "Ctrl-Z": "\u{1A}",
    ]

    /// Plays a script. A line in brackets is a key, or a text that is typed. The lines that follow it are on the screen
    /// soon after, each as the start of a line.
    func play(_ script: String) throws {
        var expected: [String] = []
        func check() throws {
            guard !expected.isEmpty else { return }
            try wait(expected.joined(separator: "\n")) {
                let screen = screen
                return expected.allSatisfy { line in screen.contains { $0.hasPrefix(line) } }
            }
            expected = []
        }
        for line in script.split(separator: "\n").map(String.init) {
            if line.hasPrefix("["), line.hasSuffix("]") {
                try check()
                let key = String(line.dropFirst().dropLast())
                try type(Self.keys[key] ?? key)
            } else {
                expected.append(line)
            }
        }
        try check()
    }
}
