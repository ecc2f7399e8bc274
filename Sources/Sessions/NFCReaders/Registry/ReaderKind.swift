// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
package import TagLink
package import TagTrace

/// A kind of reader that a process can name: how it is written, how it is made, and what is reported about it.
///
/// ``all`` is the only list of kinds. The environment of a process, `nfc readers`, the help texts and the messages about
/// wrong names read it. A new reader is a file in `Kinds` and an entry in the list.
package struct ReaderKind: Sendable {
    /// Every kind, in the order in which help texts name them.
    package static let all: [ReaderKind] = [.virtual, .pcsc, .pn532, .simulator, .replay, .none]

    /// For what a kind is of use. A later case includes the earlier ones.
    package enum Use: Int, Sendable, Comparable {
        /// For nothing: it stands for having no reader.
        case nothing
        /// For sessions of apps and commands.
        case sessions
        /// For trials of the service that reads in the background.
        case trials
        /// For the service itself.
        case service

        package static func < (lhs: Use, rhs: Use) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// Why a name of the kind can never give a reader.
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

    /// Makes the reader of a name for the background service.
    package typealias ServiceMaker = @Sendable (ReaderName, ReaderConfiguration, @escaping Notice) -> ResolvedReader?

    /// What the names of the kind begin with, such as `pn532`.
    package var scheme: String
    /// How people call the kind, such as `PC/SC`.
    package var title: String
    /// The names of the kind, such as `pcsc` and `pcsc:NAME`. The first stands for all in a short list.
    package var forms: [String]
    /// The names of the kind in one, such as `pcsc[:NAME]`.
    package var usage: String
    /// For what the kind is of use.
    package var use: Use
    /// Makes the reader of a name.
    package var make: @Sendable (ReaderName, ReaderConfiguration, Departure?) -> ResolvedReader
    /// Makes the reader of a name for the background service, where that is another one: it may come later, and notices
    /// don't go to standard error. Nil from the function when ``make`` has to make it.
    package var makeForService: ServiceMaker = { _, _, _ in nil }
    /// Makes the reader that a process without a named reader uses, if one is there. Nil for a kind that has to be named.
    package var find: (@Sendable (ReaderConfiguration) throws(LinkError) -> ResolvedReader?)?
    /// Why a name can never give a reader; nil when it can.
    package var problem: @Sendable (ReaderName) -> Problem?
    /// Why the lasting service can't use a name that sessions can use, as a sentence for people; nil when it can.
    package var serviceProblem: @Sendable (ReaderName) -> String? = { _ in nil }
    /// The path of the device that a name needs; nil when it needs none.
    package var devicePath: @Sendable (ReaderName) -> String? = { _ in nil }
    /// Where apps that are cards meet readers of the kind, as `NFC_CARD_READER` names it; nil when it can't.
    package var cardPort: @Sendable (ReaderName) -> (any CardReaderPort)? = { _ in nil }
    /// Whether a driver is one of the kind.
    package var owns: @Sendable (any ReaderDriver) -> Bool = { _ in false }
    /// Reports on all readers of the kind that are there. Asks each for what it can do when the argument is true.
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
}

extension ReaderKind {
    /// What most readers that don't answer need.
    package static let silence = "The reader does not answer. Unplug it and plug it in again."

    /// The kind of a name; nil when there is none.
    package static func named(_ name: ReaderName) -> ReaderKind? { all.first { $0.scheme == name.scheme } }

    /// The kind of a driver, which may be recorded; nil when it is of none.
    package static func of(_ driver: any ReaderDriver) -> ReaderKind? { all.first { $0.owns(driver.unrecorded) } }

    /// The names in one each, for a help text: `virtual, pcsc[:NAME] or pn532:PATH`.
    ///
    /// - Parameter use: for what the kinds have to be of use.
    package static func usage(for use: Use) -> String { list(all.filter { $0.use >= use }.map(\.usage)) }

    /// All names, for a message: `virtual, pcsc, pcsc:NAME or pn532:PATH`.
    ///
    /// - Parameter use: for what the kinds have to be of use.
    static func forms(for use: Use) -> String { list(all.filter { $0.use >= use }.flatMap(\.forms)) }

    /// One name for each kind, for a short message.
    static var shortForms: String { list(all.compactMap(\.forms.first)) }

    /// Two or more names in one text: each use has several kinds.
    private static func list(_ names: [String]) -> String {
        names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
    }
}
