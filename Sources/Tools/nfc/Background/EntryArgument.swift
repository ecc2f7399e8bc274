// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading

/// The identifier of an entry on the command line. It can also be the name of the entry's file, as damaged entries are
/// listed.
struct EntryArgument: ExpressibleByArgument {
    var id: InboxEntry.ID

    init?(argument: String) {
        let suffix = [".entry", ".new"].first(where: argument.hasSuffix) ?? ""
        guard let id = InboxEntry.ID(String(argument.dropLast(suffix.count))) else { return nil }
        self.id = id
    }
}
