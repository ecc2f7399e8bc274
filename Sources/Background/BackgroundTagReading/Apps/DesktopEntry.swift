// SPDX-License-Identifier: Apache-2.0

/// What is needed of a desktop entry (Desktop Entry Specification 1.5): the keys of its group `Desktop Entry`.
public struct DesktopEntry: Sendable, Hashable {
    /// The largest file that is read, in bytes.
    public static let maximumSize = 256 << 10

    /// The app's name, without a language.
    public var name: String
    /// Whether the bus starts the app.
    public var isBusActivated: Bool
    /// The schemes of `MimeType`, in lower case, without those that are never an app's own.
    public var schemes: [String]
    /// `Exec`, the command that starts the app; ``StartCommand`` reads it.
    public var command: String?
    /// `TryExec`: a program without which the app is not installed.
    public var neededProgram: String?
    /// `Path`: the folder in which the app is started.
    public var folder: String?
    /// `Icon`.
    public var icon: String?
    /// Whether the app needs a terminal.
    public var needsTerminal: Bool
    /// Whether `Implements` names ``DeliveryInterface/name``: the app takes links with their messages over the bus.
    public var takesMessages: Bool

    /// Reads an entry.
    ///
    /// - Parameter octets: the file.
    /// - Returns: nil when it is no entry of an application, is too large, or is hidden.
    public init?(parsing octets: [UInt8]) {
        let group = "Desktop Entry"
        guard let file = KeyFile(parsing: octets), file.value("Type", in: group) == "Application",
            file.value("Hidden", in: group) != "true", let name = file.value("Name", in: group)
        else {
            return nil
        }
        self.name = DisplayText.plain(name, limit: 60)
        isBusActivated = file.value("DBusActivatable", in: group) == "true"
        schemes = file.list("MimeType", in: group).compactMap { type in
            guard type.hasPrefix("x-scheme-handler/") else { return nil }
            let scheme = type.dropFirst(17).lowercased()
            return LinkScheme.isCustom(scheme) ? scheme : nil
        }
        command = file.string("Exec", in: group)
        neededProgram = file.string("TryExec", in: group)
        folder = file.string("Path", in: group)
        icon = file.string("Icon", in: group)
        needsTerminal = file.value("Terminal", in: group) == "true"
        takesMessages = file.list("Implements", in: group).contains(DeliveryInterface.name)
    }

    /// Whether a text can be the name of a desktop entry and of a bus: letters, digits, `-`, `_` and periods between.
    public static func isName(_ text: String) -> Bool {
        let elements = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 200
            && elements.allSatisfy { element in
                !element.isEmpty
                    && element.utf8.allSatisfy { octet in
                        switch octet {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                        default: false
                        }
                    }
            }
    }
}

/// The D-Bus interface that an app has to be given the links of tags.
///
/// The app owns the bus name of its desktop entry, as `org.freedesktop.Application` asks, and has the object of that name.
/// `ContinueUserActivity(s activity_type, s webpage_url, ay ndef_message, a{sv} platform_data) → (b handled)` gives it a
/// link with the bytes of the whole message; `platform_data` may have `activation-token` (s) and `desktop-startup-id`
/// (s), as in the Desktop Entry Specification. An app without the interface gets `org.freedesktop.Application.Open` with
/// the link alone.
public enum DeliveryInterface {
    /// The interface.
    public static let name = "org.opencorenfc.UserActivity1"
    /// The method.
    public static let method = "ContinueUserActivity"
    /// The types of the method's arguments.
    public static let argumentSignature = "ssaya{sv}"
    /// The types of the method's answer.
    public static let answerSignature = "b"
    /// The interface and the method of an app that has no other.
    public static let fallback = (interface: "org.freedesktop.Application", method: "Open", signature: "asa{sv}")

    /// The interface as introspection shows it.
    public static let introspection = """
        <interface name="org.opencorenfc.UserActivity1">
          <method name="ContinueUserActivity">
            <arg name="activity_type" type="s" direction="in"/>
            <arg name="webpage_url" type="s" direction="in"/>
            <arg name="ndef_message" type="ay" direction="in"/>
            <arg name="platform_data" type="a{sv}" direction="in"/>
            <arg name="handled" type="b" direction="out"/>
          </method>
        </interface>
        """

    /// The object of an app on the bus (Desktop Entry Specification 1.5, D-Bus Activation).
    ///
    /// - Parameter desktopID: the name of the desktop entry, which is the bus name.
    /// - Returns: the path; nil when the name can't be a bus name: it has fewer than two elements, or one begins with a
    ///   digit.
    public static func objectPath(of desktopID: String) -> String? {
        let elements = desktopID.split(separator: ".", omittingEmptySubsequences: false)
        guard elements.count >= 2, DesktopEntry.isName(desktopID),
            !elements.contains(where: { $0.first?.isNumber ?? true })
        else {
            return nil
        }
        return "/" + desktopID.replacing(".", with: "/").replacing("-", with: "_")
    }
}
