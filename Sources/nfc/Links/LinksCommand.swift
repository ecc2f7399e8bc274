// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nfc links`.
struct LinksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links",
        abstract: "Say which app a link opens, and why.",
        subcommands: [
            LinksMatchCommand.self, LinksExplainCommand.self, LinksCheckCommand.self, LinksFetchCommand.self,
        ]
    )
}
