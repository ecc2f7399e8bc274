// SPDX-License-Identifier: Apache-2.0
import TagLink

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
            counts.withLock { $0.count(frame, .success(answer), technology, timeout: timeout) }
            return answer
        } catch {
            counts.withLock { $0.count(frame, .failure(error), technology, timeout: timeout) }
            throw error
        }
    }

    /// Makes the reader reset the tag, and checks that it is the same tag.
    func reactivate() async throws(LinkError) {
        try await port.run { [route, identifier] connection throws(LinkError) in
            route.end(connection)
            try connection.reset()
            let found = try TagIdentification.identifier(connection)
            guard found == identifier else {
                // Otherwise the tag's next frames would go to the other one.
                if !found.isEmpty { connection.closeAsLost() }
                throw LinkError(.tagRemoved, "Another tag is in the tag's place.")
            }
            try route.begin(connection)
        }
    }
}
