// SPDX-License-Identifier: Apache-2.0
import Foundation
import ReaderEmulation
import VirtualTags

/// Takes commands for an emulation from standard input, a line each, for a test that needs a hand at the reader.
struct EmulationCommands: Sendable {
    /// What the lines may be.
    static let help = """
        With --commands it takes lines from standard input: remove, insert, unplug and
        plug (the reader of --pcsc), remove-at-write N and remove-at-exchange N (the tag
        leaves after the Nth command that writes, or before the Nth exchange, from 1).
        """

    let field: VirtualField
    let tag: any VirtualTag
    let output: EmulationOutput
    /// The reader, where it can be unplugged.
    var server: ReaderServer?

    /// Takes lines, on a thread of its own, until there are no more.
    func start() {
        Thread { [self] in
            while let line = readLine() {
                let words = line.split(separator: " ").map(String.init)
                let isKnown = perform(words.first ?? "", words.dropFirst().map { Int($0) })
                let tell = { @Sendable in output.command(line, isKnown: isKnown) }
                if let server { server.whenSettled(tell) } else { tell() }
            }
        }.start()
    }

    private func perform(_ command: String, _ numbers: [Int?]) -> Bool {
        switch (command, numbers.count, numbers.first ?? nil) {
        case ("remove", 0, _): field.remove(tag)
        case ("insert", 0, _):
            field.arm(FaultPlan())
            field.bring(tag)
        case ("unplug", 0, _), ("plug", 0, _):
            guard let server else { return false }
            server.setPlugged(command == "plug")
        case ("remove-at-write", 1, let count?) where count > 0:
            field.arm(FaultPlan([Fault(.loss, at: .write(count))]))
        case ("remove-at-exchange", 1, let count?) where count > 0:
            field.arm(FaultPlan([Fault(.loss, at: .exchange(count - 1))]))
        default: return false
        }
        return true
    }
}
