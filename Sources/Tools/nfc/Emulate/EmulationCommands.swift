// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import ReaderEmulation
import VirtualTags

/// Reads commands for an emulation from standard input, one per line. Tests use them in place of a person at the reader.
struct EmulationCommands: Sendable {
    /// The help text about the lines.
    static let help = """
        With --commands it reads lines from standard input: remove and insert the
        tag; unplug and plug the reader of --pcsc; remove-at-write N and
        remove-at-exchange N remove the tag after the Nth write command, or before
        the Nth exchange, counted from 1.
        """

    let field: VirtualField
    let tag: any VirtualTag
    let output: EmulationOutput
    /// The reader, if it can be unplugged.
    var server: ReaderServer?

    /// Reads lines, on its own thread, until standard input ends.
    func start() {
        Thread { [self] in
            var lines = LineReader(maximumLength: Self.maximumLength)
            while let block = try? lines.nextBlock() {
                for line in block { take(String(decoding: line, as: UTF8.self)) }
            }
        }.start()
    }

    /// The longest line that is read; all commands are shorter.
    private static let maximumLength = 4096

    /// Performs a command, and tells whether there is such a one.
    func take(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        let isKnown = perform(words.first ?? "", words.dropFirst().map { Int($0) })
        let tell = { @Sendable in output.command(line, isKnown: isKnown) }
        if let server { server.whenSettled(tell) } else { tell() }
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
