// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A reader's identity and capabilities. Values that the reader does not report are nil.
package struct ReaderReport: Sendable {
    package enum Presence: String, Sendable {
        case empty
        case tag
        /// A card is present but does not answer.
        case mute
        case unplugged
    }

    package var name: String
    /// The kind's scheme, such as `pcsc`; nil if the reader's kind is not registered.
    package var kind: String?
    package var technologies: Set<Technology>
    package var presence: Presence?
    package var isInUse: Bool?
    package var isContactless: Bool?
    package var answerToReset: [UInt8]?
    /// Why the tag on the reader could not be opened, as a sentence.
    package var problem: String?
    /// The USB vendor and product IDs, such as `072f:2200`.
    package var usbIdentifier: String?
    package var firmware: String?
    /// The reader's internal chip that accepts frames, such as `PN532 1.6`.
    package var chip: String?
    package var takesExtendedAPDUs: Bool?
    package var hasEscapeCommands: Bool?
    package var transparentTechnologies: Set<Technology>?
    /// Sentences for people about the reader's capabilities.
    package var capabilities: [String] = []
    package var calls: [SupportedAPI]?

    /// The kind's name for people, such as `PC/SC`.
    package var title: String? { ReaderKind.all.first { $0.scheme == kind }?.title }

    /// Creates a report that contains only the reader's name, kind and technologies.
    package init(name: String, kind: String?, technologies: Set<Technology>) {
        self.name = name
        self.kind = kind
        self.technologies = technologies
    }
}

package struct ReaderInventory: Sendable {
    package let used: ReaderReport
    package let others: [ReaderReport]

    /// Looks for readers.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of readers to look for.
    ///   - isAlone: whether to ignore all readers except the one in use, because the user has named it.
    ///   - asksReaders: whether to ask each reader for its capabilities, which opens the tag on the reader.
    package init(
        using driver: any ReaderDriver,
        among kinds: [ReaderKind] = ReaderKind.all,
        isAlone: Bool,
        askingReaders asksReaders: Bool
    ) async {
        let kind = kinds.first { $0.owns(driver) }
        var others: [ReaderReport] = []
        var found: ReaderReport?
        // The virtual reader always exists, so it is listed last, unlike in help texts.
        for other in kinds.reversed() {
            let isOwn = other.scheme == kind?.scheme
            guard let reports = other.reports, isOwn || !isAlone else { continue }
            for report in await reports(asksReaders) {
                if isOwn, found == nil, report.name == driver.name { found = report } else { others.append(report) }
            }
        }
        var used = found ?? ReaderReport(name: driver.name, kind: kind?.scheme, technologies: driver.technologies)
        if found == nil { kind?.describe(&used) }
        self.used = used
        self.others = isAlone ? [] : others
    }
}

/// The readers that are plugged into the machine, for a program that uses all of them.
///
/// Readers that have to be named, such as a PN532, are not included.
public enum MachineReaders {
    /// A reader that is plugged in.
    public struct Listed: Sendable, Hashable {
        /// The value of ``ReaderConfiguration/reader`` for this reader, such as `pcsc:ACS ACR122U 00 00`.
        public let reader: String
        /// The reader's own name.
        public let name: String
    }

    /// Returns the contactless readers that are plugged in now, in the system's order.
    public static func list() async -> [Listed] {
        var listed: [Listed] = []
        for kind in ReaderKind.all where kind.observeReaders != nil {
            for report in await kind.reports?(false) ?? [] where report.isContactless == true {
                listed.append(Listed(reader: "\(kind.scheme):\(report.name)", name: report.name))
            }
        }
        return listed
    }

    /// Returns sentences that say why no reader was found, for each kind whose readers need not be named.
    ///
    /// - Parameter patience: the maximum time to wait for a service that does not answer.
    public static func absences(within patience: Duration = .seconds(5)) -> [String] {
        ReaderKind.all.filter { $0.observeReaders != nil }.compactMap { kind in
            var configuration = ReaderConfiguration(reader: kind.scheme)
            configuration.patience = patience
            guard case .none(let reason) = kind.make(ReaderName(kind.scheme), configuration, nil).reader else {
                return nil
            }
            return reason
        }
    }

    /// Reports when a reader may have been plugged in or unplugged, without polling.
    ///
    /// - Parameter handler: called after each change, on any thread. Call ``list()`` again to get the readers.
    /// - Returns: the observations, which end when these objects are released.
    public static func observe(_ handler: @escaping @Sendable () -> Void) -> [PresenceObservation] {
        ReaderKind.all.compactMap { $0.observeReaders?(handler) }
    }
}
