// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension PhoneScreen {
    /// The screen as the simulator takes it.
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("title", title)
        if let back {
            writer.key("back")
            back.write(to: &writer)
        }
        writer.key("items")
        writer.beginArray()
        for item in items { item.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.text, as: UTF8.self)
    }
}

extension PhoneScreen.Button {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("text", text)
        writer.member("style", style.rawValue)
        writer.endObject()
    }
}

extension PhoneScreen.Item {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("kind", kind.rawValue)
        if let id { writer.member("id", id) }
        writer.member("text", text)
        if let detail { writer.member("detail", detail) }
        if let badge { writer.member("badge", badge) }
        if let style { writer.member("style", style.rawValue) }
        if !buttons.isEmpty {
            writer.key("buttons")
            writer.beginArray()
            for button in buttons { button.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}
