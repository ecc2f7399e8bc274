// SPDX-License-Identifier: Apache-2.0
package import SimulatorDriver
import TagLink

extension ReaderKind {
    /// The phone of a running simulator.
    static let simulator = ReaderKind(
        scheme: "simulator",
        title: "simulator",
        forms: ["simulator", "simulator:PATH"],
        usage: "simulator[:PATH]",
        use: .sessions,
        make: { name, _, _ in
            guard name.rest == nil || name.argument != nil else {
                return ResolvedReader(none: "Name the simulator's socket: simulator:PATH, or simulator for your own.")
            }
            return ResolvedReader(SimulatorReader(path: name.argument))
        },
        problem: { $0.rest == "" ? .unnamed : nil },
        owns: { $0 is SimulatorReader },
        describe: { report in
            report.capabilities = ["All that the phone of nfc simulator can do. Tags come near on its page."]
        },
        silence: "The simulator does not answer. Stop it. Start it with: nfc simulator"
    )
}

extension ResolvedReader {
    /// A simulator's reader, with its phone.
    package init(_ reader: SimulatorReader) {
        self.init(.field(reader), isShared: false)
        sheet = SimulatorSheet(reader)
        gate = SimulatorTurn(reader: reader)
        host = SimulatorPhone(reader)
    }
}
