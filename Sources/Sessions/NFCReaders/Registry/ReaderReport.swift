// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// What is known of a reader: which it is, and what it can do. What the reader does not report is nil.
package struct ReaderReport: Sendable {
    /// What lies on a reader.
    package enum Presence: String, Sendable {
        /// Nothing.
        case empty
        /// A tag or card.
        case tag
        /// Something that does not answer.
        case mute
        /// The reader itself is gone.
        case unplugged
    }

    /// The reader's name.
    package var name: String
    /// The kind's scheme, such as `pcsc`; nil for a reader of no kind that is listed.
    package var kind: String?
    /// The technologies that the reader can poll for.
    package var technologies: Set<Technology>
    /// What lies on the reader.
    package var presence: Presence?
    /// Whether another program uses the reader.
    package var isInUse: Bool?
    /// Whether the reader is contactless.
    package var isContactless: Bool?
    /// The ATR of the card on the reader.
    package var answerToReset: [UInt8]?
    /// Why the tag on the reader could not be opened, as a sentence.
    package var problem: String?
    /// USB vendor and product, such as `072f:2200`.
    package var usbIdentifier: String?
    /// The firmware's name.
    package var firmware: String?
    /// The chip inside that takes frames, such as `PN532 1.6`.
    package var chip: String?
    package var takesExtendedAPDUs: Bool?
    package var hasEscapeCommands: Bool?
    /// The technologies for which the reader has transparent sessions.
    package var transparentTechnologies: Set<Technology>?
    /// What the reader can do, as sentences for people.
    package var capabilities: [String] = []
    /// Which of Core NFC's calls the reader serves.
    package var calls: [SupportedAPI]?

    /// How people call the kind, such as `PC/SC`.
    package var title: String? { ReaderKind.all.first { $0.scheme == kind }?.title }

    /// Creates a report of which nothing but the reader is known.
    package init(name: String, kind: String?, technologies: Set<Technology>) {
        self.name = name
        self.kind = kind
        self.technologies = technologies
    }
}

/// The readers of a machine: the one that is used, and the others.
package struct ReaderInventory: Sendable {
    package let used: ReaderReport
    package let others: [ReaderReport]

    /// Looks for readers.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of readers that there are.
    ///   - isAlone: whether that reader was named, so that no other is of interest.
    ///   - asksReaders: whether each reader is asked for what it can do, which opens the tag on it.
    package init(
        using driver: any ReaderDriver,
        among kinds: [ReaderKind] = ReaderKind.all,
        isAlone: Bool,
        askingReaders asksReaders: Bool
    ) async {
        let kind = kinds.first { $0.owns(driver) }
        var others: [ReaderReport] = []
        var found: ReaderReport?
        // The virtual reader comes first in help texts, and last here: it is always there.
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
/// Readers that have to be named, such as a PN532 on a serial line, are not among them.
public enum MachineReaders {
    /// A reader that is plugged in.
    public struct Listed: Sendable, Hashable {
        /// What ``ReaderConfiguration/reader`` takes to use this reader, such as `pcsc:ACS ACR122U 00 00`.
        public let reader: String
        /// The reader's own name.
        public let name: String
    }

    /// Returns the contactless readers that are plugged in now, in the order of the system.
    public static func list() async -> [Listed] {
        var listed: [Listed] = []
        for kind in ReaderKind.all where kind.observeReaders != nil {
            for report in await kind.reports?(false) ?? [] where report.isContactless == true {
                listed.append(Listed(reader: "\(kind.scheme):\(report.name)", name: report.name))
            }
        }
        return listed
    }

    /// Returns why no reader is there, for each kind whose readers are found by themselves, as sentences for people.
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

    /// Reports when a reader may have been plugged in or unplugged. Costs no time in between.
    ///
    /// - Parameter handler: called after each change, on any thread. Then ask for the ``list()`` again.
    /// - Returns: keeps the observations while they exist.
    public static func observe(_ handler: @escaping @Sendable () -> Void) -> [PresenceObservation] {
        ReaderKind.all.compactMap { $0.observeReaders?(handler) }
    }
}
