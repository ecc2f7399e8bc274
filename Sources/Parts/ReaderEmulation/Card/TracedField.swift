// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// One thing that went between two sides, for people to look at.
package struct Exchange: Sendable {
    /// Between whom it went.
    package enum Layer: String, Sendable {
        /// The host's program and the reader, through pcscd.
        case pcsc
        /// The host's program and a PN532, over the serial line.
        case pn532
        /// The reader and the tag.
        case air
    }

    /// Between whom it went.
    package var layer: Layer
    /// What it is, where bytes alone don't tell: `transmit`, `power up`, a command's name, a technology.
    package var name: String
    /// What was sent.
    package var request: [UInt8]
    /// What came back; nil for nothing.
    package var response: [UInt8]?
    /// Why nothing came back.
    package var failure: String?
    /// The frames, for what went over the air.
    package var frames: Trace.Exchange?
}

/// A field that tells of each exchange with a tag.
package final class TracedField: FieldDriver {
    private let field: any FieldDriver
    private let links: [Technology: TracedLink]

    /// Wraps a field.
    ///
    /// - Parameters:
    ///   - field: the field.
    ///   - onExchange: takes each exchange after it was made.
    package init(_ field: any FieldDriver, onExchange: @escaping @Sendable (Exchange) -> Void) {
        self.field = field
        var links: [Technology: TracedLink] = [:]
        for technology in Technology.allCases {
            links[technology] = field.link(for: technology).map { TracedLink($0, onExchange) }
        }
        self.links = links
    }

    package var name: String { field.name }
    package var technologies: Set<Technology> { field.technologies }
    package func link(for technology: Technology) -> (any FrameLink)? { links[technology] }
    package func setCarrier(_ isOn: Bool) async throws(LinkError) { try await field.setCarrier(isOn) }
    package func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        field.observePresence(handler)
    }
    package func arrival(of identifier: [UInt8]) -> UInt64? { field.arrival(of: identifier) }
}

private final class TracedLink: FrameLink {
    private let link: any FrameLink
    private let onExchange: @Sendable (Exchange) -> Void

    init(_ link: any FrameLink, _ onExchange: @escaping @Sendable (Exchange) -> Void) {
        self.link = link
        self.onExchange = onExchange
    }

    var technology: Technology { link.technology }
    var maximumFrameLength: Int { link.maximumFrameLength }
    var statistics: LinkStatistics { link.statistics }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        var exchange = Exchange(layer: .air, name: link.technology.shortName, request: frame.bytes)
        do throws(LinkError) {
            let answer = try await link.transceive(frame, timeout: timeout)
            exchange.response = answer.bytes
            exchange.frames = Trace.Exchange(.frames(link.technology), request: frame, answer: .success(answer))
            onExchange(exchange)
            return answer
        } catch {
            exchange.failure = error.code.description
            exchange.frames = Trace.Exchange(.frames(link.technology), request: frame, answer: .failure(error))
            onExchange(exchange)
            throw error
        }
    }
}

extension Technology {
    fileprivate var shortName: String {
        switch self {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }
}
