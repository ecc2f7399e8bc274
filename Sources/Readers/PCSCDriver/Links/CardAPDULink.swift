// SPDX-License-Identifier: Apache-2.0
import TagLink

/// APDUs to a card for which the reader handles ISO-DEP.
final class CardAPDULink: APDULink {
    private let port: CardPort
    /// Whether the reader accepts extended APDUs.
    private let takesExtended: Bool

    init(port: CardPort, takesExtended: Bool) {
        self.port = port
        self.takesExtended = takesExtended
    }

    // Either a header, length fields of three and two bytes, and 65535 bytes of data; or one byte each and 255 bytes.
    var maximumCommandLength: Int { takesExtended ? 4 + 3 + 65535 + 2 : 4 + 1 + 255 + 1 }
    var maximumResponseLength: Int { takesExtended ? 65538 : 258 }
    var statistics: LinkStatistics { port.statistics }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard apdu.count <= maximumCommandLength else {
            throw LinkError(
                .frameTooLong,
                "The reader takes no extended APDUs, and the command has \(apdu.count) bytes."
            )
        }
        return try await port.transmit(apdu)
    }

    func isPresent() async -> Bool {
        await port.isCardPresent()
    }
}
