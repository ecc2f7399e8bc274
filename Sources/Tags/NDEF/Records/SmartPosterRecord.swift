// SPDX-License-Identifier: Apache-2.0

/// A URI with titles and hints for its use. NFC Forum Smart Poster RTD 1.1.
///
/// Records of other types inside a smart poster are ignored, as the specification requires.
public struct SmartPosterRecord: PayloadRecord {
    static let kind = RecordKind.smartPoster

    /// The action to take with the URI.
    public enum Action: Sendable, Hashable {
        /// Open the URI.
        case perform
        /// Save the URI for later.
        case save
        /// Open the URI in an editor.
        case edit
        /// A reserved value, 3 to 255.
        case reserved(UInt8)

        init(byte: UInt8) {
            self =
                switch byte {
                case 0: .perform
                case 1: .save
                case 2: .edit
                default: .reserved(byte)
                }
        }

        /// The byte on the tag.
        public var byte: UInt8 {
            switch self {
            case .perform: 0
            case .save: 1
            case .edit: 2
            case .reserved(let byte): byte
            }
        }
    }

    /// An icon: a picture or a video.
    public struct Icon: Sendable, Hashable {
        /// The media type, `image/…` or `video/…`.
        public var type: String
        /// The bytes of the picture or video.
        public var data: [UInt8]

        /// Creates an icon.
        public init(type: String, data: [UInt8]) {
            self.type = type
            self.data = data
        }
    }

    /// The URI.
    public var uri: URIRecord
    /// The titles, each in a different language.
    public var titles: [TextRecord]
    /// The action to take with the URI.
    public var action: Action?
    /// The size in bytes of the resource that the URI refers to.
    public var size: UInt32?
    /// The media type of the resource that the URI refers to.
    public var type: String?
    /// The icons.
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
}

extension SmartPosterRecord {
    init(_ payload: PayloadReader) throws(NDEFError) {
        var uris: [URIRecord] = []
        var titles: [TextRecord] = []
        var icons: [Icon] = []
        var action: Action?
        var size: UInt32?
        var type: String?
        for record in try payload.message().records {
            var field = PayloadReader(record)
            switch record.kind {
            case .uri:
                uris.append(try URIRecord(field))
            case .text:
                titles.append(try TextRecord(field))
            case .media:
                let name = String(nameBytes: record.typeSlice)
                if Self.isPicture(name) { icons.append(Icon(type: name, data: record.payload)) }
            case .wellKnown where record.typeSlice.elementsEqual("act".utf8):
                guard field.count == 1, let byte = field.nextByte() else { throw NDEFError(.actionLength) }
                action = Action(byte: byte)
            case .wellKnown where record.typeSlice.elementsEqual("s".utf8):
                guard field.count == 4, let high = field.integer16(), let low = field.integer16() else {
                    throw NDEFError(.sizeLength)
                }
                size = UInt32(high) << 16 | UInt32(low)
            case .wellKnown where record.typeSlice.elementsEqual("t".utf8):
                type = try field.string()
            default:
                break
            }
        }
        guard uris.count == 1, let uri = uris.first else { throw NDEFError(.uriCount(uris.count)) }
        self.init(uri: uri, titles: titles, action: action, size: size, type: type, icons: icons)
    }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        var records = [try uri.makeRecord()]
        for title in titles {
            records.append(try title.makeRecord())
        }
        if let action { records.append(.wellKnown("act", payload: [action.byte])) }
        if let size {
            let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
            records.append(.wellKnown("s", payload: bytes))
        }
        if let type { records.append(.wellKnown("t", payload: Array(type.utf8))) }
        for icon in icons {
            records.append(.media(type: icon.type, payload: icon.data))
        }
        return .wellKnown("Sp", identifier: identifier, payload: try NDEFMessage.innerBytes(records))
    }

    private static func isPicture(_ type: String) -> Bool {
        let start = type.prefix(6).lowercased()
        return start == "image/" || start == "video/"
    }
}
