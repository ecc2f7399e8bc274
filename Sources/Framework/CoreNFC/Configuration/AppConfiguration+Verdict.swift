// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import TagLink
import TextSafety

extension AppConfiguration {
    /// What an app asks for when it begins a session.
    package enum Request: Sendable, Hashable {
        /// An NDEF session.
        case ndef
        /// A tag session, with whether its polling options contain ISO 18092 and PACE.
        case tags(feliCa: Bool, pace: Bool)
        /// A VAS session.
        case vas
        /// A session for payment cards.
        case payment
        /// Card emulation.
        case cardEmulation
    }

    /// What an app's configuration lacks.
    package struct Violation: Error, Sendable, Hashable {
        /// The entry that is missing.
        package var key: Key
        /// The file in which it is missing.
        package var file: String
        /// What to add.
        package var fix: String

        /// The key, the file and the fix as one text for people.
        package var message: String { "\(key.rawValue) is missing in \(file). \(fix)" }

        /// The error that the app receives.
        package var readerError: NFCReaderError {
            NFCReaderError(.readerErrorSecurityViolation, reason: message)
        }
    }

    /// What iOS would do.
    package enum Verdict: Sendable, Hashable {
        /// The session runs. The notes say what an app without a configuration would need on iOS.
        case allowed(notes: [Violation])
        /// The session ends at once, with code 2.
        case refused(Violation)
        /// The process ends.
        case endsProcess(Violation)
    }

    /// Decides what iOS would do with a request.
    ///
    /// - Parameter configuration: what the app declares.
    package static func evaluate(_ configuration: AppConfiguration, _ request: Request) -> Verdict {
        var notes: [Violation] = []
        for need in needs(of: request) {
            let isEntitlement = need.key == .formats || need.key == .cardEmulation
            let file = isEntitlement ? configuration.entitlements : configuration.infoPlist
            if let file, need.isMet(file[need.key]) { continue }
            let name = file?.path ?? (isEntitlement ? "the app's entitlements" : "the app's Info.plist")
            let violation = Violation(key: need.key, file: name, fix: need.fix)
            if file == nil, !configuration.isStrict {
                notes.append(violation)
            } else if need.key == .usageDescription || configuration.isStrict {
                return .endsProcess(violation)
            } else {
                return .refused(violation)
            }
        }
        return .allowed(notes: notes)
    }

    private struct Need {
        var key: Key
        var fix: String
        var isMet: ([String]) -> Bool
    }

    private static func needs(of request: Request) -> [Need] {
        func format(_ name: String, or other: String? = nil) -> Need {
            Need(key: .formats, fix: "Add it with \(name) among its values.") { values in
                values.contains { $0 == name || $0 == other }
            }
        }
        let usage = Need(
            key: .usageDescription,
            fix: "Add it with a sentence that says why the app reads NFC tags."
        ) { values in values.contains { !$0.isEmpty } }
        let systems = Need(
            key: .systemCodes,
            fix: "Add it with the FeliCa system codes that the app polls for, such as 0003."
        ) { !$0.isEmpty }
        switch request {
        case .ndef: return [usage, format("TAG", or: "NDEF")]
        case .tags(let feliCa, let pace):
            return [usage, format("TAG")] + (pace ? [format("PACE")] : []) + (feliCa ? [systems] : [])
        case .vas: return [usage, format("VAS")]
        case .payment: return [usage, format("TAG")]
        case .cardEmulation:
            let fix = "Add it with the value true, and the prefixes of the applications to emulate."
            return [Need(key: .cardEmulation, fix: fix) { $0 == ["true"] }]
        }
    }

    // MARK: Commands

    /// The error for an APDU that selects an application that the app does not list; nil when the APDU may be sent.
    package func violation(of apdu: NFCISO7816APDU) -> NFCReaderError? {
        guard let infoPlist, apdu.instructionCode == 0xA4, apdu.p1Parameter == 0x04, let aid = apdu.data else {
            return nil
        }
        let name = aid.hexText().uppercased()
        guard !selectIdentifiers.contains(name) else { return nil }
        return Violation(
            key: .selectIdentifiers,
            file: infoPlist.path,
            fix: "Add the application \(name) to its values."
        ).readerError
    }

    /// The error for polling for a system code that the app does not list; nil when it may be polled for.
    package func violation(ofPolling systemCode: Data) -> NFCReaderError? {
        guard let infoPlist else { return nil }
        let name = systemCode.hexText().uppercased()
        guard !systemCodes.contains(name) else { return nil }
        return Violation(
            key: .systemCodes,
            file: infoPlist.path,
            fix: "Add the system code \(name) to its values."
        ).readerError
    }

    /// Whether a reader may select an application of this app.
    package func mayEmulate(_ aid: [UInt8]) -> Bool {
        guard let entitlements else { return true }
        let name = Data(aid).hexText().uppercased()
        return entitlements[.cardIdentifierPrefixes].contains { name.hasPrefix($0.uppercased()) }
    }

    // MARK: What happens

    /// Checks whether a session may begin.
    ///
    /// Where iOS would end the process, this ends it with a message that names the key, the file and the fix. For an
    /// app without a configuration it writes one line, once, about what iOS would have done.
    ///
    /// - Returns: the error that the session ends with; nil when it may begin.
    func error(for request: Request, in environment: NFCEnvironment) -> NFCReaderError? {
        switch Self.evaluate(self, request) {
        case .allowed(let notes):
            // A test has a field of its own and no app around it.
            guard !notes.isEmpty, NFCEnvironment.ofTest == nil else { return nil }
            let messages = notes.map(\.message).joined(separator: " ")
            let isFirst = Self.hasNoted.withLock { hasNoted in
                defer { hasNoted = true }
                return !hasNoted
            }
            if isFirst { environment.print("this runs here, and on iOS it would need more. \(messages)") }
            return nil
        case .refused(let violation):
            environment.print("the session was refused. \(violation.message)")
            return violation.readerError
        case .endsProcess(let violation): Self.endProcess(violation.message)
        }
    }

    private static let hasNoted = Locked(false)

    /// Ends the process, where iOS would do so.
    static func endProcess(_ reason: String) -> Never {
        let line = "CoreNFC: the process ends, as it would on iOS. \(reason)"
        OutputDescriptor.standardError.write(VisibleText.escaped(line) + "\n")
        abort()
    }
}
