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

/// Frames to one tag, through the route that its reader has.
final class CardFrameLink: SelfActivatingLink {
    let technology: Technology
    let route: any FrameRoute
    private let port: CardPort
    /// The tag's identifier, as the reader reports it.
    private let identifier: [UInt8]
    private let counts = Locked(LinkStatistics.zero)

    init(technology: Technology, route: any FrameRoute, port: CardPort, identifier: [UInt8]) {
        self.technology = technology
        self.route = route
        self.port = port
        self.identifier = identifier
    }

    var maximumFrameLength: Int { route.maximumFrameLength }
    /// The frames that the reader has sent; or its exchanges with the host, if it has only its own commands.
    var statistics: LinkStatistics { countsAir ? counts.withLock { $0 } : port.statistics }
    var countsAir: Bool { route.carriesFrames }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        do throws(LinkError) {
            let answer = try await port.run { [route] connection throws(LinkError) in
                try route.exchange(frame, timeout: timeout, connection)
            }
            count(frame, answer, .zero)
            return answer
        } catch {
            switch error.code {
            case .timeout: count(frame, nil, timeout)
            case .transmission, .collision: count(frame, nil, .zero)
            default: break
            }
            throw error
        }
    }

    private func count(_ request: Frame, _ response: Frame?, _ timeout: Airtime) {
        counts.withLock {
            $0.count(request: request, response: response, timing: FrameTiming(technology), timeout: timeout)
        }
    }

    /// Makes the reader reset the tag, and checks that it is the same tag.
    func reactivate() async throws(LinkError) {
        try await port.run { [route, identifier] connection throws(LinkError) in
            route.end(connection)
            try connection.reset()
            guard try TagIdentification.identifier(connection) == identifier else {
                throw LinkError(.tagRemoved, "Another tag is in the tag's place.")
            }
            try route.begin(connection)
        }
    }
}
