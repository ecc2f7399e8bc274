// SPDX-License-Identifier: Apache-2.0

extension SmartPosterRecord {
    init(_ payload: PayloadReader) throws(RecordError) {
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
                let name = String(nameOctets: record.typeSlice)
                if Self.isPicture(name) { icons.append(Icon(type: name, data: record.payload)) }
            case .wellKnown where record.typeSlice.elementsEqual("act".utf8):
                guard field.count == 1, let octet = field.octet() else { throw RecordError(.actionLength) }
                action = Action(octet: octet)
            case .wellKnown where record.typeSlice.elementsEqual("s".utf8):
                guard field.count == 4, let number = field.integer32() else { throw RecordError(.sizeLength) }
                size = number
            case .wellKnown where record.typeSlice.elementsEqual("t".utf8):
                type = try field.string()
            default:
                break
            }
        }
        guard uris.count == 1, let uri = uris.first else { throw RecordError(.uriCount(uris.count)) }
        self.init(uri: uri, titles: titles, action: action, size: size, type: type, icons: icons)
    }

    public func makeRecord(identifier: [UInt8]) throws(RecordError) -> NDEFRecord {
        var records = [try uri.makeRecord()]
        for title in titles {
            records.append(try title.makeRecord())
        }
        if let action { records.append(.wellKnown("act", payload: [action.octet])) }
        if let size {
            let octets = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
            records.append(.wellKnown("s", payload: octets))
        }
        if let type { records.append(.wellKnown("t", payload: Array(type.utf8))) }
        for icon in icons {
            records.append(.media(type: icon.type, payload: icon.data))
        }
        return .wellKnown("Sp", identifier: identifier, payload: try NDEFMessage.innerOctets(records))
    }

    private static func isPicture(_ type: String) -> Bool {
        let start = type.prefix(6).lowercased()
        return start == "image/" || start == "video/"
    }
}
