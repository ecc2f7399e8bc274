// SPDX-License-Identifier: Apache-2.0
// An app with a reader session, for a test: it prints the calls of its delegate, and runs commands from standard input.
//
// Usage: SessionProbe ndef | tag
import CoreNFC
import Foundation

@main
struct SessionProbe {
    static func main() async {
        let probe: any Probe = CommandLine.arguments.last == "ndef" ? MessageProbe() : TagProbe()
        // Another thread reads standard input, so that a command does not wait for the one before.
        let (lines, input) = AsyncStream.makeStream(of: String.self)
        Thread {
            while let line = readLine() { input.yield(line) }
            input.finish()
        }.start()
        probe.begin()
        for await line in lines {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "begin": probe.begin()
            case "invalidate": probe.invalidate()
            case "restart": probe.restart()
            default: Task { await probe.perform(words.first ?? "", words.dropFirst().first ?? "") }
            }
        }
    }

    /// Prints a line.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// The number of an error of Core NFC.
    static func number(_ error: any Error) -> Int { (error as? NFCReaderError)?.code.rawValue ?? -1 }

    static func bytes(_ text: String) -> Data {
        var data = Data()
        var rest = text[...]
        while let byte = UInt8(rest.prefix(2), radix: 16), rest.count >= 2 {
            data.append(byte)
            rest = rest.dropFirst(2)
        }
        return data
    }

    static func text(_ data: Data) -> String {
        data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// The functions of both kinds of sessions.
protocol Probe: AnyObject, Sendable {
    func begin()
    func invalidate()
    func restart()
    func perform(_ command: String, _ argument: String) async
}

extension NFCNDEFMessage {
    /// The message's records by their types and payloads.
    var summary: String {
        records.map { SessionProbe.text($0.type) + ":" + SessionProbe.text($0.payload) }.joined(separator: ",")
    }
}
