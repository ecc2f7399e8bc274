// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagTrace

package struct Exchange: Sendable {
    package enum Layer: String, Sendable {
        /// The host's program and the reader, over pcscd.
        case pcsc
        /// The host's program and a PN532, over the serial line.
        case pn532
        case air
    }

    package var layer: Layer
    /// The kind of exchange, if the bytes do not show it: `transmit`, `power up`, a command's name, or a technology.
    package var name: String
    package var request: [UInt8]
    /// The received bytes; nil when there was no answer.
    package var response: [UInt8]?
    package var failure: String?
    /// The frames, for an exchange with a tag.
    package var frames: Trace.Exchange?
}

extension Exchange {
    /// A command to a card whose blocks a chip handles by itself.
    package static func command(_ request: [UInt8], answer: [UInt8]) -> Exchange {
        let frames = Trace.Exchange(.commands, request: Frame(request), answer: .success(Frame(answer)))
        return Exchange(layer: .air, name: "command", request: request, response: answer, frames: frames)
    }
}

/// A field that reports each exchange with a tag.
package final class TracedField: ForwardingField {
    package let field: any FieldDriver
    private let links: [Technology: TracedLink]

    package init(_ field: any FieldDriver, onExchange: @escaping @Sendable (Exchange) -> Void) {
        self.field = field
        var links: [Technology: TracedLink] = [:]
        for technology in Technology.allCases {
            links[technology] = field.link(for: technology).map { TracedLink($0, onExchange) }
        }
        self.links = links
    }

    package func link(for technology: Technology) -> (any FrameLink)? { links[technology] }
}

private final class TracedLink: ForwardingLink {
    let target: any FrameLink
    private let onExchange: @Sendable (Exchange) -> Void

    init(_ link: any FrameLink, _ onExchange: @escaping @Sendable (Exchange) -> Void) {
        target = link
        self.onExchange = onExchange
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        var exchange = Exchange(layer: .air, name: technology.name, request: frame.bytes)
        do throws(LinkError) {
            let answer = try await target.transceive(frame, timeout: timeout)
            exchange.response = answer.bytes
            exchange.frames = Trace.Exchange(.frames(technology), request: frame, answer: .success(answer))
            onExchange(exchange)
            return answer
        } catch {
            exchange.failure = error.code.description
            exchange.frames = Trace.Exchange(.frames(technology), request: frame, answer: .failure(error))
            onExchange(exchange)
            throw error
        }
    }
}
