// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetModel

/// `nfc fleet allow`.
struct AllowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Change which tags are allowed at a node.",
        discussion: """
            While a list exists, each tag event says whether the tag is on the list.
            --clear replaces the list with an empty one; --mode off removes the list.
            With --reader, the list is for one reader, otherwise for all readers that
            have no list of their own.

            Examples:
              nfc fleet allow kiosk-7 04689571fa5c64 --mode add
              nfc fleet allow kiosk-7 --mode off
              nfc fleet allow kiosk-7 --clear

            Exit status: as for nfc fleet write.
            """
    )

    @OptionGroup var options: JobOptions

    @Argument(help: "The UIDs.", transform: UIDArgument.parse)
    var uids: [UIDArgument] = []

    @Option(help: "replace, add, remove or off.")
    var mode: Job.AllowChange.Mode = .replace

    @Flag(help: "Allow no tag at all: replace the list with an empty one.")
    var clear = false

    func validate() throws {
        if clear, !uids.isEmpty || mode != .replace {
            throw ValidationError("--clear empties the list, so it can't be used with UIDs or another --mode.")
        }
        if mode == .off, !uids.isEmpty {
            throw ValidationError("--mode off removes the list, so it can't be used with UIDs.")
        }
        if uids.isEmpty, mode != .off, !clear {
            throw ValidationError("Name at least one UID. --clear empties the list, and --mode off removes it.")
        }
    }

    func run() async throws {
        try await options.send(.allow(Job.AllowChange(mode, uids: uids.map(\.bytes))))
    }
}

extension Job.AllowChange.Mode: ExpressibleByArgument {}
