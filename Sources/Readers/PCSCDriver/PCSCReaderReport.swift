// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A report on a PC/SC reader: its name and state, and its answers to questions.
public struct PCSCReaderReport: Sendable {
    /// The card state of a reader.
    public enum Presence: String, Sendable {
        /// There is nothing in the reader.
        case empty
        /// There is a tag or card.
        case tag
        /// There is something that does not answer.
        case mute
        /// The reader itself is gone.
        case unplugged
    }

    /// Whether the reader supports one of Core NFC's calls.
    public typealias Call = SupportedAPI

    /// The reader's name.
    public var name: String
    /// The reader's card state.
    public var presence: Presence
    /// Whether another program uses it.
    public var isInUse: Bool
    /// Whether the reader is contactless, as far as known.
    public var isContactless: Bool
    /// The ATR of the card in the reader.
    public var answerToReset: [UInt8]
    /// Why the tag in the reader could not be opened, as a sentence.
    public var problem: String?

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

    /// The technologies that the reader can poll for, as far as known.
    public var technologies: Set<Technology> { PCSCReader.technologies(name, findings) }
    /// The PN53x inside, such as `PN532 1.6`; nil when there is none, or when it is not known.
    public var chip: String? { findings.chip.flatMap(\.self) }
    /// USB vendor and product, such as `072f:2200`; nil when the driver does not report it.
    public var usbIdentifier: String? { features.usbIdentifier }
    /// The firmware's name; nil when the driver does not report it.
    public var firmware: String? { features.firmware }
    /// Whether the reader supports extended APDUs; nil when the driver does not report it.
    public var takesExtendedAPDUs: Bool? { features.takesExtendedAPDUs }
    /// Whether escape commands are allowed.
    public var hasEscapeCommands: Bool { features.escapeCode != nil }
    /// The technologies for which the reader supports transparent sessions.
    public var transparentTechnologies: Set<Technology> {
        Set(findings.transparent.filter { $0.value != nil }.keys)
    }
}

extension PCSCReaderReport {
    /// The Core NFC calls that the reader supports, and why it does not support the others.
    public var calls: [Call] {
        let extended =
            switch takesExtendedAPDUs {
            case true?: "in APDUs, extended ones too"
            case false?: "in APDUs of up to 261 bytes; the reader takes no extended ones"
            case nil: "in APDUs; whether extended ones go through, its driver does not report"
            }
        return [
            Call(name: "NFCNDEFTag.readNDEF, writeNDEF", support: .yes, reason: "For tags that the calls below reach."),
            Call(name: "NFCISO7816Tag.sendCommand", support: .yes, reason: "The reader speaks ISO-DEP, \(extended)."),
            miFare, feliCa, iso15693,
            Call(
                name: "NFCTagReaderSession.PollingOption.pace",
                support: .yes,
                reason: "Each card is asked for EF.CardAccess, which says whether it takes PACE."
            ),
            Call(
                name: "NFCVASReaderSession",
                support: .no,
                reason: "Readers that find tags by themselves do not send the VAS polling frame."
            ),
        ]
    }

    private var miFare: Call {
        raw("NFCMiFareTag.sendMiFareCommand", .nfcA, "an NFC-A tag without ISO-DEP") {
            (.partly, "READ and WRITE of pages alone, by the reader's commands for storage cards.")
        }
    }

    private var feliCa: Call {
        raw("NFCFeliCaTag's commands", .nfcF, "a FeliCa tag") {
            (.partly, "Reading and writing without encryption alone, where the reader has commands for FeliCa blocks.")
        }
    }

    private var iso15693: Call {
        if findings.traverse == true {
            return Call(
                name: "NFCISO15693Tag's commands",
                support: .yes,
                reason: "Through the reader's Traverse, FF FD."
            )
        }
        if !technologies.contains(.nfcV), findings.transparent[.nfcV] == nil {
            return Call(
                name: "NFCISO15693Tag's commands",
                support: .no,
                reason: "The \(chip ?? "PN53x") inside does not speak ISO/IEC 15693."
            )
        }
        return raw("NFCISO15693Tag's commands", .nfcV, "an ISO/IEC 15693 tag") {
            (.partly, "Reading and writing blocks alone, by the reader's commands for storage cards.")
        }
    }

    private func raw(
        _ name: String,
        _ technology: Technology,
        _ tag: String,
        otherwise: () -> (Call.Support, String)
    ) -> Call {
        if let chip, technology != .nfcV {
            return Call(name: name, support: .yes, reason: "Through the \(chip) inside.")
        }
        switch findings.transparent[technology] {
        case .some(.some): return Call(name: name, support: .yes, reason: "In a transparent session.")
        case .some(nil):
            let (support, reason) = otherwise()
            return Call(name: name, support: support, reason: reason)
        case nil:
            return Call(name: name, support: .unknown, reason: "Shows when \(tag) is on the reader; ask again then.")
        }
    }
}
