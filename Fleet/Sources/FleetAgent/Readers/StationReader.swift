// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
package import NFCSessions

/// A reader that an agent uses.
package struct StationReader: Sendable {
    /// The name in topics.
    package var name: FleetName
    /// The reader, as `NFC_READER` names it.
    package var reader: String
    /// The reader and the clock.
    package var environment: NFCEnvironment
    /// The thread that works with the reader; nil for the reader's own. For a reader in memory, which never waits.
    package var place: LoopActor?

    package init(
        name: FleetName,
        reader: String,
        environment: NFCEnvironment,
        place: LoopActor? = nil
    ) {
        self.name = name
        self.reader = reader
        self.environment = environment
        self.place = place
    }

    /// What the reader's name begins with, such as `pcsc`.
    package var kind: String { String(reader.prefix { $0 != ":" }) }

    /// How people call the kind.
    package var model: String {
        switch kind {
        case "pcsc": "PC/SC"
        case "pn532": "PN532"
        default: kind
        }
    }
}
