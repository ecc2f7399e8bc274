// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension PCSCReader {
    /// Returns a driver for the first reader that is probably contactless; nil when there is no such reader, or no
    /// service. Without a service, this only checks the file system, and does not open the library. Throws `LinkError`
    /// with `readerUnavailable` when the service runs but does not answer.
    package static func findContactless(
        _ layer: (any SmartCardLayer)? = nil,
        within limit: Duration? = nil
    ) throws(LinkError) -> PCSCReader? {
        let layer = layer ?? SystemSmartCards.shared
        guard layer.isServiceLikely else { return nil }
        do throws(SmartCardError) {
            let name = ReaderChoice.firstContactless.pick(from: try states(layer, within: limit))
            return name.map { PCSCReader(.first, name: $0, layer: layer) }
        } catch {
            guard error.code == .timeout else { return nil }
            throw LinkError(error)
        }
    }

    /// Returns a driver for a connected reader.
    ///
    /// - Parameters:
    ///   - choice: which reader.
    ///   - limit: the maximum time; nil for as long as a service may need to start.
    /// - Returns: the driver, with the reader's full name.
    /// - Throws: `LinkError` with `readerUnavailable`. The reason explains what to do.
    public static func find(_ choice: ReaderChoice, within limit: Duration? = nil) throws(LinkError) -> PCSCReader {
        try find(choice, SystemSmartCards.shared, within: limit)
    }

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
        return PCSCReader(choice, name: name, layer: layer)
    }

    /// Reports on all readers of the service; empty when there is no service. Asking the readers for their capabilities
    /// takes a while, and opens the tag in each reader.
    package static func reports(
        _ layer: (any SmartCardLayer)? = nil,
        askingReaders asksReaders: Bool
    ) async -> [PCSCReaderReport] {
        let layer = layer ?? SystemSmartCards.shared
        guard layer.isServiceLikely, let states = try? states(layer) else { return [] }
        var reports: [PCSCReaderReport] = []
        for state in states {
            let reader = PCSCReader(.named(state.reader), layer: layer)
            reports.append(asksReaders ? await reader.report(state) : PCSCReaderReport(state))
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
            releaseTag(.unpower)
            askWithoutTag(&report)
            return report
        }
        await release()
        return asked ?? PCSCReaderReport(present)
    }

    /// Asks the reader's driver, and sends an escape command to the reader. Neither needs a tag.
    private func askWithoutTag(_ report: inout PCSCReaderReport) {
        let name = report.name
        // While another program has a transaction, the service makes this call wait too.
        let card = try? service.call(within: CardConnection.patience) { layer, context throws(SmartCardError) in
            try layer.connect(context, reader: name, .direct)
        }
        guard let card else { return }
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

    /// Returns the states of all readers, over a separate connection.
    package static func states(
        _ layer: any SmartCardLayer,
        within limit: Duration? = nil
    ) throws(SmartCardError) -> [SmartCardReaderState] {
        let service = ServiceConnection(layer: layer, limits: .usual)
        return try service.readers(within: limit.map { Int(min($0, .seconds(60)) / .milliseconds(1)) })
    }

    /// Returns the reason why no connected reader matches the choice.
    static func missing(_ choice: ReaderChoice, among states: [SmartCardReaderState]) -> String {
        guard !states.isEmpty else { return SmartCardError(.noReaders, "SCardListReaders").reason }
        let names = states.map { "\"\($0.reader)\"" }.joined(separator: ", ")
        return switch choice {
        case .named(let name): "No PC/SC reader is named \"\(name)\". Available readers: \(names)."
        default: "No contactless PC/SC reader found. Available readers: \(names)."
        }
    }
}

/// How to choose one of the system's readers.
public enum ReaderChoice: Sendable, Hashable {
    /// The first reader that seems to be contactless, if any.
    case firstContactless
    /// The first contactless reader, or else the first reader.
    case first
    /// The reader with this name, or else the first reader whose name begins with it or contains it, ignoring case.
    case named(String)

    /// Chooses a reader. Returns the reader's name; nil when no reader matches.
    package func pick(from states: [SmartCardReaderState]) -> String? {
        let names = states.map(\.reader)
        switch self {
        case .firstContactless:
            return states.first { Self.isContactless($0) }?.reader
        case .first:
            return ReaderChoice.firstContactless.pick(from: states)
                ?? names.first { !Self.words(in: $0).contains("SAM") } ?? names.first
        case .named(let wanted):
            let wanted = wanted.uppercased()
            return names.first { $0.uppercased() == wanted }
                ?? names.first { $0.uppercased().hasPrefix(wanted) }
                ?? names.first { $0.uppercased().contains(wanted) }
        }
    }

    /// Returns whether a reader seems to be contactless, judged by its card, or without a card by its name.
    ///
    /// The service provides no better information. The name only determines which reader to try; the driver asks the
    /// reader for its capabilities.
    package static func isContactless(_ state: SmartCardReaderState) -> Bool {
        if let answer = AnswerToReset(state.answerToReset) { return answer.isContactless }
        let words = words(in: state.reader)
        if words.contains(where: Self.contactWords.contains) { return false }
        return words.contains { word in
            Self.contactlessWords.contains(word) || Self.contactlessProducts.contains { word.hasPrefix($0) }
        }
    }

    /// Returns whether a reader has a PN53x, judged by the reader's name. A PN53x does not find ISO/IEC 15693 tags
    /// (PN532 user manual, 7.3.5, InListPassiveTarget).
    static func hasPN53x(_ name: String) -> Bool {
        words(in: name).contains { word in pn53xProducts.contains { word.hasPrefix($0) } }
    }

