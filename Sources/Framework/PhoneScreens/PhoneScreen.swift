// SPDX-License-Identifier: Apache-2.0
package import NFCReaders
import TextSafety

/// A screen of an app on a simulated phone: a title, and items from top to bottom.
///
/// ```swift
/// let screen = PhoneScreen(
///     title: "Tickets",
///     items: [
///         .row("Day ticket", detail: "Until 18:00", id: "ticket-1"),
///         .button("Scan", id: "scan"),
///     ]
/// )
/// ```
public struct PhoneScreen: Sendable, Hashable {
    /// A button that the user can press.
    public struct Button: Sendable, Hashable {
        /// The appearance of a button.
        public enum Style: String, Sendable, Hashable {
            /// The most important action of a screen.
            case filled
            /// A further action.
            case plain
            /// An action that deletes something.
            case destructive
        }

        /// The ID that the app receives when the button is pressed.
        public var id: String
        /// The text.
        public var text: String
        /// The button's appearance.
        public var style: Style

        /// Creates a button.
        public init(_ text: String, id: String, style: Style = .filled) {
            self.id = id
            self.text = text
            self.style = style
        }
    }

    /// A part of a screen.
    public struct Item: Sendable, Hashable {
        /// The kind of a part.
        public enum Kind: String, Sendable, Hashable {
            case text, heading, row, button, alert
        }

        /// The kind of the item.
        public private(set) var kind: Kind
        /// The text, or the title of an alert.
        public private(set) var text: String
        /// A smaller text below the first.
        public private(set) var detail: String?
        /// The ID that the app receives when the item is pressed; nil if the item can't be pressed.
        public private(set) var id: String?
        /// A short label at the end of a row.
        public private(set) var badge: String?
        var style: Button.Style?
        /// The buttons of an alert.
        public private(set) var buttons: [Button] = []

        /// A paragraph.
        ///
        /// - Parameters:
        ///   - text: the text, which may have several lines.
        ///   - detail: a smaller text below the first.
        public static func text(_ text: String, detail: String? = nil) -> Item {
            Item(kind: .text, text: text, detail: detail)
        }

        /// A heading between items.
        public static func heading(_ text: String) -> Item { Item(kind: .heading, text: text) }

        /// A row of a list. Consecutive rows form one list.
        ///
        /// - Parameters:
        ///   - text: the text.
        ///   - detail: a smaller text below the first.
        ///   - badge: a short label at the end of the row, such as "New".
        ///   - id: the ID that the app receives when the row is pressed; nil for a row that can't be pressed.
        public static func row(
            _ text: String,
            detail: String? = nil,
            badge: String? = nil,
            id: String? = nil
        ) -> Item {
            Item(kind: .row, text: text, detail: detail, id: id, badge: badge)
        }

        /// A button at the bottom of the screen.
        public static func button(_ text: String, id: String, style: Button.Style = .filled) -> Item {
            Item(kind: .button, text: text, id: id, style: style)
        }

        /// An alert on top of the screen. Only a screen's first alert is shown.
        ///
        /// - Parameters:
        ///   - title: the title.
        ///   - text: the text below the title.
        ///   - buttons: the buttons, from left to right.
        public static func alert(_ title: String, text: String, buttons: [Button]) -> Item {
            Item(kind: .alert, text: title, detail: text, buttons: buttons)
        }
    }

    /// The title.
    public var title: String
    /// The button at the upper left, which leads back; nil for none.
    public var back: Button?
    /// The items from top to bottom.
    public var items: [Item]

    /// Creates a screen.
    ///
    /// - Parameters:
    ///   - title: the title.
    ///   - back: the button at the upper left, which leads back; nil for none.
    ///   - items: the items from top to bottom.
    public init(title: String, back: Button? = nil, items: [Item] = []) {
        self.title = title
        self.back = back
        self.items = items
    }
}

extension PhoneScreen {
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

/// The phone of a running simulator, on which this process appears as an app.
///
/// An app that shows no screens appears with its name and its printed output. The scanning sheet needs no screen.
public final class SimulatedPhone: Sendable {
    /// The phone of this process; nil when `NFC_READER` is not `simulator`.
    public static let ofProcess = SimulatorPhone.ofProcess.map { SimulatedPhone($0) }

    /// The IDs of the pressed rows and buttons. Only one task may iterate this stream.
    public let presses: AsyncStream<String>

    private let phone: SimulatorPhone

    /// Creates the app's side of a phone, for tests. Apps use ``ofProcess``.
    package init(_ phone: SimulatorPhone) {
        self.phone = phone
        let (stream, presses) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(100))
        self.presses = stream
        phone.onPress { presses.yield($0) }
    }

    /// Shows a screen. If the simulator is restarted, the screen is shown again.
    ///
    /// Returns at once. A screen of more than 64 KiB as JSON is not shown.
    ///
    /// - Parameter screen: the screen; nil for the app's name and its printed output.
    public func show(_ screen: PhoneScreen?) { phone.show(screen?.json) }
}
