// SPDX-License-Identifier: Apache-2.0

/// A URI with titles and hints for its use. NFC Forum Smart Poster RTD 1.1.
///
/// Records of other types inside a smart poster are ignored, as the definition says.
public struct SmartPosterRecord: TypedRecord {
    /// What to do with the URI.
    public enum Action: Sendable, Hashable {
        /// Open it.
        case perform
        /// Keep it for later.
        case save
        /// Open it in an editor.
        case edit
        /// A value that was reserved when this was written, 3 to 255.
        case reserved(UInt8)

        init(octet: UInt8) {
            self =
                switch octet {
                case 0: .perform
                case 1: .save
                case 2: .edit
                default: .reserved(octet)
                }
        }

        /// The octet on the tag.
        public var octet: UInt8 {
            switch self {
            case .perform: 0
            case .save: 1
            case .edit: 2
            case .reserved(let octet): octet
            }
        }
    }

    /// A picture or a film.
    public struct Icon: Sendable, Hashable {
        /// The media type, `image/…` or `video/…`.
        public var type: String
        /// The picture's octets.
        public var data: [UInt8]

        /// Creates an icon.
        public init(type: String, data: [UInt8]) {
            self.type = type
            self.data = data
        }
    }

    /// The URI.
    public var uri: URIRecord
    /// Titles, each in another language.
    public var titles: [TextRecord]
    /// What to do with the URI.
    public var action: Action?
    /// The size in octets of what the URI refers to.
    public var size: UInt32?
    /// The media type of what the URI refers to.
    public var type: String?
    /// Icons.
    public var icons: [Icon]

    /// Creates a smart poster; each argument is the property of that name.
    public init(
        uri: URIRecord,
        titles: [TextRecord] = [],
        action: Action? = nil,
        size: UInt32? = nil,
        type: String? = nil,
        icons: [Icon] = []
    ) {
        self.uri = uri
        self.titles = titles
        self.action = action
        self.size = size
        self.type = type
        self.icons = icons
    }

    public init(_ record: NDEFRecord) throws(RecordError) {
        try record.require(.smartPoster)
        try self.init(PayloadReader(record))
    }
}
