// SPDX-License-Identifier: Apache-2.0
import TagLink

extension PCSCReader {
    /// Polls once. Call this on the driver's thread.
    func look(_ technologies: Set<Technology>, systemCodes: [UInt16]) throws(LinkError) -> [DiscoveredTag] {
        releaseTag(.reset)
        // Otherwise a tag that arrives between the poll and the start of the monitor would be missed.
        monitor.waitUntilWatching()
        guard let found = try findReader() else { return [] }
        let isMute = found.flags.contains(.mute)
        let isHidden = !found.flags.contains(.present)
        guard !isHidden || mayBeHidden(found), !isMute || mayWake(arrival(of: found)) else { return [] }
        let connection = CardConnection(service: service, reader: found.reader)
        state.withLock { $0.connection = connection }
        do throws(SmartCardError) {
            if isMute || isHidden { try connection.wake() } else { try connection.open(isInUse: found.isInUse) }
            // Checked after the tag was opened, because a different tag may have arrived after the first check.
            let opened = try service.readers().first { $0.reader == found.reader } ?? found
            if isHidden { state.withLock { $0.losses += 1 } }
            let arrival = arrival(of: opened)
            state.withLock { state in
                state.arrival = arrival
                state.present = (count(opened), 0)
            }
        } catch {
            // The service reported a tag that is gone. Until its next check, the next tag may be hidden.
            if !isHidden { state.withLock { $0.present = (count(found), 0) } }
            return try notOpened(error)
        }
        do throws(LinkError) {
            return try identify(connection, technologies, systemCodes).map { [$0] } ?? []
        } catch {
            switch error.code {
            case .readerUnavailable where hadReader && error.reason != Self.contactCard: return []
            case .timeout, .tagRemoved: throw LinkError(.transmission, error.reason)
            default: throw error
            }
        }
    }

    /// How many polls try to find a tag that the service reports wrongly. Callers poll every 0.1 s, and the service
    /// checks the reader every 0.4 s.
    private static let attempts = 10

    /// Returns whether to try again to open a tag that did not answer when it arrived. The tag may have arrived while
    /// the service reset the previous tag, or before the service noticed that the previous tag had left. So the driver
    /// tries until the service has checked the reader again.
    private func mayWake(_ arrival: UInt64) -> Bool {
        state.withLock { state in
            if state.mute.arrival != arrival { state.mute = (arrival, 0) }
            state.mute.attempts += 1
            return state.mute.attempts <= Self.attempts
        }
    }

    /// Returns whether a tag may be in a reader that the service reports as empty.
    ///
    /// If a tag that has just left is reset, the service considers the reader empty, but counts the removal only at its
    /// next check: up to 0.4 s later if it must poll the reader's driver. A tag that arrives before that check is
    /// neither counted nor reported. Only a reset reveals it (pcsc-lite 1.9.9, winscard.c and eventhandler.c).
    private func mayBeHidden(_ found: SmartCardReaderState) -> Bool {
        let count = count(found)
        return state.withLock { state in
            guard let present = state.present, present.count == count, present.attempts < Self.attempts else {
                return false
            }
            state.present?.attempts += 1
            return true
        }
    }

    /// Returns the service's count of arrivals and removals since the reader was connected or the service started.
    private func count(_ found: SmartCardReaderState) -> UInt64 {
        service.losses << 16 | UInt64(found.flags.rawValue >> 16)
    }

    /// Returns the number of the current tag's arrival.
    private func arrival(of found: SmartCardReaderState) -> UInt64 {
        count(found) + state.withLock { $0.losses } << 16
    }

    func releaseTag(_ disposition: SmartCardDisposition) {
        let (connection, route) = state.withLock { state in
            defer {
                state.earlierStatistics += state.connection?.statistics ?? .zero
                state.connection = nil
                state.route = nil
                state.arrival = nil
            }
            if state.connection?.isLost == true { state.losses += 1 }
            return (state.connection, state.route)
        }
        guard let connection else { return }
        if connection.isUsable { route?.end(connection) }
        connection.close(disposition)
    }

