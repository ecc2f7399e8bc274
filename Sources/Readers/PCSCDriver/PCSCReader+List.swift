// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension PCSCReader {
    /// The driver for the first reader that is probably contactless.
    ///
    /// If there is no service, this only checks the file system, and does not open the library.
    ///
    /// - Parameter limit: the maximum time; nil for as long as a service may take to start.
    /// - Returns: the driver; nil when there is no such reader, or no service.
    /// - Throws: `LinkError` with `readerUnavailable` when the service runs but does not answer.
    public static func findContactless(within limit: Duration? = nil) throws(LinkError) -> PCSCReader? {
        try findContactless(SystemSmartCards.shared, within: limit)
    }

    /// The driver for the first reader of a resource manager that is probably contactless.
    package static func findContactless(
        _ layer: any SmartCardLayer,
        within limit: Duration? = nil
    ) throws(LinkError) -> PCSCReader? {
        guard layer.isServiceLikely else { return nil }
        do throws(SmartCardError) {
            let states = try states(layer, within: limit)
            return ReaderChoice.firstContactless.pick(from: states).map { make(.first, $0, layer) }
        } catch {
            guard error.code == .timeout else { return nil }
            throw LinkError(error)
        }
    }

    /// The driver for a connected reader.
    ///
    /// - Parameters:
    ///   - choice: which reader.
    ///   - limit: the maximum time; nil for as long as a service may take to start.
    /// - Returns: the driver, with the reader's full name.
    /// - Throws: `LinkError` with `readerUnavailable`, whose reason is a sentence that says what to do.
    public static func find(
        _ choice: ReaderChoice,
        within limit: Duration? = nil
    ) throws(LinkError) -> PCSCReader {
        try find(choice, SystemSmartCards.shared, within: limit)
    }

    /// The driver for a connected reader of a resource manager.
    package static func find(
        _ choice: ReaderChoice,
        _ layer: any SmartCardLayer,
        within limit: Duration? = nil
    ) throws(LinkError) -> PCSCReader {
        let states: [SmartCardReaderState]
        do throws(SmartCardError) {
            states = try Self.states(layer, within: limit)
        } catch {
            throw LinkError(.readerUnavailable, error.reason)
        }
        guard let name = choice.pick(from: states) else {
            throw LinkError(.readerUnavailable, missing(choice, among: states))
        }
        return make(choice, name, layer)
    }

    private static func make(_ choice: ReaderChoice, _ name: String, _ layer: any SmartCardLayer) -> PCSCReader {
        let reader = PCSCReader(choice, layer: layer)
        reader.state.withLock { $0.name = name }
        return reader
    }

    /// Reports on all readers of the service. Empty when there is no service.
    ///
    /// - Parameter asksReaders: whether to ask each reader for its capabilities. This opens the tag in it, and takes a
    ///   while.
    public static func reports(askingReaders asksReaders: Bool) async -> [PCSCReaderReport] {
        await reports(SystemSmartCards.shared, askingReaders: asksReaders)
    }

    /// Reports on all readers of a resource manager.
    package static func reports(
        _ layer: any SmartCardLayer,
        askingReaders asksReaders: Bool
    ) async -> [PCSCReaderReport] {
        guard layer.isServiceLikely, let states = try? states(layer) else { return [] }
        return await reports(states, layer, askingReaders: asksReaders)
    }

    /// Reports on the given readers.
    package static func reports(
        _ states: [SmartCardReaderState],
        _ layer: any SmartCardLayer,
        askingReaders asksReaders: Bool
    ) async -> [PCSCReaderReport] {
        var reports: [PCSCReaderReport] = []
        for state in states {
            guard asksReaders else {
                reports.append(PCSCReaderReport(state))
                continue
            }
            let reader = PCSCReader(.named(state.reader), layer: layer)
            reports.append(await reader.report(state))
        }
        return reports
    }

    /// Asks the reader for its capabilities.
    private func report(_ present: SmartCardReaderState) async -> PCSCReaderReport {
        let asked = try? await thread.perform(cancelling: service) { [self] () throws(LinkError) in
            var report = PCSCReaderReport(present)
            do throws(LinkError) {
                _ = try look(Set(Technology.allCases), systemCodes: [0xFFFF])
            } catch {
                report.problem = error.reason
            }
            report.findings = state.withLock { $0.findings[present.reader] } ?? ReaderFindings()
            letGo(.unpower)
            askWithoutTag(&report)
            return report
        }
        await release()
        return asked ?? PCSCReaderReport(present)
    }

    /// Asks the reader's driver, and the reader with an escape command. Neither needs a tag.
    private func askWithoutTag(_ report: inout PCSCReaderReport) {
        let name = report.name
        guard
            // The service also makes this wait while another program has a transaction.
            let card = try? service.call(
                within: CardConnection.patience,
                { layer, context throws(SmartCardError) in try layer.connect(context, reader: name, .direct) }
            )
        else { return }
        func control(_ code: UInt32, _ data: [UInt8]) -> [UInt8]? {
            try? service.call { layer, _ throws(SmartCardError) in try layer.control(card, code: code, data) }
        }
        report.features = ReaderFeatures { control($0, []) }
        if report.findings.chip == nil, let code = report.features.escapeCode,
            let answer = control(code, PN53xRoute.firmwareCommand).flatMap(ReaderAnswer.init), answer.isDone,
            let chip = PN53xRoute.firmware(in: answer.data)
        {
            report.findings.chip = .some(chip)
        }
        try? service.call { layer, _ throws(SmartCardError) in layer.disconnect(card, .leave) }
    }

    /// The states of all readers, over a separate connection.
    package static func states(
        _ layer: any SmartCardLayer,
        within limit: Duration? = nil
    ) throws(SmartCardError) -> [SmartCardReaderState] {
        let service = ServiceConnection(layer: layer, limits: .usual)
        let longest = Duration.seconds(60)
        let milliseconds = limit.map { Int(min($0, longest) / .milliseconds(1)) }
        return try service.readers(within: milliseconds)
    }

    /// Why none of the connected readers matches the choice.
    static func missing(_ choice: ReaderChoice, among states: [SmartCardReaderState]) -> String {
        guard !states.isEmpty else { return SmartCardError(.noReaders, "SCardListReaders").reason }
        let names = states.map { "\"\($0.reader)\"" }.joined(separator: ", ")
        return switch choice {
        case .named(let name): "There is no PC/SC reader named \"\(name)\". There are: \(names)."
        default: "None of the PC/SC readers seems to be contactless. There are: \(names)."
        }
    }
}
