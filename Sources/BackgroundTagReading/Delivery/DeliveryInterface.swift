// SPDX-License-Identifier: Apache-2.0

/// The D-Bus interface that an app has to be given the links of tags.
///
/// The app owns the bus name of its desktop entry, as `org.freedesktop.Application` asks, and has the object of that name.
/// `ContinueUserActivity(s activity_type, s webpage_url, ay ndef_message, a{sv} platform_data) → (b handled)` gives it a
/// link with the octets of the whole message; `platform_data` may have `activation-token` (s) and `desktop-startup-id`
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
