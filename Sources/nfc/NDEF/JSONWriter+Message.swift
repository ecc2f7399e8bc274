// SPDX-License-Identifier: Apache-2.0
import NDEF

extension JSONWriter {
    /// `{"ok":true,"records":[…]}`.
    mutating func message(_ message: NDEFMessage) {
        beginObject()
        member("ok", true)
        key("records")
        beginArray()
        for record in message.records { self.record(record) }
        endArray()
        endObject()
    }

    /// `{"ok":false,"error":"…","offset":…,"message":"…"}`.
    mutating func failure(_ name: String, offset: Int, message: String) {
        beginObject()
        member("ok", false)
        member("error", name)
        member("offset", offset)
        member("message", message)
        endObject()
    }

    /// A record as it is framed, and what it says.
    mutating func record(_ record: NDEFRecord) {
        beginObject()
        member("tnf", Int(record.typeNameFormat.rawValue))
        member("type_hex", hex: record.typeSlice)
        member("id_hex", hex: record.identifierSlice)
        member("payload_hex", hex: record.payloadSlice)
        key("decoded")
        beginObject()
        member("kind", record.kind.rawValue)
        do {
            content(try record.content())
        } catch {
            member("error", error.code.description)
        }
        endObject()
        endObject()
    }
}
