// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import TagLink
package import TagTrace
import TextSafety

/// A kind of reader that a process can name: how it is written, how it is made, and what is reported about it.
///
/// ``all`` is the only list of kinds. The environment of a process, `nfc readers`, the help texts and the messages about
/// wrong names read it. A new reader is a file in `Kinds` and an entry in the list.
package struct ReaderKind: Sendable {
    /// Every kind, in the order in which help texts name them.
    package static let all: [ReaderKind] = [.virtual, .pcsc, .pn532, .simulator, .replay, .none]

    /// What a reader kind can be used for. A later case includes the earlier ones.
    package enum Use: Int, Sendable, Comparable {
        /// Not usable; represents "no reader".
        case nothing
        /// Sessions of apps and commands.
        case sessions
        /// Trials of the service that reads in the background.
        case trials
        /// The service itself.
        case service

        package static func < (lhs: Use, rhs: Use) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// Why a name of the kind can never be a reader.
    package enum Problem: Sendable, Hashable {
        /// The kind has no such name.
        case unknown
        /// What has to follow the colon is missing.
        case unnamed
        /// Another reason, as a sentence for people.
        case other(String)
    }

    /// Called once with where a replay was left.
    package typealias Departure = @Sendable (ReplayDeparture) -> Void
    /// Called with each sentence about files that can't be used.
    package typealias Notice = @Sendable (String) -> Void
    package typealias ServiceMaker = @Sendable (ReaderName, ReaderConfiguration, @escaping Notice) -> ResolvedReader?

    /// How the names of the kind are written, such as `pcsc[:NAME]`.
    package var usage: String
    /// How people call the kind, such as `PC/SC`.
    package var title: String
    package var use: Use
    package var make: @Sendable (ReaderName, ReaderConfiguration, Departure?) -> ResolvedReader
    /// Creates the reader of a name for the background service, if that is another one: it may be connected later, and
    /// notices don't go to standard error. The function returns nil to use ``make``.
    package var makeForService: ServiceMaker = { _, _, _ in nil }
    /// Creates the reader that a process without a named reader uses, if one is connected. Nil for a kind that has to be
    /// named.
    package var find: (@Sendable (ReaderConfiguration) throws(LinkError) -> ResolvedReader?)?
    /// Why a name can never be a reader; nil when it can.
    package var problem: @Sendable (ReaderName) -> Problem?
    /// Why the lasting service can't use a name that sessions can use, as a sentence for people; nil when it can.
    package var serviceProblem: @Sendable (ReaderName) -> String? = { _ in nil }
    /// The path of the device that a name needs; nil when it needs none.
    package var devicePath: @Sendable (ReaderName) -> String? = { _ in nil }
    /// Where apps that are cards meet readers of the kind, as `NFC_CARD_READER` names it; nil when it can't.
    package var cardPort: @Sendable (ReaderName) -> (any CardReaderPort)? = { _ in nil }
    /// Whether a driver is one of the kind.
    package var owns: @Sendable (any ReaderDriver) -> Bool = { _ in false }
    /// Reports on all connected readers of the kind. Asks each for its capabilities when the argument is true.
    package var reports: (@Sendable (Bool) async -> [ReaderReport])?
    /// Calls a handler when a reader of the kind may have been plugged in or unplugged. Nil for a kind whose readers have
    /// to be named.
    package var observeReaders: (@Sendable (@escaping @Sendable () -> Void) -> PresenceObservation?)?
    /// Adds what is known of a reader that is not among ``reports``.
    package var describe: @Sendable (inout ReaderReport) -> Void = { _ in }
    /// Why a reader that answers can't be used now, such as another program that has its card open; nil when it can.
    package var obstacle: @Sendable (any ReaderDriver) async throws(LinkError) -> LinkError? = { _ in nil }
    /// What a reader that does not answer needs, as sentences for people.
    package var silence = ReaderKind.silence

    /// What the names of the kind begin with, such as `pn532`.
    package var scheme: String { String(usage.prefix { $0 != ":" && $0 != "[" }) }

    /// The names of the kind, such as `pcsc` and `pcsc:NAME`. The first stands for all in a short list.
    package var forms: [String] {
        let whole = usage.filter { $0 != "[" && $0 != "]" }
        return whole == usage ? [usage] : [scheme, whole]
    }
}

extension ReaderKind {
    /// What most readers that don't answer need.
    package static let silence = "The reader does not answer. Unplug it and plug it in again."

    /// The kind of a name; nil when there is none.
    package static func named(_ name: ReaderName) -> ReaderKind? { all.first { $0.scheme == name.scheme } }

    /// The kind of a driver, which may be recorded; nil when it is of none.
    package static func of(_ driver: any ReaderDriver) -> ReaderKind? { all.first { $0.owns(driver.unrecorded) } }

    /// The names in one each, for a help text: `virtual, pcsc[:NAME] or pn532:PATH`.
    package static func usage(for use: Use) -> String { list(all.filter { $0.use >= use }.map(\.usage)) }

    /// All names, for a message: `virtual, pcsc, pcsc:NAME or pn532:PATH`.
    static func forms(for use: Use) -> String { list(all.filter { $0.use >= use }.flatMap(\.forms)) }

    /// One name for each kind, for a short message.
    static var shortForms: String { list(all.compactMap(\.forms.first)) }

    /// Two or more names in one text: each use has several kinds.
    private static func list(_ names: [String]) -> String {
        names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
    }
}

/// The name of a reader as `NFC_READER` and `--reader` have it, such as `pn532:/dev/ttyUSB0`.
package struct ReaderName: Sendable, Hashable {
    /// The whole name.
    package let text: String
    /// What says the kind: everything before the first colon.
    package let scheme: String
    /// What follows the first colon; nil without a colon.
    package let rest: String?

    /// Creates a name.
    package init(_ text: String) {
        self.text = text
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        scheme = parts[0]
        rest = parts.count == 2 ? parts[1] : nil
    }

    /// What follows the first colon; nil when nothing does.
    var argument: String? { rest.flatMap { $0.isEmpty ? nil : $0 } }
}

/// A reader that a ``ReaderKind`` has created, with what belongs to it.
package struct ResolvedReader: Sendable {
    /// The reader, or why there is none.
    package var reader: AttachedReader
    /// Where apps that are cards meet readers; nil where this reader can't be a card.
    package var cardPort: (any CardReaderPort)?
    /// What saves the images of virtual tags; nil where nothing is saved.
    package var tagSaver: TagFileSaver?
    /// Why the recording can't be replayed.
    package var recordingError: RecordingError?
    /// Why a file of tags can't be used.
    package var tagFileError: TagFileError?
    /// The scanning sheet that the reader has; nil where the process chooses one.
    package var sheet: (any ScanSheet)?
    /// Asks for the reader where it has turns of its own; nil where the background service is asked.
    package var gate: (any ReaderSharing)?
    /// The phone around the reader; nil for a reader alone.
    package var host: (any SessionHost)?
    /// Whether the background service may use the same reader, so that a session has to ask for it. False for a recording.
    package var isShared = true

    var exists: Bool { reader.driver != nil }

    /// Creates a result.
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
    /// - Parameter reason: why, as a sentence for people. Control characters in it are escaped.
    package init(none reason: String) { reader = .none(reason: VisibleText.escaped(reason)) }

    /// The name is not a known reader.
    static func unknown(_ name: ReaderName) -> ResolvedReader {
        ResolvedReader(none: "There is no reader \"\(name.text)\"; use \(ReaderKind.shortForms).")
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
