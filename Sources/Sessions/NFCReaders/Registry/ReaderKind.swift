// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import TagLink
package import TagTrace
import TextSafety

/// A kind of reader that a process can name, with functions that create such readers and report on them.
///
/// ``all`` is the only list of kinds. The environment of a process, `nfc readers`, the help texts and the messages
/// about wrong names use this list. To add a kind of reader, add a file in `Kinds` and an entry in the list.
package struct ReaderKind: Sendable {
    /// Every kind, in the order in which help texts name them.
    package static let all: [ReaderKind] = [.virtual, .pcsc, .pn532, .simulator, .replay, .none]

    /// What a reader kind can be used for. A later case includes the earlier ones.
    package enum Use: Int, Sendable, Comparable {
        /// Not usable; represents "no reader".
        case nothing
        case sessions
        /// Trials of the background reading service.
        case trials
        /// The background reading service itself.
        case service

        package static func < (lhs: Use, rhs: Use) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    package enum Problem: Sendable, Hashable {
        case unknown
        /// The part after the colon is missing.
        case unnamed
        case other(String)
    }

    /// Called once, when an app departs from a replayed recording.
    package typealias Departure = @Sendable (ReplayDeparture) -> Void
    /// Called with a sentence for each file that can't be used.
    package typealias Notice = @Sendable (String) -> Void
    package typealias ServiceMaker = @Sendable (ReaderName, ReaderConfiguration, @escaping Notice) -> ResolvedReader?

    /// The syntax of the kind's names, such as `pcsc[:NAME]`.
    package var usage: String
    /// The kind's name for people, such as `PC/SC`.
    package var title: String
    package var use: Use
    package var make: @Sendable (ReaderName, ReaderConfiguration, Departure?) -> ResolvedReader
    /// Creates the reader for the background service: it may be connected later, and its notices are passed to a
    /// closure instead of standard error. Returns nil to use ``make``.
    package var makeForService: ServiceMaker = { _, _, _ in nil }
    /// Finds a connected reader for a process that has not named one. Nil for a kind that always has to be named.
    package var find: (@Sendable (ReaderConfiguration) throws(LinkError) -> ResolvedReader?)?
    /// Returns why a name can never refer to a reader; nil when it can.
    package var problem: @Sendable (ReaderName) -> Problem?
    /// Returns a sentence that says why the background service can't use a name that sessions can use; nil when it can.
    package var serviceProblem: @Sendable (ReaderName) -> String? = { _ in nil }
    /// Returns the device path of a named reader; nil for a reader without a device path.
    package var devicePath: @Sendable (ReaderName) -> String? = { _ in nil }
    /// Creates the port for card emulation that `NFC_CARD_READER` names; nil if the kind does not support this.
    package var cardPort: @Sendable (ReaderName) -> (any CardReaderPort)? = { _ in nil }
    package var owns: @Sendable (any ReaderDriver) -> Bool = { _ in false }
    /// Reports on all connected readers of this kind. If the argument is true, asks each reader for its capabilities.
    package var reports: (@Sendable (Bool) async -> [ReaderReport])?
    /// Calls a handler when a reader of this kind may have been plugged in or unplugged. Nil for a kind whose readers
    /// have to be named.
    package var observeReaders: (@Sendable (@escaping @Sendable () -> Void) -> PresenceObservation?)?
    /// Fills in what is known about this kind, in the report of a reader that is missing from ``reports``.
    package var describe: @Sendable (inout ReaderReport) -> Void = { _ in }
    /// Returns why a working reader can't be used now, for example because another program uses its card; nil when it
    /// can be used.
    package var obstacle: @Sendable (any ReaderDriver) async throws(LinkError) -> LinkError? = { _ in nil }
    /// Sentences for people about a reader that does not answer, with the remedy.
    package var silence = ReaderKind.silence

    /// The first part of the kind's names, such as `pn532`.
    package var scheme: String { String(usage.prefix { $0 != ":" && $0 != "[" }) }

    /// The forms of the kind's names, such as `pcsc` and `pcsc:NAME`. A short list contains only the first form.
    package var forms: [String] {
        let whole = usage.filter { $0 != "[" && $0 != "]" }
        return whole == usage ? [usage] : [scheme, whole]
    }
}

extension ReaderKind {
    /// The default of the instance property `silence`, which fits most readers.
    package static let silence = "The reader does not answer. Unplug it and plug it in again."

    /// Returns the kind of a name; nil for an unknown name.
    package static func named(_ name: ReaderName) -> ReaderKind? { all.first { $0.scheme == name.scheme } }

    /// Returns the kind of a driver, even if its traffic is recorded; nil if its kind is not registered.
    package static func of(_ driver: any ReaderDriver) -> ReaderKind? { all.first { $0.owns(driver.unrecorded) } }

    /// Returns the syntax of each kind's names, for a help text: `virtual, pcsc[:NAME] or pn532:PATH`.
    package static func usage(for use: Use) -> String { list(all.filter { $0.use >= use }.map(\.usage)) }

    /// Returns all forms of the names, for a message: `virtual, pcsc, pcsc:NAME or pn532:PATH`.
    static func forms(for use: Use) -> String { list(all.filter { $0.use >= use }.flatMap(\.forms)) }

    /// One name for each kind, for a short message.
    static var shortForms: String { list(all.compactMap(\.forms.first)) }

    /// Joins two or more names. Each use has several kinds.
    private static func list(_ names: [String]) -> String {
        names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
    }
}

/// A reader's name in the syntax of `NFC_READER` and `--reader`, such as `pn532:/dev/ttyUSB0`.
package struct ReaderName: Sendable, Hashable {
    package let text: String
    /// The part before the first colon, which identifies the kind.
    package let scheme: String
    /// The part after the first colon; nil without a colon.
    package let rest: String?

    package init(_ text: String) {
        self.text = text
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        scheme = parts[0]
        rest = parts.count == 2 ? parts[1] : nil
    }

    /// The part after the first colon; nil if this is empty or missing.
    var argument: String? { rest.flatMap { $0.isEmpty ? nil : $0 } }
}

package struct ResolvedReader: Sendable {
    package var reader: AttachedReader
    /// The port for card emulation; nil if this reader can't act as a card.
    package var cardPort: (any CardReaderPort)?
    /// Saves the images of virtual tags; nil when nothing is saved.
    package var tagSaver: TagFileSaver?
    package var recordingError: RecordingError?
    package var tagFileError: TagFileError?
    /// The reader's own scanning sheet; nil to let the process choose a sheet.
    package var sheet: (any ScanSheet)?
    /// Asks for the use of a reader that manages this itself; nil to ask the background service.
    package var gate: (any ReaderSharing)?
    /// The simulated phone that contains the reader; nil for a reader without a phone.
    package var host: (any SessionHost)?
    /// Whether the background service may use the same reader, so that sessions have to ask. False for a recording.
    package var isShared = true

    var exists: Bool { reader.driver != nil }

    package init(
        _ reader: AttachedReader,
        cardPort: (any CardReaderPort)? = nil,
        tagSaver: TagFileSaver? = nil,
        isShared: Bool = true
    ) {
        self.reader = reader
        self.cardPort = cardPort
        self.tagSaver = tagSaver
        self.isShared = isShared
    }

    /// Creates a result without a reader.
    ///
    /// - Parameter reason: a sentence about the cause. Control characters in it are escaped.
    package init(none reason: String) { reader = .none(reason: VisibleText.escaped(reason)) }

    static func unknown(_ name: ReaderName) -> ResolvedReader {
        ResolvedReader(none: "The reader \"\(name.text)\" is unknown; use \(ReaderKind.shortForms).")
    }
}

extension ReaderKind {
    /// No reader, for a process that must not use one.
    static let none = ReaderKind(
        usage: "none",
        title: "none",
        use: .nothing,
        make: { name, configuration, _ in
            guard name.rest == nil else { return .unknown(name) }
            return ResolvedReader(none: "\(configuration.readerSource) is \"none\", so no reader is used.")
        },
        problem: { $0.rest == nil ? nil : .unknown }
    )
}
