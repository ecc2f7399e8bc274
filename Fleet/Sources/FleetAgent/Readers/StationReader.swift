// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel
package import NFCSessions

/// A reader that an agent uses.
package struct StationReader: Sendable {
    /// The reader's name in topics.
    package var name: FleetName
    /// The reader as named in `NFC_READER`.
    package var reader: String
    /// The reader and the clock.
    package var environment: NFCEnvironment
    /// The event loop for a virtual reader, which never blocks; nil creates a separate thread.
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

    /// The part of the reader's name before the colon, such as `pcsc`.
    package var kind: String { String(reader.prefix { $0 != ":" }) }

    /// The display name of the reader's kind.
    package var model: String {
        switch kind {
        case "pcsc": "PC/SC"
        case "pn532": "PN532"
        default: kind
        }
    }
}
