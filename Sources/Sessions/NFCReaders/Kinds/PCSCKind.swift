// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink

extension ReaderKind {
    /// PC/SC readers.
    static let pcsc = ReaderKind(
        usage: "pcsc[:NAME]",
        title: "PC/SC",
        use: .service,
        make: { name, configuration, _ in
            do throws(LinkError) {
                let choice = name.argument.map(ReaderChoice.named) ?? .first
                return ResolvedReader(.discovering(try PCSCReader.find(choice, within: configuration.patience)))
            } catch {
                return ResolvedReader(none: error.reason)
            }
        },
        makeForService: { name, _, _ in
            guard name.rest == nil || name.argument != nil else { return nil }
            let choice = name.argument.map(ReaderChoice.named) ?? .firstContactless
            return ResolvedReader(.discovering(PCSCReader(choice)))
        },
        // If the service hangs, this throws an error, so that no virtual tags are used instead.
        find: { (configuration) throws(LinkError) in
            try PCSCReader.findContactless(within: configuration.patience).map { ResolvedReader(.discovering($0)) }
        },
        problem: { $0.rest == "" ? .unnamed : nil },
        cardPort: { PCSCCardPort(path: $0.argument) },
        owns: { $0 is PCSCReader },
        reports: { asksReaders in
            await PCSCReader.reports(askingReaders: asksReaders).map { ReaderReport($0) }
        },
        observeReaders: { handler in
            let reader = PCSCReader(.first)
            let observation = reader.observePresence(handler)
            return PresenceObservation { withExtendedLifetime((reader, observation)) {} }
        },
        obstacle: { (driver) async throws(LinkError) in
            guard let reader = driver as? PCSCReader, try await reader.isCardInUse() else { return nil }
            return LinkError(SmartCardError(.sharingViolation, "SCardConnect"))
        },
        silence: SmartCardError(.timeout, "SCardListReaders").reason
    )
}

extension ReaderReport {
    fileprivate init(_ report: PCSCReaderReport) {
        self.init(name: report.name, kind: "pcsc", technologies: report.technologies)
        presence = Presence(rawValue: report.presence.rawValue)
        isInUse = report.isInUse
        isContactless = report.isContactless
        answerToReset = report.answerToReset
        problem = report.problem
        usbIdentifier = report.usbIdentifier
        firmware = report.firmware
        chip = report.chip
        takesExtendedAPDUs = report.takesExtendedAPDUs
        hasEscapeCommands = report.hasEscapeCommands
        transparentTechnologies = report.transparentTechnologies
        calls = report.calls
    }
}
