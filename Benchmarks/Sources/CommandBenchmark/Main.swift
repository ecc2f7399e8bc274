// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import ProcessFigures
import TagLink
import VirtualTags

/// Measures the CPU time of a frame to a virtual tag, and the time that a session adds to a command.
@main
struct CommandBenchmark {
    static let usage = """
        Usage: command-benchmark [--json] [--rounds N] [--commands N]
          --json        print one JSON object per line
          --rounds N    measure N times (default 5)
          --commands N  the commands per round (default 200000; 5 rounds make a million)

        """

    static func main() async throws {
        var json = false
        var rounds = 5
        var commands = 200_000
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--json": json = true
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) } ?? rounds
            case "--commands": commands = arguments.popFirst().flatMap { Int($0) } ?? commands
            default:
                FileHandle.standardError.write(Data(usage.utf8))
                exit(argument == "--help" ? 0 : 2)
            }
        }
        for round in 1...max(1, rounds) {
            let link = try await linkCost(max(1, commands))
            let session = try await sessionCost(max(1, commands))
            let memory = ProcessUsage.residentKilobytes
            if json {
                print(#"{"round":\#(round),"link_ns":\#(link),"session_ns":\#(session),"rss_kb":\#(memory)}"#)
            } else {
                print(
                    """
                    round \(round): \(link) ns of CPU per exchange with the tag, \(session) ns per command in a \
                    session, of which the session takes \(session - link) ns, \(memory) KB resident
                    """
                )
            }
        }
    }

    static func makeField() -> VirtualField {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        return field
    }

    /// READ commands over the bare link, in nanoseconds of CPU each.
    static func linkCost(_ count: Int) async throws -> Int {
        let field = makeField()
        guard let link = field.link(for: .nfcA) else { return 0 }
        _ = try await link.transceive(Frame(bits: [0x26], validBitsInLastByte: 7), timeout: .milliseconds(1))
        for code: UInt8 in [0x93, 0x95] {
            let part = try await link.transceive(Frame([code, 0x20], checksum: .none), timeout: .milliseconds(1))
            _ = try await link.transceive(Frame([code, 0x70] + part.bytes), timeout: .milliseconds(1))
        }
        let start = ProcessUsage.processorNanoseconds
        for _ in 0..<count { _ = try await link.transceive(Frame([0x30, 0x04]), timeout: .milliseconds(1)) }
        return (ProcessUsage.processorNanoseconds - start) / count
    }

    /// READ commands through a session, each sent after the answer to the one before, in nanoseconds of CPU each.
    static func sessionCost(_ count: Int) async throws -> Int {
        let commander = Commander(environment: NFCEnvironment(reader: .field(makeField())))
        _ = await commander.run(1000)
        let start = ProcessUsage.processorNanoseconds
        guard await commander.run(count) == count else {
            FileHandle.standardError.write(Data("Not every command was answered.\n".utf8))
            exit(1)
        }
        return (ProcessUsage.processorNanoseconds - start) / count
    }
}
