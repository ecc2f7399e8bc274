// SPDX-License-Identifier: Apache-2.0
package import TagLink

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
    /// Whether the reader takes extended APDUs.
    package var takesExtendedAPDUs: Bool?
    /// Whether escape commands are allowed.
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
