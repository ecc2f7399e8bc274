// SPDX-License-Identifier: Apache-2.0
import NDEF

/// Encodes a tag's message for an event: its bytes and its decoded records.
package enum MessageJSON {
    /// The largest message whose content is included in an event, in bytes.
    package static let maximumSize = 8 << 10

    /// Returns the `message` object. The bytes are untrusted; decoding errors are reported in the object.
    package static func value(_ bytes: [UInt8]) -> JSONValue {
        guard bytes.count <= maximumSize else { return ["size": .integer(bytes.count)] }
        var members: [JSONValue.Member] = [.init("hex", .string(Hex.text(bytes)))]
        do throws(NDEFError) {
            let records = try NDEFMessage(decoding: bytes).records
            members.append(.init("records", .array(records.map(record))))
        } catch {
            members.append(.init("error", .string(error.code.description)))
        }
        return .object(members)
    }

    private static func record(_ record: NDEFRecord) -> JSONValue {
        var decoded: [JSONValue.Member] = [.init("kind", .string(record.kind.rawValue))]
        do throws(NDEFError) {
            decoded += content(try record.content())
        } catch {
            decoded.append(.init("error", .string(error.code.description)))
        }
        return [
            "tnf": .integer(Int(record.typeNameFormat.rawValue)),
            "type_hex": .string(Hex.text(record.typeSlice)),
            "id_hex": .string(Hex.text(record.identifierSlice)),
            "payload_hex": .string(Hex.text(record.payloadSlice)),
            "decoded": .object(decoded),
        ]
    }

    /// Returns members for common record types. Other content appears only in `payload_hex`.
    private static func content(_ content: RecordContent) -> [JSONValue.Member] {
        switch content {
        case .uri(let uri):
            return [.init("uri", .string(uri.uri)), .init("prefix", .integer(Int(uri.prefixCode)))]
        case .text(let text):
            return [
                .init("text", .string(text.text)), .init("language", .string(text.language)),
                .init("encoding", text.encoding == .utf8 ? "UTF-8" : "UTF-16"),
            ]
        case .smartPoster(let poster):
            var titles: [JSONValue.Member] = []
            for title in poster.titles {
                titles.removeAll { $0.name == title.language }
                titles.append(.init(title.language, .string(title.text)))
            }
            return [.init("titles", .object(titles)), .init("uri", .string(poster.uri.uri))]
        case .media(let type), .external(let type): return [.init("type", .string(type))]
        case .absoluteURI(let uri): return [.init("uri", .string(uri))]
        case .androidApplication(let package): return [.init("package", .string(package))]
        default: return []
        }
    }

    /// Returns the first record's URI; nil if the record has none.
    package static func firstURI(_ bytes: [UInt8]) -> String? {
        guard bytes.count <= maximumSize, let record = try? NDEFMessage(decoding: bytes).records.first,
            let content = try? record.content()
        else { return nil }
        switch content {
        case .uri(let uri): return uri.uri
        case .smartPoster(let poster): return poster.uri.uri
        case .absoluteURI(let uri): return uri
        default: return nil
        }
    }
}
