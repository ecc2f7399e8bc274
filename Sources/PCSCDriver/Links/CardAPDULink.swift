// SPDX-License-Identifier: Apache-2.0
import TagLink

/// APDUs to a card with which the reader speaks ISO-DEP.
final class CardAPDULink: APDULink {
    private let port: CardPort
    /// The longest command data that the reader takes.
    private let takesExtended: Bool

    init(port: CardPort, takesExtended: Bool) {
        self.port = port
        self.takesExtended = takesExtended
    }

    // Header, length fields of three and two octets, 65535 octets of data; or one octet each and 255.
    var maximumCommandLength: Int { takesExtended ? 4 + 3 + 65535 + 2 : 4 + 1 + 255 + 1 }
    var maximumResponseLength: Int { takesExtended ? 65538 : 258 }
    var statistics: LinkStatistics { port.statistics }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard apdu.count <= maximumCommandLength else {
            throw LinkError(
                .frameTooLong,
                "The reader takes no extended APDUs, and the command has \(apdu.count) octets."
            )
        }
        return try await port.transmit(apdu)
    }

    func isPresent() async -> Bool {
        await port.isCardPresent()
    }
}
