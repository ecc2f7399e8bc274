// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// A card that answers an exact list of commands, and records an issue for any other.
final class ScriptedCard: APDULink {
    /// One command, and what comes back.
    struct Step: Sendable {
        var command: [UInt8]
        var result: Result<[UInt8], LinkError>

        static func command(_ command: String, _ response: String) -> Step {
            Step(command: bytes(command), result: .success(bytes(response)))
        }

        static func command(_ command: String, _ code: LinkError.Code) -> Step {
            Step(command: bytes(command), result: .failure(LinkError(code, "scripted")))
        }
    }

    private let script: Locked<[Step]>
    let statistics = LinkStatistics.zero
    let (maximumCommandLength, maximumResponseLength) = (65544, 65538)
    let singleBlockCommandLength: Int
    let singleBlockResponseLength: Int

    init(_ script: [Step], block: Int = 253) {
        self.script = Locked(script)
        singleBlockCommandLength = block
        singleBlockResponseLength = block
    }

    /// How many commands of the script were not sent.
    var left: Int { script.withLock { $0.count } }

    func isPresent() async -> Bool { true }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        let step = script.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let step, step.command == apdu else {
            Issue.record("unexpected command \(hex(apdu)) in place of \(step.map { hex($0.command) } ?? "none")")
            throw LinkError(.readerUnavailable, "The script is over.")
        }
        return try step.result.get()
    }
}
