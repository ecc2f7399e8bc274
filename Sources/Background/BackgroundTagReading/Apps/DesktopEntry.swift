// SPDX-License-Identifier: Apache-2.0

/// The relevant keys of a desktop entry (Desktop Entry Specification 1.5), from its group `Desktop Entry`.
public struct DesktopEntry: Sendable, Hashable {
    /// The largest file that is read, in bytes.
    public static let maximumSize = 256 << 10

    /// The app's name, not localized.
    public var name: String
    /// Whether D-Bus starts the app.
    public var isBusActivated: Bool
    /// The schemes in `MimeType`, in lower case, without those that can't be an app's own.
    public var schemes: [String]
    /// `Exec`, the command that starts the app. ``StartCommand`` parses it.
    public var command: String?
    /// `TryExec`: a program that must exist; otherwise the app is not installed.
    public var neededProgram: String?
    /// `Path`: the folder that the app is started in.
    public var folder: String?
    /// `Icon`.
    public var icon: String?
    /// Whether the app needs a terminal.
    public var needsTerminal: Bool
    /// Whether `Implements` contains ``DeliveryInterface/name``: the app receives links with their messages over D-Bus.
    public var takesMessages: Bool

    /// Reads an entry.
    ///
    /// - Parameter octets: the file's bytes.
    /// - Returns: nil when it isn't the entry of an application, is too large, or is hidden.
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

    /// Returns whether a string can be the name of a desktop entry and a bus name: letters, digits, `-` and `_`,
    /// separated by periods.
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

/// The D-Bus interface by which an app receives the links of tags.
///
/// The app owns the bus name of its desktop entry, as `org.freedesktop.Application` requires, and has the object for
/// that name. `ContinueUserActivity(s activity_type, s webpage_url, ay ndef_message, a{sv} platform_data) → (b
/// handled)` passes a link with the bytes of the whole message. `platform_data` may contain `activation-token` (s) and
/// `desktop-startup-id` (s), as in the Desktop Entry Specification. For an app without the interface,
/// `org.freedesktop.Application.Open` is called with only the link.
public enum DeliveryInterface {
    /// The name of the interface.
    public static let name = "org.opencorenfc.UserActivity1"
    /// The name of the method.
    public static let method = "ContinueUserActivity"
    /// The signature of the method's arguments.
    public static let argumentSignature = "ssaya{sv}"
    /// The signature of the method's result.
    public static let answerSignature = "b"
    /// The interface and the method for an app without this interface.
    public static let fallback = (interface: "org.freedesktop.Application", method: "Open", signature: "asa{sv}")

    /// The interface in D-Bus introspection format.
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

    /// Returns the object path of an app on the bus (Desktop Entry Specification 1.5, D-Bus Activation).
    ///
    /// - Parameter desktopID: the name of the desktop entry, which is the bus name.
    /// - Returns: the path; nil when the name can't be a bus name, because it has fewer than two elements or one starts
    ///   with a digit.
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