    /// Returns the selected reader and its state; nil if it is gone but may return.
    private func findReader() throws(LinkError) -> SmartCardReaderState? {
        let states: [SmartCardReaderState]
        do throws(SmartCardError) {
            states = try readers()
        } catch {
            if error.isServiceLost, hadReader, !monitor.isServiceGone { return nil }
            throw LinkError(error)
        }
        let usable = Self.usable(states)
        let gone = Set(state.withLock { $0.findings.keys }).subtracting(usable.map(\.reader))
        // Another reader may be connected under the same name.
        state.withLock { state in for name in gone { state.findings[name] = nil } }
        guard let found = reader(among: usable) else {
            if hadReader { return nil }
            throw LinkError(.readerUnavailable, Self.missing(choice, among: states))
        }
        state.withLock { state in
            state.name = found.reader
            state.hadReader = true
        }
        return found
    }

    func usableReaders() throws(LinkError) -> [SmartCardReaderState] {
        do throws(SmartCardError) {
            return Self.usable(try readers())
        } catch {
            throw LinkError(error)
        }
    }

    private static func usable(_ states: [SmartCardReaderState]) -> [SmartCardReaderState] {
        states.filter { !$0.flags.contains(.unavailable) && !$0.flags.contains(.unknown) }
    }

    /// Returns the selected reader: the reader that was used last, or else a reader that matches the choice.
    func reader(among usable: [SmartCardReaderState]) -> SmartCardReaderState? {
        let lastName = state.withLock { $0.name }
        let name = usable.first { $0.reader == lastName }?.reader ?? choice.pick(from: usable)
        return usable.first { $0.reader == name }
    }

    /// Returns the readers. A connection from before a restart of the service is opened again.
    private func readers() throws(SmartCardError) -> [SmartCardReaderState] {
        do throws(SmartCardError) {
            return try service.readers()
        } catch {
            guard error.isServiceLost || error.code == .unknownReader else { throw error }
            return try service.readers()
        }
    }

    private func notOpened(_ error: SmartCardError) throws(LinkError) -> [DiscoveredTag] {
        switch error.code {
        // The reader has just reported a card. If the card has left, the next poll notices that.
        case .noSmartcard, .removedCard, .unresponsiveCard, .unpoweredCard,
            // A tag at the edge of the field. The next attempt may succeed.
            .notTransacted, .protocolMismatch:
            throw LinkError(.transmission, error.reason)
        case .readerUnavailable, .unknownReader: return []
        case _ where error.isServiceLost: return []
        default: throw LinkError(error)
        }
    }

    static let contactCard = """
        The card in the reader has contacts; NFC tags are contactless. Remove it, or name the reader to use it anyway.
        """

    private func identify(
        _ connection: CardConnection,
        _ technologies: Set<Technology>,
        _ systemCodes: [UInt16]
    ) throws(LinkError) -> DiscoveredTag? {
        // A reader may report an identifier even if its ATR can't be parsed.
        guard let answer = AnswerToReset(connection.answerToReset) else {
            throw LinkError(.transmission, "The reader returned an invalid ATR.")
        }
        guard let storage = answer.storageCard else { return try identifyCard(answer, connection, technologies) }
        let identifier = try TagIdentification.identifier(connection)
        var finder = RouteFinder(
            connection: connection,
            findings: state.withLock { $0.findings[connection.reader] } ?? ReaderFindings()
        )
        guard let technology = storage.kind.technology, technologies.contains(technology) else { return nil }
        let route = try finder.route(for: storage.kind, identifier: identifier)
        state.withLock { [findings = finder.findings] state in
            state.findings[connection.reader] = findings
            state.route = route
        }
        guard let route else { return nil }
        let port = CardPort(thread: thread, connection: connection)
        let link = CardFrameLink(technology: technology, route: route, port: port, identifier: identifier)
        guard let identity = try storage.kind.identity(identifier, route, connection, systemCodes) else { return nil }
        return DiscoveredTag(identity: identity, port: .frames(link))
    }