    private static let pn53xProducts = ["ACR122", "PN53", "SCL3711", "TOUCHATAG"]

    /// Words for contact slots, in the names of readers with both kinds of slots.
    private static let contactWords: Set<String> = ["SAM", "ICC", "CONTACT"]
    private static let contactlessWords: Set<String> = [
        "CL", "CONTACTLESS", "FELICA", "NFC", "PASORI", "PCD", "PICC", "RF", "RFID", "TOUCHATAG",
    ]
    private static let contactlessProducts = [
        "ACR122", "ACR125", "ACR128", "ACR155", "ARYGON", "PN53", "SCL3711", "RC-S", "5022", "5023", "5027", "5422",
        "5427", "3700", "3720", "4701",
    ]

    private static func words(in name: String) -> [String] {
        name.uppercased().split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init)
    }
}

/// A report on a PC/SC reader: its name, its state and its capabilities.
package struct PCSCReaderReport: Sendable {
    package enum Presence: String, Sendable {
        case empty
        /// The reader contains a tag or card.
        case tag
        case mute
        case unplugged
    }

    package typealias Call = SupportedAPI

    package var name: String
    package var presence: Presence
    package var isInUse: Bool
    package var isContactless: Bool
    package var answerToReset: [UInt8]
    /// Why the tag in the reader could not be opened, as a sentence.
    package var problem: String?

    var features = ReaderFeatures()
    var findings = ReaderFindings()

    init(_ state: SmartCardReaderState) {
        name = state.reader
        presence =
            state.flags.contains(.unavailable)
            ? .unplugged : state.flags.contains(.mute) ? .mute : state.flags.contains(.present) ? .tag : .empty
        isInUse = state.isInUse
        isContactless = ReaderChoice.isContactless(state)
        answerToReset = state.answerToReset
    }

    /// The technologies that the reader can probably poll for.
    package var technologies: Set<Technology> { PCSCReader.technologies(name, findings) }
    /// The reader's PN53x, such as `PN532 1.6`; nil when it has none, or when this is unknown.
    package var chip: String? { findings.chip.flatMap(\.self) }
    /// USB vendor and product, such as `072f:2200`; nil when the driver does not report it.
    package var usbIdentifier: String? { features.usbIdentifier }
    /// The firmware's name; nil when the driver does not report it.
    package var firmware: String? { features.firmware }
    /// Whether the reader supports extended APDUs; nil when the driver does not report it.
    package var takesExtendedAPDUs: Bool? { features.takesExtendedAPDUs }
    package var hasEscapeCommands: Bool { features.escapeCode != nil }
    /// The technologies for which the reader supports transparent sessions.
    package var transparentTechnologies: Set<Technology> {
        Set(findings.transparent.filter { $0.value != nil }.keys)
    }
}

extension PCSCReaderReport {
    /// The Core NFC calls that the reader supports, and why it does not support the others.
    package var calls: [Call] {
        let extended =
            switch takesExtendedAPDUs {
            case true?: "in APDUs, including extended ones"
            case false?: "in APDUs of up to 261 bytes; the reader does not support extended ones"
            case nil: "in APDUs; its driver does not report whether extended ones are supported"
            }
        let pages = "Only READ and WRITE of pages, with the reader's commands for storage cards."
        let services = """
            Only reading and writing without encryption, if the reader has commands for FeliCa blocks.
            """
        return [
            Call("NFCNDEFTag.readNDEF, writeNDEF", .yes, "For tags that the calls below support."),
            Call("NFCISO7816Tag.sendCommand", .yes, "The reader speaks ISO-DEP, \(extended)."),
            frames("NFCMiFareTag.sendMiFareCommand", .nfcA, "an NFC-A tag without ISO-DEP", otherwise: pages),
            frames("NFCFeliCaTag's commands", .nfcF, "a FeliCa tag", otherwise: services),
            iso15693,
            Call(
                "NFCTagReaderSession.PollingOption.pace",
                .yes,
                "Each card is asked for EF.CardAccess, which shows whether it supports PACE."
            ),
            Call("NFCVASReaderSession", .no, "Readers that find tags by themselves do not send the VAS polling frame."),
        ]
    }

    private var iso15693: Call {
        let name = "NFCISO15693Tag's commands"
        if findings.traverse == true { return Call(name, .yes, "Through the reader's Traverse, FF FD.") }
        if !technologies.contains(.nfcV), findings.transparent[.nfcV] == nil {
            return Call(name, .no, "The \(chip ?? "PN53x") inside does not support ISO/IEC 15693.")
        }
        let blocks = "Only reading and writing blocks, with the reader's commands for storage cards."
        return frames(name, .nfcV, "an ISO/IEC 15693 tag", otherwise: blocks)
    }

    /// Describes a call that sends frames to a tag. `otherwise` describes what works without frames.
    private func frames(_ name: String, _ technology: Technology, _ tag: String, otherwise: String) -> Call {
        if let chip, technology != .nfcV { return Call(name, .yes, "Through the \(chip) inside.") }
        return switch findings.transparent[technology] {
        case .some(.some): Call(name, .yes, "In a transparent session.")
        case .some(nil): Call(name, .partly, otherwise)
        case nil: Call(name, .unknown, "Unknown until \(tag) is on the reader. Run this again then.")
        }
    }
}

extension SupportedAPI {
    fileprivate init(_ name: String, _ support: Support, _ reason: String) {
        self.init(name: name, support: support, reason: reason)
    }
}
