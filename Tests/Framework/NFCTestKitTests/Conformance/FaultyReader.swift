// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import NFCTestKit
import TagLink
import VirtualTags

/// The driver of a virtual field, with one flaw.
final class FaultyReader: FieldDriver {
    /// What the reader was asked to send, and when.
    struct Exchange: Sendable {
        var technology: Technology
        var request: [UInt8]
        /// How often the field was turned on before: a session turns it on for each look.
        var look: Int
        /// What the same request was answered with last, if it was.
        var lastAnswer: Frame?
    }

    typealias Answer = Result<Frame, LinkError>

    /// What a driver does wrong.
    struct Flaw: Sendable {
        /// The technologies that it says it looks for; nil for those that it has.
        var technologies: Set<Technology>?
        /// Whether it keeps silent when tags come and go, and takes each for one that has stayed.
        var missesPresence = false
        /// Why it can't turn the field on.
        var carrierError: LinkError?
        var change: @Sendable (Exchange, Answer) -> Answer = { $1 }
    }

    let name = "faulty"
    let technologies: Set<Technology>
    private let field: VirtualField
    private let flaw: Flaw
    private let links: [FaultyLink]
    private let looks: Locked<Int>

    init(_ field: VirtualField, _ flaw: Flaw) {
        let looks = Locked(0)
        self.field = field
        self.flaw = flaw
        self.looks = looks
        technologies = flaw.technologies ?? field.technologies
        links = Technology.allCases.compactMap { technology in
            field.link(for: technology).map { FaultyLink($0, flaw, looks) }
        }
    }

    func link(for technology: Technology) -> (any FrameLink)? { links.first { $0.technology == technology } }

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        if let error = flaw.carrierError { throw error }
        if isOn { looks.withLock { $0 += 1 } }
        try await field.setCarrier(isOn)
    }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        flaw.missesPresence ? nil : field.observePresence(handler)
    }

    func arrival(of identifier: [UInt8]) -> UInt64? { flaw.missesPresence ? nil : field.arrival(of: identifier) }
}

private final class FaultyLink: ForwardingLink {
    let target: any FrameLink
    private let flaw: FaultyReader.Flaw
    private let looks: Locked<Int>
    private let answers = Locked<[[UInt8]: Frame]>([:])

    init(_ base: any FrameLink, _ flaw: FaultyReader.Flaw, _ looks: Locked<Int>) {
        target = base
        self.flaw = flaw
        self.looks = looks
    }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let exchange = FaultyReader.Exchange(
            technology: technology,
            request: frame.bytes,
            look: looks.withLock { $0 },
            lastAnswer: answers.withLock { $0[frame.bytes] }
        )
        let answer: FaultyReader.Answer
        do throws(LinkError) {
            answer = .success(try await target.transceive(frame, timeout: timeout))
        } catch {
            answer = .failure(error)
        }
        let changed = flaw.change(exchange, answer)
        if case .success(let frame) = changed { answers.withLock { $0[exchange.request] = frame } }
        return try changed.get()
    }
}

extension FaultyReader.Flaw {
    /// The answer to some requests is another one.
    static func answer(
        to isMeant: @escaping @Sendable (FaultyReader.Exchange) -> Bool,
        _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> Self {
        Self(change: { exchange, answer in
            guard isMeant(exchange), case .success(var frame) = answer else { return answer }
            change(&frame.bytes)
            return .success(frame)
        })
    }

    /// The answer to some requests is an error.
    static func error(
        _ error: LinkError,
        for isMeant: @escaping @Sendable (FaultyReader.Exchange) -> Bool
    ) -> Self {
        Self(change: { exchange, answer in isMeant(exchange) ? .failure(error) : answer })
    }

    /// Some bytes are read as others, from a look on.
    static func reads(_ bytes: [UInt8], as others: [UInt8], fromLook first: Int = 0) -> Self {
        answer(to: { $0.look >= first }) { $0.replace(bytes, with: others) }
    }
}

extension FaultyReader.Exchange {
    /// Whether the request has these bytes in it.
    func has(_ bytes: [UInt8]) -> Bool { request.contains(bytes) }
}

extension ReaderSetup {
    /// A virtual field behind a driver with a flaw. Its time limits are short.
    static func faulty(
        _ flaw: FaultyReader.Flaw,
        lacks: [ReaderCapability: String] = [:],
        technologies: Set<Technology> = Set(Technology.allCases),
        patience: Duration = .seconds(20)
    ) -> ReaderSetup {
        let field = VirtualField(technologies: technologies)
        let reader = FaultyReader(field, flaw)
        var setup = ReaderSetup(name: ".faulty", field: field, lacks: lacks) {
            NFCEnvironment(reader: .field(reader))
        }
        setup.patience = patience
        return setup
    }
}

extension [UInt8] {
    func contains(_ bytes: [UInt8]) -> Bool { firstRange(of: bytes) != nil }

    mutating func replace(_ bytes: [UInt8], with others: [UInt8]) {
        if let range = firstRange(of: bytes) { replaceSubrange(range, with: others) }
    }
}