    private func identifyCard(
        _ answer: AnswerToReset,
        _ connection: CardConnection,
        _ technologies: Set<Technology>
    ) throws(LinkError) -> DiscoveredTag? {
        let identifier = try TagIdentification.identifier(connection)
        if !answer.isContactless, identifier.isEmpty {
            // If the user named the reader, it is accepted as contactless, because some emulated cards have such ATRs.
            guard case .named = choice else { throw LinkError(.readerUnavailable, Self.contactCard) }
        }
        let answerToSelect = identifier.isEmpty ? nil : try TagIdentification.answerToSelect(connection)
        let card = TagIdentification.card(answer, identifier: identifier, answerToSelect: answerToSelect)
        guard technologies.contains(card.identity.technology) else { return nil }
        let port = CardPort(thread: thread, connection: connection)
        let link = CardAPDULink(port: port, takesExtended: ReaderFeatures(connection).takesExtendedAPDUs != false)
        return DiscoveredTag(identity: card.identity, port: .commands(link, answerToSelect: card.answerToSelect))
    }
}

extension AnswerToReset.StorageCard.Kind {
    /// The technology of the tag; nil for tags that phones don't read.
    var technology: Technology? {
        switch self {
        case .nfcA, .type1: .nfcA
        case .nfcF: .nfcF
        case .nfcV: .nfcV
        case .other: nil
        }
    }

    /// Returns the data that the tag would have reported during activation. Nil when the tag has none of the requested
    /// FeliCa systems, or when its commands need an identifier that the reader does not report.
    func identity(
        _ identifier: [UInt8],
        _ route: any FrameRoute,
        _ connection: CardConnection,
        _ systemCodes: [UInt16]
    ) throws(LinkError) -> DiscoveredTag.Identity? {
        switch self {
        case .nfcA(let sak):
            let uid = TagIdentification.uniqueIdentifier(identifier)
            return .nfcA(atqa: TagIdentification.atqa(uid), sak: sak ?? 0x00, uid: uid)
        case .type1: return .nfcA(atqa: 0x0C00, sak: nil, uid: identifier)
        case .nfcV:
            if let uid = TagIdentification.vicinityIdentifier(identifier) { return .nfcV(uid: uid, dsfid: 0) }
            return try Self.takeInventory(route, connection)
        case .nfcF:
            // A reader that polls by itself has found the card's first system, but does not report the PMm. A PMm of
            // all ones stands for the longest times.
            if route is Type3StorageRoute {
                guard identifier.count == 8 else { return nil }
                return .nfcF(idm: identifier, pmm: [UInt8](repeating: 0xFF, count: 8), systemCode: nil)
            }
            return try Self.poll(systemCodes.isEmpty ? [0xFFFF] : systemCodes, route, connection)
        case .other: return nil
        }
    }

    /// Sends an inventory with one slot directly to an ISO/IEC 15693 tag (ISO/IEC 15693-3, 9.4.1).
    private static func takeInventory(
        _ route: any FrameRoute,
        _ connection: CardConnection
    ) throws(LinkError) -> DiscoveredTag.Identity? {
        let answer: [UInt8]
        do throws(LinkError) {
            answer = try route.exchange(Frame([0x26, 0x01, 0x00]), timeout: .milliseconds(20), connection).bytes
        } catch {
            guard [.timeout, .transmission, .unsupported].contains(error.code) else { throw error }
            return nil
        }
        guard answer.count == 10, answer[0] == 0x00 else { return nil }
        return .nfcV(uid: answer[2...].reversed(), dsfid: answer[1])
    }

    /// Polls for one FeliCa system after the other (JIS X 6319-4; NFC Forum Digital 2.3, 8.6).
    private static func poll(
        _ systemCodes: [UInt16],
        _ route: any FrameRoute,
        _ connection: CardConnection
    ) throws(LinkError) -> DiscoveredTag.Identity? {
        for code in systemCodes {
            let request = Frame([0x06, 0x00, UInt8(code >> 8), UInt8(code & 0xFF), 0x01, 0x00])
            let answer: [UInt8]
            do throws(LinkError) {
                answer = try route.exchange(request, timeout: .milliseconds(20), connection).bytes
            } catch {
                guard error.code == .timeout || error.code == .transmission else { throw error }
                continue
            }
            guard answer.count >= 18, answer[1] == 0x01 else { continue }
            let reported = answer.count >= 20 ? UInt16(high: answer[18], low: answer[19]) : code
            let isPattern = code >> 8 == 0xFF || code & 0xFF == 0xFF
            return .nfcF(
                idm: Array(answer[2..<10]),
                pmm: Array(answer[10..<18]),
                systemCode: isPattern ? reported : code
            )
        }
        return nil
    }
}
